import { TIME_UNITS } from "./packed_format.ts";

/** Time differences from here on are written as doubles: see `varint`. */
const MAX_UNITS = 2 ** 50;

/** Writes numbers to a buffer that grows. See `packed_format.ts`. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** How many bytes have been written. */
  get length(): number {
    return this.#length;
  }

  /** One byte. */
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** A whole number from 0 to 2⁵³ − 1. */
  varint(value: number): void {
    this.#reserve(8);
    // Bit operations are for 32 bits; what is above them takes division.
    while (value > 0x7fffffff) {
      this.#bytes[this.#length++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    while (value > 127) {
      this.#bytes[this.#length++] = (value & 127) | 128;
      value >>>= 7;
    }
    this.#bytes[this.#length++] = value;
  }

  /** Any double. */
  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Any double; small if it is a whole number from 0. */
  number(value: number): void {
    if (value >= 0 && value < 2 ** 53 - 1 && isPlainInteger(value)) {
      this.varint(value + 1);
    } else {
      this.varint(0);
      this.double(value);
    }
  }

  /** A point in time; small if it is close to `base`. */
  time(value: number, base: number): void {
    const units = (value - base) * TIME_UNITS;
    if (
      isPlainInteger(units) && Math.abs(units) < MAX_UNITS &&
      Object.is(base + units / TIME_UNITS, value)
    ) {
      this.varint((units < 0 ? -2 * units - 1 : 2 * units) + 1);
    } else {
      this.varint(0);
      this.double(value);
    }
  }

  /** Bytes as they are. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The bytes of lower-case hexadecimal digits. */
  hex(text: string): void {
    this.#reserve(text.length / 2);
    for (let i = 0; i < text.length; i += 2) {
      this.#bytes[this.#length++] = digit(text.charCodeAt(i)) << 4 |
        digit(text.charCodeAt(i + 1));
    }
  }

  /** The length of what another writer holds, then that. */
  section(writer: ByteWriter): void {
    this.varint(writer.#length);
    this.bytes(writer.finish());
  }

  /** What has been written. The writer must not be used afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Whether `value` is a whole number and not −0, whose sign would be lost. */
function isPlainInteger(value: number): boolean {
  return Number.isInteger(value) && !Object.is(value, -0);
}

/** `0`–`9` are codes 48–57, `a`–`f` are 97–102. */
function digit(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
