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
