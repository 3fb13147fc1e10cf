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

/** Returns a new session id: 256 random bits. */
export function createSessionId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Returns the cookie's value for a session. */
export async function signSessionId(
  id: string,
  keys: KeyRing,
): Promise<string> {
  // Without a dot, so this is never the data that a token's signature is of.
  return `${id}.${await keys.sign(id)}`;
}

/** Returns the id in a cookie's value, or `undefined` if it isn't ours. */
export async function verifySessionId(
  value: string,
  keys: KeyRing,
): Promise<string | undefined> {
  const id = value.slice(0, LENGTH);
  const hasForm = value.length === 2 * LENGTH + 1 && value[LENGTH] === "." &&
    decodeBase64url(id) !== undefined;
  return hasForm && await keys.verify(value.slice(LENGTH + 1), id)
    ? id
    : undefined;
}
