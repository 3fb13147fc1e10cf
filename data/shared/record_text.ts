/**
 * Records as text that keeps the types of their values.
 *
 * @module
 */

import { DevalueError, parse, stringify } from "devalue";
import { CacheError } from "../error.ts";
import type { CacheRecord } from "../store.ts";
import { VIEWS } from "../views.ts";

/** The content of a record as text. Times are in milliseconds. */
interface Content extends Pick<CacheRecord, "value" | "scopeKey"> {
  readonly tags: readonly string[];
  readonly paths: readonly string[];
  readonly keys: readonly string[] | undefined;
  /** For how long after it was kept it is fresh, and of use. */
  readonly freshFor: number;
  readonly keepFor: number;
}

/**
 * Returns a record that is stored now as text.
 *
 * @throws {CacheError} `NOT_DATA` if its value isn't data.
 */
export function writeRecord(record: CacheRecord, now: number): string {
  const { value, scopeKey, tags, paths, keys } = record;
  const content: Content = {
    value,
    scopeKey,
    tags,
    paths,
    keys,
    freshFor: record.freshUntil - now,
    keepFor: record.keepUntil - now,
  };
  try {
    return stringify(content, { Part: cutOut });
  } catch (cause) {
    // Any other error is a stack overflow.
    const [where, what] = cause instanceof DevalueError
      ? [cause.path.slice(1), describe(cause.value)]
      : ["value", "something nested too deeply"];
    throw new CacheError(
      "NOT_DATA",
      `Cannot share the value of ${
        JSON.stringify(scopeKey)
      } with other processes: ${where} must be data (values as in JSON, undefined, bigint, Date, Map, Set, RegExp, URL, bytes), received ${what}`,
    );
  }
}

/** Returns the record of a text. Its number is stored elsewhere. */
export function readRecord(
  text: string,
  kept: number,
): Omit<CacheRecord, "began"> {
  const { freshFor, keepFor, keys, ...rest } = parse(text, {
    Part: ([type, bytes]: [string, ArrayBuffer]) => new VIEWS[type]!(bytes),
  }) as Content;
  return {
    ...rest,
    ...keys && { keys },
    freshUntil: kept + freshFor,
    keepUntil: kept + keepFor,
    checked: -1,
  };
}

/**
 * A view of a part of its buffer brings only that part along. The rest may be
 * anybody's: Node's `Buffer` cuts small ones out of one that all share.
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
    ? "an object with other things than data"
    : `an instance of ${name}`;
}
