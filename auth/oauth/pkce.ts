/**
 * The random values of a sign-in, and how they are compared.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { encodeBase64url } from "../../core/bytes/base64.ts";

/** As RFC 7636, section 4.1, advises; 43 characters. */
const BYTES = 32;

/** A value that nobody can guess, in base64url. */
export function randomValue(): string {
  return encodeBase64url(randomBytes(BYTES));
}

/** Whether a text has the form of a {@linkcode randomValue}. */
export function isRandomValue(text: unknown): text is string {
  return typeof text === "string" && /^[\w-]{43}$/.test(text);
}

/** SHA-256 of a text, in base64url. */
export function digest(text: string): string {
  return encodeBase64url(sha256(text));
}

/** The challenge of a verifier by the method `S256` (RFC 7636, section 4.2). */
export const codeChallenge: (verifier: string) => string = digest;

/** Compares in a time that tells nothing of where two texts differ. */
export function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
