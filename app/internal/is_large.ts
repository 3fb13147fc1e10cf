import { MAX_LOG_TEXT } from "./without_source.ts";

/** Characters from which on a value is large; an entry counts as one. */
const LARGE = 4 * MAX_LOG_TEXT;
/** Entries of an array, a map or a set that `inspect()` looks at. */
const MAX_ENTRIES = 100;

/**
 * Whether `inspect()` would take long, or make a long text: it writes all of an
 * error's message, and every key of an object. No getter is called but those
 * that every error may have.
 */
export function isLarge(value: unknown): boolean {
  const seen = new Set<unknown>();
  const queue: object[] = [];
  let size = 0;
  const add = (each: unknown) => {
    size += typeof each === "string" ? each.length : 1;
    if (typeof each !== "object" || each === null || seen.has(each)) return;
    seen.add(each);
    queue.push(each);
  };
  add(value);
  // What is added meanwhile is looked at as well.
  for (const each of queue) {
    for (const part of partsOf(each)) {
      add(part);
      if (size > LARGE) return true;
    }
  }
  return size > LARGE;
}

function* partsOf(value: object): Generator<unknown> {
  if (value instanceof Error) {
    yield value.name;
    yield value.message;
    yield value.stack;
  }
  if (ArrayBuffer.isView(value)) return;
  if (Array.isArray(value)) return yield* value.slice(0, MAX_ENTRIES);
  if (value instanceof Map || value instanceof Set) {
    let count = 0;
    for (const entry of value.entries()) {
      if (++count > MAX_ENTRIES) break;
      yield* entry;
    }
  }
  for (const key of Reflect.ownKeys(value)) {
    yield key;
    yield Object.getOwnPropertyDescriptor(value, key)?.value;
  }
}
