import { isResponse } from "../core/http/is_response.ts";
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
  throw new CacheError(
    "NOT_DATA",
    `Cannot cache the value of ${
      JSON.stringify(key.slice(0, 100))
    }: all callers must be able to read it, received ${kind}; ${remedy}`,
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
