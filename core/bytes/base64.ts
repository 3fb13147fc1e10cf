/**
 * Base64 and base64url (RFC 4648, sections 4 and 5), for servers and browsers.
 *
 * @module
 */

import { trimEnd } from "../trim_end.ts";

/** The native methods, which older runtimes lack. */
interface NativeBase64 {
  toBase64?(options?: { alphabet: string; omitPadding: boolean }): string;
}
interface NativeBase64Constructor {
  fromBase64?(
    text: string,
    options?: { alphabet: string },
  ): Uint8Array<ArrayBuffer>;
}

/** Bytes for one call of `String.fromCharCode`, whose arguments take stack. */
const CHUNK = 0x8000;

const URL_ALPHABET = /^[\w-]*$/;
/** The last characters whose unused bits are zero: after one byte, after two. */
const END_OF_ONE = /[AQgw]$/;
const END_OF_TWO = /[AEIMQUYcgkosw048]$/;

/** Returns bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return (bytes as NativeBase64).toBase64?.() ?? encodeBase64Portably(bytes);
}

/**
 * Returns the bytes of base64 text.
 *
 * @throws {Error} If the text isn't base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return (Uint8Array as NativeBase64Constructor).fromBase64?.(text) ??
    decodeBase64Portably(text);
}

/** Returns bytes, or text as UTF-8, as base64url without padding. */
export function encodeBase64url(data: Uint8Array | string): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return (bytes as NativeBase64).toBase64?.({
    alphabet: "base64url",
    omitPadding: true,
  }) ??
    trimEnd(encodeBase64Portably(bytes), "=")
      .replaceAll("+", "-").replaceAll("/", "_");
}

/**
 * Returns the bytes of base64url text without padding, or `undefined` if the
 * text isn't the canonical form. Otherwise one token would have several texts.
 */
export function decodeBase64url(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64url(text)) return undefined;
  return (Uint8Array as NativeBase64Constructor).fromBase64?.(text, {
    alphabet: "base64url",
  }) ??
    decodeBase64Portably(text.replaceAll("-", "+").replaceAll("_", "/"));
}

function isBase64url(text: string): boolean {
  if (!URL_ALPHABET.test(text)) return false;
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
