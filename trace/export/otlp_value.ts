/**
 * Attributes, texts and times as OTLP has them, and back.
 *
 * @module
 */

import { checkValue } from "../../core/check/options.ts";
import { finiteNumbers, kindOf, show } from "../../core/check/rules.ts";
import type { AttributeValue } from "../types.ts";
import type { OTLPKeyValue } from "./otlp_types.ts";

/** Maximum depth of nested lists, which are read recursively. */
const MAX_DEPTH = 64;

/** OTLP's integers have 64 bits. */
const INT_LIMIT = 2 ** 63;

/** Returns named values in OTLP's form. Half surrogate pairs become U+FFFD. */
export function toKeyValues(
  attributes: Readonly<Record<string, AttributeValue>>,
): OTLPKeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key: key.toWellFormed(),
    value: toAnyValue(value),
  }));
}

/** UTF-8 can't represent half of a surrogate pair. */
function toAnyValue(value: AttributeValue): OTLPKeyValue["value"] {
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (!Number.isFinite(value)) return { doubleValue: String(value) };
  const isInt = Number.isInteger(value) && !Object.is(value, -0) &&
    value >= -INT_LIMIT && value < INT_LIMIT;
  return isInt ? { intValue: String(BigInt(value)) } : { doubleValue: value };
}

/**
 * Returns the attributes of a list of named values. The last one of a name
 * wins.
 */
export function readKeyValues(list: Field): Record<string, AttributeValue> {
  const pairs = list.items([]);
  // Unlike an assignment, this treats `__proto__` like any other key.
  return Object.fromEntries(
    pairs.map((pair) => [pair.get("key").text(), readValue(pair.get("value"))]),
  );
}

/** Returns a value. A list becomes JSON text. */
export function readValue(value: Field): AttributeValue {
  return readAnyValue(value, 0).value;
}

/** A value, and its JSON inside a list. */
interface ReadValue {
  readonly value: AttributeValue;
  readonly json: string;
}

/** The fields of a value. The first one present counts. */
const KINDS = [
  "stringValue",
  "boolValue",
  "intValue",
  "doubleValue",
  "arrayValue",
  "kvlistValue",
  "bytesValue",
] as const;

function readAnyValue(any: Field, depth: number): ReadValue {
  const kind = KINDS.find((kind) => !any.isAbsent && !any.get(kind).isAbsent);
  // Outside a list, a missing value becomes an empty text.
  if (kind === undefined) return { value: "", json: "null" };
  if (depth > MAX_DEPTH) any.fail(`nested at most ${MAX_DEPTH} deep`);
  const field = any.get(kind);
  if (kind === "intValue") {
    const int = readInt(field);
    // Inside a list integers keep all their digits.
    return { value: fromInt(int), json: String(int) };
  }
  if (kind === "arrayValue" || kind === "kvlistValue") {
    const items = field.get("values").items([]);
    const jsonOf = (item: Field) => readAnyValue(item, depth + 1).json;
    const pairOf = (pair: Field) =>
      JSON.stringify(pair.get("key").text()) + ":" + jsonOf(pair.get("value"));
    const json = kind === "arrayValue"
      ? `[${items.map(jsonOf)}]`
      : `{${items.map(pairOf)}}`;
    return { value: json, json };
  }
  const value = kind === "boolValue"
    ? field.expect<boolean>("true or false", typeof field.value === "boolean")
    : kind === "doubleValue"
    ? readDouble(field)
    : field.text("");
  return { value, json: JSON.stringify(value) };
}

function readInt(field: Field): bigint {
  const { value } = field;
  const isInt = Number.isInteger(value) ||
    typeof value === "string" && /^-?\d{1,19}$/.test(value);
  return BigInt(field.expect<number | string>(
    "a 64-bit integer in decimal",
    isInt,
  ));
}

/** Returns a number if that is exact, and otherwise the digits. */
function fromInt(int: bigint): number | string {
  const number = Number(int);
  return BigInt(number) === int ? number : String(int);
}

/**
 * `NaN` and the infinities stay text, because JSON would turn them into `null`.
 */
