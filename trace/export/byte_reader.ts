import { hexOf } from "./hex.ts";
import { TIME_UNITS } from "./packed_format.ts";

/**
 * Reads what `ByteWriter` wrote, and nothing beyond the stretch of bytes it
 * was given. Whatever the bytes say, it returns a number of the promised kind
 * or throws a `TypeError`.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #offset: number;

  /** Reads `bytes` from `start` to `end`. */
  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset);
    this.#offset = start;
    this.#end = end;
  }

  /** How many bytes are left. */
  get remaining(): number {
    return this.#end - this.#offset;
  }

  /** One byte. */
  byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  /** A whole number from 0 to 2⁵³ − 1. */
  varint(): number {
    let byte = this.byte();
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = this.byte();
      value += (byte & 127) * scale;
      if (scale > 2 ** 49 || value > Number.MAX_SAFE_INTEGER) {
        throw damaged("a number too large");
      }
    }
    return value;
  }

  /** How many things follow that take at least `size` bytes each. */
  count(size: number): number {
    const count = this.varint();
    if (count * size > this.remaining) throw damaged("a count too large");
    return count;
  }

  /** A number below `limit`. */
  below(limit: number): number {
    const value = this.varint();
    if (value >= limit) throw damaged("a reference to nothing");
    return value;
  }

  /** Any double. */
  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** Any double, as `ByteWriter.number` writes it. */
  number(): number {
    const value = this.varint();
    return value === 0 ? this.double() : value - 1;
  }

  /** A finite double, as `ByteWriter.double` writes it. */
  finite(): number {
    const value = this.double();
    if (!Number.isFinite(value)) throw damaged("a time that isn't finite");
    return value;
  }

  /** A point in time, as `ByteWriter.time` writes it. */
  time(base: number): number {
    const value = this.varint();
    if (value === 0) return this.finite();
    const units = value % 2 === 0 ? -value / 2 : (value - 1) / 2;
    return base + units / TIME_UNITS;
  }

  /** The next `length` bytes, not copied. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** The next `length` bytes as hexadecimal digits. */
  hex(length: number): string {
    const start = this.#take(length);
    return hexOf(this.#bytes, start, start + length);
  }

  /** A reader of the next `length` bytes, which this one then skips. */
  part(length: number): ByteReader {
    const start = this.#take(length);
    return new ByteReader(this.#bytes, start, start + length);
  }

  /** A reader of the next section: a length, then that many bytes. */
  section(): ByteReader {
    return this.part(this.varint());
  }

  #take(length: number): number {
    const start = this.#offset;
    if (length > this.#end - start) throw damaged("an early end");
    this.#offset = start + length;
    return start;
  }
}

/** The error for packed traces that aren't what the writer makes. */
export function damaged(what: string): TypeError {
  return new TypeError(
    "Cannot unpack traces: the text must be what packTraces() made, " +
      `received data with ${what}`,
  );
}
