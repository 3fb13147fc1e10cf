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
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/** What a value is, and nothing of it. */
export function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
