/**
 * Every distinct list of attribute keys and value types, once. Spans of one
 * kind have the same attributes, so a span says which shape it has and then
 * only gives the values.
 *
 * ```text
 *  shape count · for each: its length · key and type of each attribute
 * ```
 *
 * @module
 */

import type { AttributeValue } from "../types.ts";
import { type ByteReader, damaged } from "./byte_reader.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { describe } from "./describe.ts";
import { setOwn } from "./own_property.ts";
import { VALUE } from "./packed_format.ts";
import type { StringTable, StringTableWriter } from "./string_table.ts";

type Values = Readonly<Record<string, AttributeValue>>;

/** A step in the tree of all lists: the attributes so far. */
interface Step {
  shape: number;
  readonly next: Map<number, Step>;
}

/** Collects shapes and numbers them. */
export class ShapeTableWriter {
  readonly #strings: StringTableWriter;
  readonly #first: Step = { shape: -1, next: new Map() };
  /** Each shape as its attributes' keys and types, see `#tag`. */
  readonly #shapes: number[][] = [];

  /** Keys and values go to `strings`. */
  constructor(strings: StringTableWriter) {
    this.#strings = strings;
  }

  /** Writes the shape's number to `shapes`, then the values to `values`. */
  add(attributes: Values, shapes: ByteWriter, values: ByteWriter): void {
    const kept = Object.entries(attributes)
      .filter(([, value]) => value !== undefined);
    shapes.varint(this.#numberOf(kept));
    for (const [, value] of kept) {
      if (typeof value === "string") values.varint(this.#strings.add(value));
      else if (typeof value === "number") values.number(value);
      else values.byte(value ? 1 : 0);
    }
  }

  /** Writes the table. */
  write(out: ByteWriter): void {
    out.varint(this.#shapes.length);
    for (const tags of this.#shapes) {
      out.varint(tags.length);
      for (const tag of tags) out.varint(tag);
    }
  }

  #numberOf(
    attributes: readonly (readonly [string, AttributeValue])[],
  ): number {
    const tags = attributes.map(([key, value]) => this.#tag(key, value));
    let step = this.#first;
    for (const tag of tags) {
      let next = step.next.get(tag);
      if (next === undefined) {
        next = { shape: -1, next: new Map() };
        step.next.set(tag, next);
      }
      step = next;
    }
    if (step.shape < 0) step.shape = this.#shapes.push(tags) - 1;
    return step.shape;
  }

  /** A key's number and a value's type in one number. */
  #tag(key: string, value: AttributeValue): number {
    const type = VALUE[typeof value as keyof typeof VALUE];
    if (type === undefined) {
      throw new TypeError(
        "Cannot pack traces: attributes must be strings, numbers or " +
          `booleans, received ${describe(value)} as ${JSON.stringify(key)}`,
      );
    }
    return this.#strings.add(key) * 4 + type;
  }
}

/** Finds shapes by their numbers and reads the attributes they describe. */
export class ShapeTable {
  readonly #strings: StringTable;
  readonly #shapes: { readonly key: string; readonly type: number }[][] = [];

  /** Reads a table. */
  constructor(reader: ByteReader, strings: StringTable) {
    this.#strings = strings;
    const shapeCount = reader.count(1);
    for (let i = 0; i < shapeCount; i++) {
      const shape = [];
      const length = reader.count(1);
      for (let j = 0; j < length; j++) {
        const tag = reader.below(strings.size * 4);
        const type = tag % 4;
        if (type > VALUE.boolean) throw damaged("an unknown type of value");
        shape.push({ key: strings.get((tag - type) / 4), type });
      }
      this.#shapes.push(shape);
    }
  }

  /** Reads a shape's number from `shapes` and its values from `values`. */
  read(
    shapes: ByteReader,
    values: ByteReader,
  ): Record<string, AttributeValue> {
    const shape = this.#shapes[shapes.below(this.#shapes.length)] ?? [];
    const attributes: Record<string, AttributeValue> = {};
    for (const { key, type } of shape) {
      setOwn(attributes, key, this.#value(type, values));
    }
    return attributes;
  }

  #value(type: number, values: ByteReader): AttributeValue {
    if (type === VALUE.string) return this.#strings.read(values);
    if (type === VALUE.number) return values.number();
    return values.byte() === 1;
  }
}
