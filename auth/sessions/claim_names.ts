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
