/**
 * Makes untrusted text safe as a part of a database key.
 *
 * @module
 */

import { nodeCrypto } from "./runtime/environment.ts";

/** Maximum length without hashing. Keys of Deno KV have at most 2 KiB. */
const MAX_LENGTH = 128;
/** The start of hashed text. */
export const HASHED = "sha256:";

/**
 * Returns untrusted text as a part of a key. Databases store keys as UTF-8 with a
 * limited length, so long or malformed text is replaced by its hash. Different
 * texts have different keys.
 */
export function keyPart(text: string): string {
  if (
    text.length <= MAX_LENGTH && text.isWellFormed() &&
    !text.startsWith(HASHED)
  ) return text;
  return HASHED + keyHash(text);
}

/** Returns the SHA-256 hash of untrusted text, as base64url. */
export function keyHash(text: string): string {
  // JSON escapes lone surrogates, which UTF-8 can't represent.
  const hash = nodeCrypto().createHash("sha256").update(JSON.stringify(text));
  return hash.digest("base64url");
}
