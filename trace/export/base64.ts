/**
 * Base64, natively where the engine has it.
 *
 * @module
 */

/** The methods of newer engines, which older browsers lack. */
interface NativeBase64 {
  toBase64?(): string;
}
interface NativeBase64Constructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}

/** How many bytes `String.fromCharCode` takes at a time: arguments are stack. */
const CHUNK = 0x8000;

/** `bytes` as base64 text. */
export function encodeBase64(bytes: Uint8Array): string {
  return (bytes as NativeBase64).toBase64?.() ?? encodeBase64Portably(bytes);
}

/** The bytes of base64 text. Throws if it isn't any. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return (Uint8Array as NativeBase64Constructor).fromBase64?.(text) ??
    decodeBase64Portably(text);
}

/** {@linkcode encodeBase64} for engines without `toBase64`. */
export function encodeBase64Portably(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  }
  return btoa(binary);
}

/** {@linkcode decodeBase64} for engines without `fromBase64`. */
export function decodeBase64Portably(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
