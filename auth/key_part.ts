import { nodeCrypto } from "../core/runtime/node_crypto.ts";

/** The longest text that is kept as it is. Deno KV's keys end at 2 KiB. */
const MAX_LENGTH = 128;
const HASHED = "sha256:";

/**
 * A text that somebody else has chosen, as part of a key. Databases keep keys as
 * UTF-8 and bound their length, and memory is to be bounded as well, so what is
 * long or no well-formed text stands there as its hash: different texts are
 * different keys, whatever they are.
 */
export function keyPart(text: string): string {
  if (
    text.length <= MAX_LENGTH && text.isWellFormed() &&
    !text.startsWith(HASHED)
  ) return text;
  // JSON escapes the halves of pairs that UTF-8 has no bytes for.
  const hash = nodeCrypto().createHash("sha256").update(JSON.stringify(text));
  return HASHED + hash.digest("base64url");
}
