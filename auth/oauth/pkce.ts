/**
 * The random values of a sign-in, and how they are compared.
 *
 * @module
 */

import { encodeBase64url } from "../../core/bytes/base64.ts";
import { nodeCrypto } from "../../core/runtime/environment.ts";

/** As RFC 7636, section 4.1 advises. As base64url: 43 characters. */
const BYTES = 32;

/** Returns an unguessable value in base64url. */
export function randomValue(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(BYTES)));
}

/** Whether a value has the form of a {@linkcode randomValue}. */
export function isRandomValue(text: unknown): text is string {
  return typeof text === "string" && /^[\w-]{43}$/.test(text);
}

/**
 * Returns the SHA-256 of a text in base64url. For a PKCE verifier, this is its
 * challenge by the method `S256` (RFC 7636, section 4.2).
 */
export function digest(text: string): string {
  return encodeBase64url(sha256(text));
}

/** Compares two texts in constant time. */
export function isEqual(a: string, b: string): boolean {
  return nodeCrypto().timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Uint8Array {
  return nodeCrypto().createHash("sha256").update(text).digest();
}
