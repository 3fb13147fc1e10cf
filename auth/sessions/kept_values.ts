/**
 * Copies the values that a session stores, without keys that name secrets.
 *
 * @module
 */

import { isSecretField } from "../../core/redact/secret_names.ts";

/** Keys that could cause prototype pollution. */
const TREACHEROUS = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Stores a JSON-compatible copy of a value, unless its key names a secret.
 *
 * @throws {TypeError} If JSON can't represent the value.
 */
export function keep(
  target: Record<string, unknown>,
  key: string,
  value: unknown,
): void {
  if (TREACHEROUS.has(key) || isSecretField(key)) return;
  const copy = copyJSON(value, key);
  if (copy !== undefined) target[key] = copy;
}

/** Returns a JSON-compatible copy of a value. */
export function copyJSON(value: unknown, key: string, depth = 0): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "object":
      break;
    case "bigint":
      throw new TypeError(
        `Cannot keep ${
          JSON.stringify(key)
        } in a session: JSON doesn't carry a bigint; make it a string`,
      );
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth >= 20) {
    throw new TypeError(
      `Cannot keep ${
        JSON.stringify(key)
      } in a session: it is nested deeper than 20 levels, or contains itself`,
    );
  }
  if (Array.isArray(value)) {
    return value.map((item) => copyJSON(item, key, depth + 1) ?? null);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copyJSON(value.toJSON(key), key, depth + 1);
  }
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (TREACHEROUS.has(name) || isSecretField(name)) continue;
    const kept = copyJSON(item, key, depth + 1);
    if (kept !== undefined) copy[name] = kept;
  }
  return copy;
}
