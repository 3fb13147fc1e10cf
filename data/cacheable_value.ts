/**
 * Values that all callers of a key can share, or copies of them.
 *
 * @module
 */

import { isResponse } from "../core/http/message.ts";
import { CacheError } from "./error.ts";

/**
 * Checks that each caller can read a value, not only the first one.
 *
 * @throws {CacheError} `NOT_DATA` if it is a response with a body, a stream or an
 * iterator.
 */
export function checkRereadable(key: string, value: unknown): void {
  const [kind, remedy] = readOnceKind(value) ?? [];
  if (kind === undefined) return;
  throw notData(
    key,
    `all callers must be able to read it, received ${kind}; ${remedy}`,
  );
}

/**
 * Returns a copy of a value for one caller.
 *
 * @throws {CacheError} `NOT_DATA` if it can't be cloned, such as a function.
 */
export function cloneValue(key: string, value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (error) {
    const { message } = error as Error;
    throw notData(
      key,
      `with clone, structuredClone() must be able to copy it: ${message}`,
    );
  }
}

function notData(key: string, problem: string): CacheError {
  const name = JSON.stringify(key.slice(0, 100));
  return new CacheError(
    "NOT_DATA",
    `Cannot cache the value of ${name}: ${problem}`,
  );
}

function readOnceKind(value: unknown): readonly string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isResponse(value)) {
    return value.body === null ? undefined : [
      "a Response",
      "return what you read from it, such as await response.json()",
    ];
  }
  if (value instanceof ReadableStream) {
    return ["a ReadableStream", "return its content"];
  }
  const { next } = value as { readonly next?: unknown };
  const isIterator = typeof next === "function" &&
    (Symbol.iterator in value || Symbol.asyncIterator in value);
  return isIterator
    ? ["an iterator", "return an array of its items"]
    : undefined;
}
