/** The views of buffers, by name: bytes, seen as numbers of some kind. */
export const VIEWS: Readonly<
  Record<string, new (bytes: ArrayBuffer) => ArrayBufferView>
> = {
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  // Not there on every runtime yet.
  ...("Float16Array" in globalThis && { Float16Array }),
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
};
