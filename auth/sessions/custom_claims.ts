import { keep } from "./json_copy.ts";

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
