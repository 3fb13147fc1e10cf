/**
 * The claims that a session stores besides its own: copies as JSON, without keys
 * that name secrets.
 *
 * @module
 */

import { isSecretField } from "../../core/redact/redact_url.ts";

/**
 * Claims that only the session decides about: those that RFC 7519, section 4.1,
 * and OpenID Connect give a meaning, and the session's own.
 */
export const PROTECTED_CLAIMS: readonly string[] = [
  "sub",
  "iat",
  "exp",
  "nbf",
  "iss",
  "aud",
  "jti",
  "sid",
  "auth_time",
  "provider",
];

const RESERVED = new Set([...PROTECTED_CLAIMS, "email", "name", "roles"]);

/** Whether a claim is a custom one, as in `session.claims`. */
export function isCustomClaim(name: string): boolean {
  return !RESERVED.has(name);
}

/**
 * Returns copies of the custom claims of an object, without secrets, or
 * `undefined` if there are none.
 *
 * @throws {TypeError} If JSON can't represent a value.
 */
export function customClaims(
  fields: object,
): Record<string, unknown> | undefined {
  const claims: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (isCustomClaim(key)) keep(claims, key, value);
  }
  return Object.keys(claims).length > 0 ? claims : undefined;
}

/** Keys that could cause prototype pollution. */
const UNSAFE_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Stores a JSON-compatible copy of a value, unless its key names a secret.
 *
 * @param claim The name of the claim in errors. Default: `key`.
 * @throws {TypeError} If JSON can't represent the value.
 */
export function keep(
  target: Record<string, unknown>,
  key: string,
  value: unknown,
  depth = 0,
  claim = key,
): void {
  if (UNSAFE_KEYS.has(key) || isSecretField(key)) return;
  const copy = copyJSON(value, claim, depth);
  if (copy !== undefined) target[key] = copy;
}

/** Returns a JSON-compatible copy of a value. */
function copyJSON(value: unknown, claim: string, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (value === null) return null;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") {
    throw notKept(claim, "JSON doesn't carry a bigint; make it a string");
  }
  if (typeof value !== "object") return undefined;
  if (depth >= 20) {
    throw notKept(
      claim,
      "it is nested deeper than 20 levels, or contains itself",
    );
  }
  if (Array.isArray(value)) {
    return value.map((item) => copyJSON(item, claim, depth + 1) ?? null);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copyJSON(value.toJSON(claim), claim, depth + 1);
  }
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    keep(copy, name, item, depth + 1, claim);
  }
  return copy;
}

function notKept(claim: string, problem: string): TypeError {
  return new TypeError(
    `Cannot keep ${JSON.stringify(claim)} in a session: ${problem}`,
  );
}

/**
 * Removes the fields without a value. Database rows have `null` where there is
 * none.
 */
export function definedFields<T extends object>(fields: T): T {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.filter(([, value]) => value !== undefined && value !== null),
  ) as T;
}

/** Whether two values have the same JSON. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
