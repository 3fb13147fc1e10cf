/**
 * Bytes of buffers, of several chunks, and as hexadecimal text.
 *
 * @module
 */

/** Returns the bytes of a buffer or a view, `undefined` for anything else. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  // Not `instanceof`: a test runner's buffers come from another realm.
  const tag = Object.prototype.toString.call(value);
  return tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]"
    ? new Uint8Array(value as ArrayBufferLike)
    : undefined;
}

/** Returns the bytes of all chunks as one array. */
export function concatBytes(
  chunks: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

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
