/**
 * Recognizes objects, and describes values in error messages, in one short line.
 *
 * @module
 */

/** Describes a value that isn't secret. Long strings are cut. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value);
  }
  const hasNoText = typeof value === "object" || typeof value === "function";
  return hasNoText ? kindOf(value) : String(value);
}

/** Describes the kind of a value without its content. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Whether a value is an object as in JSON, neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Like `instanceof`, but safe for a proxy that throws. */
export function isA<T>(
  value: unknown,
  type: abstract new (...args: never) => T,
): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
