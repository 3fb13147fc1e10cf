/**
 * Turns the arguments of a call into a key: two lists of arguments have the
 * same key exactly if they are equal.
 *
 * What JSON can say is said in JSON, with the properties of objects in order of
 * their names. What it can't say gets a token that no JSON begins with:
 *
 * | value                         | in the key                              |
 * | ----------------------------- | --------------------------------------- |
 * | `undefined`                   | `u`                                     |
 * | holes of an array             | `h` and how many                        |
 * | `NaN`, `Infinity`, `-0`       | `NaN`, `Infinity`, `-0`                 |
 * | `10n`                         | `10n`                                   |
 * | a `Date`                      | `D` and its milliseconds, or `DNaN`     |
 * | a `Map`                       | `M[[key,value],…]`, in order of the keys |
 * | a `Set`                       | `S[…]`, in order                        |
 * | bytes, typed arrays           | their type and `"…"`, in Base64          |
 * | an object that holds itself   | `@` and how many objects further out    |
 *
 * Each value can be read off again, so no two values share a text: strings are
 * quoted, everything else ends before a comma or a bracket. Lone surrogates are
 * escaped, so that a key survives being encoded as UTF-8.
 *
 * The runtime's `JSON.stringify` is several times as quick as anything that can
 * be written here, so arguments that it puts in the same words are left to it.
 *
 * @module
 */

import { VIEWS } from "./views.ts";

/** The objects around a value, the nearest first. */
interface Frame {
  readonly value: object;
  readonly outer: Frame | undefined;
  readonly depth: number;
}

/** Deeper than any data; a stack overflow would say less. */
const MAX_DEPTH = 500;

/**
 * Encodes a call.
 *
 * @param call The arguments, with whatever else tells calls apart before them.
 * @param first Where the arguments begin, for errors.
 * @throws {TypeError} If an argument is or holds what can't be part of a key.
 */
export function encodeCall(call: readonly unknown[], first: number): string {
  for (let i = first; i < call.length; i++) {
    if (!isPlain(call[i], 0)) return encodeArray(call, undefined, "", first);
  }
  return JSON.stringify(call);
}

/** Whether `JSON.stringify` writes what `encode` would. */
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
  // Names that Object.prototype was given only send us the slow way.
  for (const key in value) {
    if (key < last) return false;
    last = key;
    if (!isPlain((value as Record<string, unknown>)[key], depth + 1)) {
      return false;
    }
  }
  return Object.getOwnPropertySymbols(value).length === 0;
}

function encode(
  value: unknown,
  outer: Frame | undefined,
  where: string,
): string {
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
  const frame = enter(value!, outer, where);
  return typeof frame === "string" ? frame : encodeObject(value!, frame, where);
}

/** A reference to an object further out, or the frame of one not met yet. */
function enter(
  value: object,
  outer: Frame | undefined,
  where: string,
): Frame | string {
  const depth = outer === undefined ? 0 : outer.depth + 1;
  if (depth > MAX_DEPTH) throw unkeyable(where, "nested too deeply");
  for (let frame = outer; frame !== undefined; frame = frame.outer) {
    if (frame.value === value) return `@${depth - frame.depth}`;
  }
  return { value, outer, depth };
}

function encodeObject(value: object, frame: Frame, where: string): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return encodeProperties(value, Object.keys(value), frame, where);
  }
  if (Array.isArray(value) && prototype === Array.prototype) {
    return encodeArray(value, frame, where, 0);
  }
  if (prototype === Date.prototype) return `D${(value as Date).getTime()}`;
  if (prototype === Map.prototype) {
    const entries = [...value as Map<unknown, unknown>].map(([key, item], i) =>
      `[${encode(key, frame, `${where} key ${i}`)},${
        encode(item, frame, `${where} value ${i}`)
      }]`
    );
    return `M[${entries.sort().join()}]`;
  }
  if (prototype === Set.prototype) {
    const items = [...value as Set<unknown>].map((item, i) =>
      encode(item, frame, `${where} item ${i}`)
    );
    return `S[${items.sort().join()}]`;
  }
  const bytes = bytesOf(value);
  if (bytes !== undefined) {
    return `${prototype.constructor.name}"${toBase64(bytes)}"`;
  }
  const name = prototype.constructor?.name;
  throw unkeyable(where, name ? `an instance of ${name}` : "of no known class");
}

function encodeProperties(
  value: object,
  keys: string[],
  frame: Frame,
  where: string,
): string {
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw unkeyable(where, "an object with a symbol for a name");
  }
  const parts = keys.sort().map((key) => {
    const item = (value as Record<string, unknown>)[key];
    const name = JSON.stringify(key);
    return `${name}:${
      encode(item, frame, where + (NAME.test(key) ? `.${key}` : `[${name}]`))
    }`;
  });
  return `{${parts.join()}}`;
}

const NAME = /^[\w$]{1,40}$/;

/** `first` is where the arguments begin in the list of a call, else 0. */
function encodeArray(
  array: readonly unknown[],
  frame: Frame | undefined,
  where: string,
  first: number,
): string {
  const parts: string[] = [];
  const named: string[] = [];
  let next = 0;
  // By its keys: a sparse array can be four billion holes long.
  for (const key of Object.keys(array)) {
    const i = Number(key);
    if (!(i < array.length) || String(i) !== key) {
      named.push(key);
      continue;
    }
    if (i > next) parts.push(`h${i - next}`);
    const place = frame === undefined
      ? `argument ${i - first + 1}`
      : `${where}[${i}]`;
    parts.push(encode(array[i], frame, place));
    next = i + 1;
  }
  if (array.length > next) parts.push(`h${array.length - next}`);
  const text = `[${parts.join()}]`;
  // Whoever has named properties on an array, as a RegExp match has.
  return named.length === 0
    ? text
    : `A${text}${encodeProperties(array, named, frame!, where)}`;
}

/** Bytes, and views of them, of the runtime's own classes. */
function bytesOf(value: object): Uint8Array | undefined {
  const prototype = Object.getPrototypeOf(value);
  if (!BYTES.has(prototype)) return undefined;
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value as ArrayBuffer);
}

const BYTES: ReadonlySet<object> = new Set(
  [ArrayBuffer, ...Object.values(VIEWS)].map(({ prototype }) => prototype),
);

/** In parts: a call takes only so many arguments. */
function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8_192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8_192));
  }
  return btoa(text);
}

function unkeyable(where: string, what: string): TypeError {
  return new TypeError(
    `Cannot make a cache key: ${where} must be data (values as in JSON, undefined, bigint, Date, Map, Set, bytes), received ${what}`,
  );
}
