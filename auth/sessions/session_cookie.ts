/**
 * The cookie of the strategy `cookie`: a session's id and a signature. The
 * store's contents alone don't make a valid one.
 *
 * @module
 */

import { decodeBase64url, encodeBase64url } from "../../core/bytes/base64.ts";
import type { KeyRing } from "../tokens/key_ring.ts";

/** 32 bytes in base64url. */
const LENGTH = 43;
const encoder = new TextEncoder();

/** A new session's id: 256 random bits. */
export function createSessionId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The cookie's value for a session. */
export async function signSessionId(
  id: string,
  keys: KeyRing,
): Promise<string> {
  // Without a dot, so this is never the data that a token's signature is of.
  const signature = await keys.sign(encoder.encode(id));
  return `${id}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** The id in a cookie's value, or `undefined` if it isn't ours. */
export async function verifySessionId(
  value: string,
  keys: KeyRing,
): Promise<string | undefined> {
  if (value.length !== 2 * LENGTH + 1 || value[LENGTH] !== ".") {
    return undefined;
  }
  const id = value.slice(0, LENGTH);
  const signature = decodeBase64url(value.slice(LENGTH + 1));
  if (signature === undefined || decodeBase64url(id) === undefined) {
    return undefined;
  }
  return await keys.verify(signature, encoder.encode(id)) ? id : undefined;
}
