/**
 * Base64url without padding, in its one canonical spelling (RFC 4648, sections
 * 3.5 and 5). Two spellings of one token would be two keys of one session.
 *
 * @module
 */

import { Buffer } from "node:buffer";

const ALPHABET = /^[\w-]*$/;
/** Last characters whose unused bits are zero: after one byte, after two. */
const END_OF_ONE = /[AQgw]$/;
const END_OF_TWO = /[AEIMQUYcgkosw048]$/;

/** Bytes or text, as UTF-8, in base64url. */
export function encodeBase64url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes.toString("base64url");
}

/** The bytes, or `undefined` if it is not the canonical spelling of any. */
export function decodeBase64url(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64url(text)) return undefined;
  return Buffer.from(text, "base64url");
}

/** Whether it is the canonical spelling of some bytes. */
function isBase64url(text: string): boolean {
  if (!ALPHABET.test(text)) return false;
  switch (text.length % 4) {
    case 0:
      return true;
    case 2:
      return END_OF_ONE.test(text);
    case 3:
      return END_OF_TWO.test(text);
    default:
      return false;
  }
}
