/** Bytes as lower-case hexadecimal digits. */
export const toHex: (bytes: Uint8Array) => string =
  // Far quicker, but not there on every runtime yet.
  "toHex" in Uint8Array.prototype
    ? (bytes) => bytes.toHex()
    : (bytes) =>
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
