/** The wire types in use. Groups, 3 and 4, were removed from protobuf. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** The maximum bytes of a varint: 64 bits, 7 in each. */
const MAX_VARINT = 10;

/**
 * The maximum messages in one. A body of empty ones would take a gigabyte
 * of memory. Real spans have more than 16 bytes for each.
 */
const MAX_MESSAGES = 500_000;

/**
 * A position in protobuf bytes. Each read moves it on, and throws a `TypeError`
 * if the bytes end before.
 */
export class Cursor {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  #at = 0;
  #messages = 0;
  /** The end of the current message. */
  #end: number;

  /** Starts at the first byte. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
  }

  /** Whether the current message has no more fields. */
  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Reads a field's number and wire type. */
  tag(): { readonly number: number; readonly wire: number } {
    const { low, high } = this.varint();
    const number = low >>> 3;
    if (number === 0 || high !== 0) this.fail("fields from number 1");
    return { number, wire: low & 7 };
  }

  /** Skips a field. */
  skip(wire: number): void {
    if (wire === WIRE.varint) this.varint();
    else if (wire === WIRE.fixed64) this.#take(8);
    else if (wire === WIRE.bytes) this.#take(this.#length());
    else if (wire === WIRE.fixed32) this.#take(4);
    else this.fail("fields of the wire types 0, 1, 2 and 5");
  }

  /** Reads an integer in two halves of 32 bits, without signs. */
  varint(): { readonly low: number; readonly high: number } {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT; i++) {
      const byte = this.#bytes[this.#take(1)]!;
      const bits = byte & 0x7f;
      const shift = 7 * i;
      if (shift < 32) low |= bits << shift;
      // The fifth byte belongs to both halves.
      if (shift > 28) high |= bits << (shift - 32);
      else if (shift === 28) high |= bits >>> 4;
      if (byte < 0x80) return { low: low >>> 0, high: high >>> 0 };
    }
    return this.fail(`integers of at most ${MAX_VARINT} bytes`);
  }

  /** Reads an integer with a sign, in decimal. */
  int64(): string {
    const { low, high } = this.varint();
    if (high === 0) return String(low);
    return String(BigInt.asIntN(64, BigInt(high) << 32n | BigInt(low)));
  }

  /** Reads an integer of eight bytes without a sign, in decimal. */
  fixed64(): string {
    return String(this.#view.getBigUint64(this.#take(8), true));
  }

  /** Reads a number of eight bytes. */
  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** Reads bytes with their length before them. */
  bytes(): Uint8Array {
    const length = this.#length();
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Reads a message inside the current one. */
  within<T>(read: () => T): T {
    this.#messages++;
    if (this.#messages > MAX_MESSAGES) {
      this.fail(`at most ${MAX_MESSAGES} messages`);
    }
    const end = this.#end;
    const length = this.#length();
    this.#end = this.#take(length) + length;
    this.#at -= length;
    const value = read();
    this.#end = end;
    return value;
  }

  /** Throws the error for malformed bytes. */
  fail(expected: string): never {
    throw new TypeError(
      `Cannot read OTLP: the body must be protobuf with ${expected}, received something else at byte ${this.#at}`,
    );
  }

  #length(): number {
    const { low, high } = this.varint();
    return high === 0 ? low : this.fail("lengths of 32 bits");
  }

  /** Moves on by some bytes, and returns where they start. */
  #take(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) this.fail("complete fields");
    this.#at = start + length;
    return start;
  }
}
