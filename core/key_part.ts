/**
 * Untrusted text as a part of a database's key.
 *
 * @module
 */

import { nodeCrypto } from "./runtime/node_builtins.ts";

/** The longest text that is kept as it is. Deno KV's keys end at 2 KiB. */
const MAX_LENGTH = 128;
/** The start of hashed text. */
export const HASHED = "sha256:";

/**
 * Returns untrusted text as a part of a key. Databases store keys as UTF-8 of
 * limited length. So text that is long or isn't well-formed is replaced by its
 * hash. Different texts are always different keys.
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
  // JSON escapes the halves of pairs that UTF-8 has no bytes for.
  const hash = nodeCrypto().createHash("sha256").update(JSON.stringify(text));
  return hash.digest("base64url");
}
