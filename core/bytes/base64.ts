/**
 * Base64 and base64url (RFC 4648, sections 4 and 5), for servers and browsers.
 * The native methods take 0.6 ms to encode 5 MB, `btoa` takes 170 ms. Older
 * runtimes lack them.
 *
 * @module
 */

import { trimEnd } from "../trim_end.ts";

const hasEncoder = "toBase64" in Uint8Array.prototype;
const hasDecoder = "fromBase64" in Uint8Array;

/** Bytes for one call of `String.fromCharCode`, whose arguments take stack. */
const CHUNK = 0x8000;

const URL_ALPHABET = /^[\w-]*$/;
/** Last characters whose unused bits are zero, by the text's length modulo 4. */
const LAST = [undefined, "", "AQgw", "AEIMQUYcgkosw048"];

/** Returns bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return hasEncoder ? bytes.toBase64() : encodeBase64Portably(bytes);
}

/**
 * Returns the bytes of base64 text.
 *
 * @throws {Error} If the text isn't base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return hasDecoder ? Uint8Array.fromBase64(text) : decodeBase64Portably(text);
}

/** Returns bytes, or text as UTF-8, as base64url without padding. */
export function encodeBase64url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  if (hasEncoder) {
    return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  }
  return trimEnd(encodeBase64Portably(bytes), "=")
    .replaceAll("+", "-").replaceAll("/", "_");
}

/**
 * Returns the bytes of base64url text without padding, or `undefined` if the
 * text isn't the canonical form. Otherwise one token would have several texts.
 */
export function decodeBase64url(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  const last = LAST[text.length % 4];
  const isCanonical = URL_ALPHABET.test(text) &&
    (last === undefined || last.includes(text.at(-1)!));
  if (!isCanonical) return undefined;
  return hasDecoder
    ? Uint8Array.fromBase64(text, { alphabet: "base64url" })
    : decodeBase64Portably(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** {@linkcode encodeBase64} for runtimes without `toBase64`. */
export function encodeBase64Portably(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  }
  return btoa(binary);
}

/** {@linkcode decodeBase64} for runtimes without `fromBase64`. */
export function decodeBase64Portably(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
