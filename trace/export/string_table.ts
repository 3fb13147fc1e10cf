/**
 * Every distinct string of packed traces, once.
 *
 * ```text
 *  count · length and kind of each · all of them joined, as UTF-8
 * ```
 *
 * UTF-8 has no form for half a surrogate pair, which a JavaScript string may
 * hold; such a string is kept as its JSON text, where it is an escape.
 *
 * @module
 */

import { type ByteReader, damaged } from "./byte_reader.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { isWellFormed } from "./well_formed.ts";

/** Collects strings and numbers them. */
export class StringTableWriter {
  readonly #numbers = new Map<string, number>();

  /** The number of `text`. */
  add(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      if (typeof text !== "string") {
        throw new TypeError(
          "Cannot pack traces: names, ids and keys must be strings, " +
            `received ${text}`,
        );
      }
      number = this.#numbers.size;
      this.#numbers.set(text, number);
    }
    return number;
  }

  /** Writes the table. */
  write(out: ByteWriter): void {
    const texts: string[] = [];
    out.varint(this.#numbers.size);
    for (const text of this.#numbers.keys()) {
      const plain = isWellFormed(text);
      const stored = plain ? text : JSON.stringify(text);
      texts.push(stored);
      out.varint(stored.length * 2 + (plain ? 0 : 1));
    }
    out.bytes(new TextEncoder().encode(texts.join("")));
  }
}

/** Finds strings by their numbers. */
export class StringTable {
  readonly #text: string;
  /** Where each string ends in the text; it begins where the last one ends. */
  readonly #ends: number[] = [];
  readonly #escaped = new Set<number>();
  /** Those asked for so far: also keeps one copy of each in memory. */
  readonly #known: (string | undefined)[] = [];

  /** Reads a table. */
  constructor(reader: ByteReader) {
    const count = reader.count(1);
    let end = 0;
    for (let i = 0; i < count; i++) {
      const head = reader.varint();
      if (head % 2 === 1) this.#escaped.add(i);
      end += Math.floor(head / 2);
      this.#ends.push(end);
    }
    this.#text = decodeUTF8(reader.bytes(reader.remaining));
    if (this.#text.length !== end) throw damaged("texts of the wrong length");
  }

  /** How many strings there are. */
  get size(): number {
    return this.#ends.length;
  }

  /** The string that the reader refers to next. */
  read(reader: ByteReader): string {
    return this.get(reader.below(this.size));
  }

  /** The string with a number. */
  get(number: number): string {
    const known = this.#known[number];
    if (known !== undefined) return known;
    const start = this.#ends[number - 1] ?? 0;
    const stored = this.#text.slice(start, this.#ends[number]);
    const text = this.#escaped.has(number) ? parseText(stored) : stored;
    this.#known[number] = text;
    return text;
  }
}

function decodeUTF8(bytes: Uint8Array): string {
  // A leading U+FEFF is part of the first string, not a byte order mark.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    throw damaged("texts that aren't UTF-8");
  }
}

function parseText(json: string): string {
  try {
    const text: unknown = JSON.parse(json);
    if (typeof text === "string") return text;
  } catch {
    // Falls through to the same error.
  }
  throw damaged("an escaped text that isn't one");
}