function readDouble(field: Field): number | string {
  const { value } = field;
  if (typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") {
    return value;
  }
  const number = typeof value === "string" && value.trim() !== ""
    ? Number(value)
    : NaN;
  return Number.isFinite(number) ? number : field.fail("a number");
}

/**
 * The nanoseconds of a millisecond.
 *
 * Nanoseconds since 1970 don't fit a double: 2⁵³ of them are 104 days. Whole
 * milliseconds do, and so does the rest. A double of epoch milliseconds, in steps
 * of 244 ns, survives both conversions.
 */
const NANOS = 1_000_000n;

/**
 * Returns nanoseconds in decimal. A time before 1970 becomes 0, because OTLP
 * can't represent it.
 *
 * @throws {TypeError} If the time isn't finite.
 */
export function toUnixNano(time: number): string {
  checkValue(time, "times", finiteNumbers, "write OTLP");
  const since1970 = Math.max(0, time);
  const whole = Math.floor(since1970);
  const nanos = Math.round((since1970 - whole) * 1e6);
  return String(BigInt(whole) * NANOS + BigInt(nanos));
}

/** Converts decimal nanoseconds to the nearest milliseconds. */
export function fromUnixNano(text: string): number {
  const nanos = BigInt(text);
  return Number(nanos / NANOS) + Number(nanos % NANOS) / 1e6;
}

/**
 * A value in parsed JSON with its path, for error messages. The path is only
 * built for an error.
 */
export class Field {
  /** The value. `undefined` if it is missing. */
  readonly value: unknown;
  readonly #key: string | number;
  readonly #parent: Field | undefined;

  /**
   * A whole document. `get` and `items` return its parts.
   *
   * @param key The name of the document, such as `OTLP`.
   */
  constructor(value: unknown, key: string | number, parent?: Field) {
    this.value = value;
    this.#key = key;
    this.#parent = parent;
  }

  /** Whether it is absent. In protobuf's JSON, `null` is absent too. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** Returns an own property. */
  get(key: string): Field {
    const record = this.record();
    const own = Object.hasOwn(record, key) ? record[key] : undefined;
    return new Field(own, key, this);
  }

  /** Returns the properties. */
  record(): Record<string, unknown> {
    return this.expect("an object", kindOf(this.value) === "an object");
  }

  /** Returns the elements. */
  items(ifAbsent?: []): Field[] {
    const isList = Array.isArray(this.value);
    const items = this.expect<unknown[]>("an array", isList, ifAbsent);
    return items.map((item, i) => new Field(item, i, this));
  }

  /** Returns the text. */
  text(ifAbsent?: ""): string {
    return this.expect("a string", typeof this.value === "string", ifAbsent);
  }

  /** Returns the number. */
  number(): number {
    return this.expect("a finite number", Number.isFinite(this.value));
  }

  /** Returns the text, which must be one of some. */
  oneOf<T extends string>(choices: readonly T[]): T {
    return this.expect(
      `one of ${choices.join(", ")}`,
      choices.includes(this.value as T),
    );
  }

  /** Returns a valid value, or the default for an absent one. */
  expect<T>(what: string, isRight: boolean, ifAbsent?: T): T {
    if (isRight) return this.value as T;
    if (ifAbsent !== undefined && this.isAbsent) return ifAbsent;
    return this.fail(what);
  }

  /** Throws the error for a wrong value. */
  fail(expected: string): never {
    const [document, path] = this.#place();
    const name = path.replace(/^\./, "") || "the value";
    const received = this.value === undefined ? "nothing" : show(this.value);
    throw new TypeError(
      `Cannot read ${document}: ${name} must be ${expected}, received ${received}`,
    );
  }

  /** The name of the document, and the path to the value. */
  #place(): readonly [document: string | number, path: string] {
    const key = this.#key;
    if (this.#parent === undefined) return [key, ""];
    const [document, path] = this.#parent.#place();
    const isWord = typeof key === "string" && /^\w+$/.test(key);
    return [document, path + (isWord ? `.${key}` : `[${JSON.stringify(key)}]`)];
  }
}
