/** Returns bytes as lower-case hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  // The native method is much faster, but older runtimes lack it.
  return (bytes as { toHex?(): string }).toHex?.() ??
    Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
}

/** Whether a text is exactly `bytes` bytes as lower-case hexadecimal digits. */
export function isHex(text: string, bytes: number): boolean {
  return text.length === bytes * 2 && /^[0-9a-f]+$/.test(text);
}
