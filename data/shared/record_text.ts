/**
 * Encodes records as text that keeps the types of their values.
 *
 * @module
 */

import { DevalueError, parse, stringify } from "devalue";
import { CacheError } from "../error.ts";
import type { CacheRecord } from "../store.ts";
import { VIEWS } from "../views.ts";

/** The content of a record as text. Absent elements at the end are left out. */
type Content = readonly [
  value: unknown,
  tags?: readonly string[] | undefined,
  paths?: readonly string[] | undefined,
  keys?: readonly string[] | undefined,
  scopeKey?: string | undefined,
];

/** The part of a record that the text holds. */
type Written = Pick<
  CacheRecord,
  "value" | "tags" | "paths" | "keys" | "scopeKey"
>;

/**
 * Returns a record as text.
 *
 * @param key The key of the record.
 * @throws {CacheError} `NOT_DATA` if its value isn't data.
 */
export function writeRecord(
  key: string,
  { value, scopeKey, tags, paths, keys }: Written,
): string {
  const content = [
    value,
    tags.length > 0 ? tags : undefined,
    paths.length > 0 ? paths : undefined,
    keys,
    scopeKey === key ? undefined : scopeKey,
  ];
  while (content.length > 1 && content.at(-1) === undefined) content.pop();
  try {
    return stringify(content, { Part: cutOut });
  } catch (cause) {
    // Any other error is a stack overflow.
    const [where, what] = cause instanceof DevalueError
      ? [cause.path.replace("[0]", "value"), describe(cause.value)]
      : ["value", "something nested too deeply"];
    const key = JSON.stringify(scopeKey);
    throw new CacheError(
      "NOT_DATA",
      `Cannot share the value of ${key} with other processes: ${where} must be data (values as in JSON, undefined, bigint, Date, Map, Set, RegExp, URL, bytes), received ${what}; return plain data to share it`,
    );
  }
}

/** Returns the record of a text. Its number and times are stored elsewhere. */
export function readRecord(key: string, text: string): Written {
  const [value, tags = [], paths = [], keys, scopeKey = key] = parse(text, {
    Part: ([type, bytes]: [string, ArrayBuffer]) => new VIEWS[type]!(bytes),
  }) as Content;
  return { value, tags, paths, scopeKey, ...keys && { keys } };
}

/**
 * Encodes a view without the rest of its buffer, which may be unrelated data:
 * Node's small `Buffer`s share one.
 */
function cutOut(value: unknown): readonly [string, ArrayBuffer] | undefined {
  if (!ArrayBuffer.isView(value)) return undefined;
  const { buffer, byteOffset, byteLength } = value;
  if (byteLength === buffer.byteLength) return undefined;
  return [
    Object.prototype.toString.call(value).slice(8, -1),
    new Uint8Array(buffer, byteOffset, byteLength).slice().buffer,
  ];
}

function describe(value: unknown): string {
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return !name || name === "Object"
    ? "an object that isn't plain data"
    : `an instance of ${name}`;
}
