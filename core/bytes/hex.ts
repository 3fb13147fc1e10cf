/** Returns bytes as lower-case hexadecimal digits. */
export const toHex: (bytes: Uint8Array) => string =
  // The native method is much faster, but older runtimes lack it.
  "toHex" in Uint8Array.prototype
    ? (bytes) => bytes.toHex()
    : (bytes) =>
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Whether a text is exactly `bytes` bytes as lower-case hexadecimal digits. */
export function isHex(text: string, bytes: number): boolean {
  return text.length === bytes * 2 && /^[0-9a-f]+$/.test(text);
}
