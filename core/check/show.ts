/**
 * Values in the errors of all modules, in one short line.
 *
 * @module
 */

/** A value that is no secret: what it is, and not much of it. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value);
  }
  const hasNoText = typeof value === "object" || typeof value === "function";
  return hasNoText ? kindOf(value) : String(value);
}

/** What a value is, and nothing of it. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
