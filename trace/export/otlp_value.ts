/**
 * Attributes as OTLP's lists of typed values and back.
 *
 * @module
 */

import type { AttributeValue } from "../types.ts";
import type { Field } from "./field.ts";
import type { OTLPAnyValue, OTLPKeyValue } from "./otlp_types.ts";
import { setOwn } from "./own_property.ts";
import { toWellFormed } from "./well_formed.ts";

/** How deep lists may be nested in each other: reading them is recursive. */
const MAX_DEPTH = 64;

/** OTLP's integers have 64 bits. */
const INT_LIMIT = 2 ** 63;

/** Named values as OTLP has them. Half surrogate pairs become U+FFFD. */
export function toKeyValues(
  attributes: Readonly<Record<string, AttributeValue>>,
): OTLPKeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key: toWellFormed(key),
    value: toAnyValue(value),
  }));
}

function toAnyValue(value: AttributeValue): OTLPAnyValue {
  if (typeof value === "string") return { stringValue: toWellFormed(value) };
  if (typeof value === "boolean") return { boolValue: value };
  if (!Number.isFinite(value)) return { doubleValue: String(value) };
  const isInt = Number.isInteger(value) && !Object.is(value, -0) &&
    value >= -INT_LIMIT && value < INT_LIMIT;
  return isInt ? { intValue: String(BigInt(value)) } : { doubleValue: value };
}

/** The attributes of a list of named values; of several alike, the last. */
export function readKeyValues(list: Field): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const pair of list.items()) {
    setOwn(attributes, readKey(pair), readAnyValue(pair.get("value")));
  }
  return attributes;
}

function readKey(pair: Field): string {
  const key = pair.get("key");
  return typeof key.value === "string" ? key.value : key.fail("a string");
}

/** A value as ours: lists become JSON text, no value becomes no text. */
function readAnyValue(any: Field): AttributeValue {
  if (any.isAbsent) return "";
  const text = any.get("stringValue");
  if (!text.isAbsent) return text.text();
  const bool = any.get("boolValue");
  if (!bool.isAbsent) return readBool(bool);
  const int = any.get("intValue");
  if (!int.isAbsent) return fromInt(readInt(int));
  const double = any.get("doubleValue");
  if (!double.isAbsent) return readDouble(double);
  return readList(any, 0) ?? any.get("bytesValue").text();
}

/** A list as JSON text; `undefined` if the value isn't one. */
function readList(any: Field, depth: number): string | undefined {
  if (depth > MAX_DEPTH) any.fail(`nested at most ${MAX_DEPTH} deep`);
  const array = any.get("arrayValue");
  if (!array.isAbsent) {
    const items = array.get("values").items();
    return `[${items.map((item) => readJSON(item, depth + 1)).join(",")}]`;
  }
  const pairs = any.get("kvlistValue");
  if (pairs.isAbsent) return undefined;
  const items = pairs.get("values").items().map((pair) =>
    `${JSON.stringify(readKey(pair))}:${readJSON(pair.get("value"), depth + 1)}`
  );
  return `{${items.join(",")}}`;
}

/** A value inside a list as JSON text, integers with all their digits. */
function readJSON(any: Field, depth: number): string {
  if (any.isAbsent) return "null";
  const int = any.get("intValue");
  if (!int.isAbsent) return String(readInt(int));
  const list = readList(any, depth);
  if (list !== undefined) return list;
  const value = readAnyValue(any);
  // No value looks like no text outside of a list, where it has to be one.
  const isNone = value === "" && any.get("stringValue").isAbsent;
  return isNone ? "null" : JSON.stringify(value);
}

function readBool(field: Field): boolean {
  return typeof field.value === "boolean"
    ? field.value
    : field.fail("true or false");
}

function readInt(field: Field): bigint {
  const { value } = field;
  if (typeof value === "number" && Number.isInteger(value)) {
    return BigInt(value);
  }
  if (typeof value === "string" && /^-?\d{1,19}$/.test(value)) {
    return BigInt(value);
  }
  return field.fail("a 64-bit integer in decimal");
}

/** A number if it can be one exactly, or else its digits. */
function fromInt(int: bigint): number | string {
  const number = Number(int);
  return BigInt(number) === int ? number : String(int);
}

/** What JSON has no number for stays text: it would come back as `null`. */
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
