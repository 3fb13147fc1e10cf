/**
 * Encodes the arguments of a call as a key. Two lists of arguments have the same
 * key if and only if they are equal.
 *
 * JSON values are written as JSON, with properties sorted by name. Other values
 * get a token that no JSON begins with:
 *
 * | value                         | in the key                              |
 * | ----------------------------- | --------------------------------------- |
 * | `undefined`                   | `u`                                     |
 * | holes of an array             | `h` and their number                    |
 * | `NaN`, `Infinity`, `-0`       | `NaN`, `Infinity`, `-0`                 |
 * | `10n`                         | `10n`                                   |
 * | a `Date`                      | `D` and its milliseconds, or `DNaN`     |
 * | a `Map`                       | `M[[key,value],…]`, sorted               |
 * | a `Set`                       | `S[…]`, sorted                          |
 * | bytes, typed arrays           | their type and `"…"`, in Base64          |
 * | a reference to an outer object | `@` and the number of levels up         |
 *
 * The encoding is unambiguous: strings are quoted, everything else ends before a
 * comma or a bracket. Lone surrogates are escaped, so that a key survives UTF-8.
 *
 * `JSON.stringify` is several times faster. So it encodes all arguments that both
 * encode alike.
 *
 * @module
 */

import { encodeBase64 } from "../core/bytes/base64.ts";
import { bytesOf } from "../core/bytes/bytes.ts";
import { VIEWS } from "./views.ts";

/** Deeper than any data. Beyond, the error is clearer than a stack overflow. */
const MAX_DEPTH = 500;

/**
 * Encodes a call.
 *
 * @param call The name of the function, then the arguments.
 * @param first The index of the first argument, for errors.
 * @throws {TypeError} If an argument isn't data.
 */
export function encodeCall(call: readonly unknown[], first: number): string {
  for (let i = first; i < call.length; i++) {
    if (!isPlain(call[i], 0)) {
      const parts = call.map((value, i) =>
        encode(value, [], `argument ${i - first + 1}`)
      );
      return `[${parts.join()}]`;
    }
  }
  return JSON.stringify(call);
}

/** Whether `JSON.stringify` returns the same text as `encode`. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > 8) return false;
  if (Array.isArray(value)) {
    if (Object.keys(value).length !== value.length) return false;
    for (let i = 0; i < value.length; i++) {
      if (!isPlain(value[i], depth + 1)) return false;
    }
    return Object.getPrototypeOf(value) === Array.prototype;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let last = "";
  // Also visits names added to Object.prototype, which only costs time.
  for (const key in value) {
    if (key < last) return false;
    last = key;
    if (!isPlain((value as Record<string, unknown>)[key], depth + 1)) {
      return false;
    }
  }
  return Object.getOwnPropertySymbols(value).length === 0;
}

/**
 * Encodes a value.
 *
 * @param around The objects around it, outermost first.
 * @param where Its place, for errors.
 */
function encode(value: unknown, around: object[], where: string): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "undefined":
      return "u";
    case "function":
    case "symbol":
      throw unkeyable(where, `a ${typeof value}`);
  }
  if (value === null) return "null";
  const object = value as object;
  const outer = around.lastIndexOf(object);
  if (outer !== -1) return `@${around.length - outer}`;
  if (around.length > MAX_DEPTH) {
    throw unkeyable(where, "data that is nested too deeply");
  }
  around.push(object);
  const text = encodeObject(object, around, where);
  around.pop();
  return text;
}

function encodeObject(value: object, around: object[], where: string): string {
  const part = (item: unknown, place: string) =>
    encode(item, around, `${where} ${place}`);
  const prototype = Object.getPrototypeOf(value);
  switch (prototype) {
    case Object.prototype:
    case null:
      return encodeProperties(value, Object.keys(value), around, where);
    case Array.prototype:
      if (!Array.isArray(value)) break;
      return encodeArray(value, around, where);
    case Date.prototype:
      return `D${(value as Date).getTime()}`;
    case Map.prototype: {
      const entries = [...value as Map<unknown, unknown>].map(
        ([key, item], i) =>
          `[${part(key, `key ${i}`)},${part(item, `value ${i}`)}]`,
      );
      return `M[${entries.sort().join()}]`;
    }
    case Set.prototype: {
      const items = [...value as Set<unknown>].map((item, i) =>
        part(item, `item ${i}`)
      );
      return `S[${items.sort().join()}]`;
    }
  }
  if (BYTES.has(prototype)) {
    const text = encodeBase64(bytesOf(value)!);
    return `${prototype.constructor.name}"${text}"`;
  }
  const name = prototype.constructor?.name;
  throw unkeyable(
    where,
    name ? `an instance of ${name}` : "an instance of an unnamed class",
  );
}

function encodeProperties(
  value: object,
  keys: string[],
  around: object[],
  where: string,
): string {
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw unkeyable(where, "an object with a symbol as a key");
  }
  const parts = keys.sort().map((key) => {
    const item = (value as Record<string, unknown>)[key];
    const name = JSON.stringify(key);
    const place = NAME.test(key) ? `.${key}` : `[${name}]`;
    return `${name}:${encode(item, around, where + place)}`;
  });
  return `{${parts.join()}}`;
}

const NAME = /^[\w$]{1,40}$/;

function encodeArray(
  array: readonly unknown[],
  around: object[],
  where: string,
): string {
  const parts: string[] = [];
  const named: string[] = [];
  let next = 0;
  // By its keys, because a sparse array can have four billion holes.
  for (const key of Object.keys(array)) {
    const i = Number(key);
    if (!(i < array.length) || String(i) !== key) {
      named.push(key);
      continue;
    }
    if (i > next) parts.push(`h${i - next}`);
    parts.push(encode(array[i], around, `${where}[${i}]`));
    next = i + 1;
  }
  if (array.length > next) parts.push(`h${array.length - next}`);
  const text = `[${parts.join()}]`;
  // Arrays may have named properties, such as the matches of a RegExp.
  return named.length === 0
    ? text
    : `A${text}${encodeProperties(array, named, around, where)}`;
}

/** The prototypes of `ArrayBuffer` and of its views. */
const BYTES: ReadonlySet<object> = new Set(
  [ArrayBuffer, ...Object.values(VIEWS)].map(({ prototype }) => prototype),
);

function unkeyable(where: string, what: string): TypeError {
  return new TypeError(
    `Cannot make a cache key: ${where} must be data (values as in JSON, undefined, bigint, Date, Map, Set, bytes), received ${what}; pass what the function needs of it, such as an id`,
  );
}
