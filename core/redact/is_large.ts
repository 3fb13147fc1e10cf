import { MAX_LOG_TEXT } from "./without_source.ts";

/** A value above this size is large. Each character and each entry counts. */
const LARGE = 4 * MAX_LOG_TEXT;
/** Entries of an array, a map or a set that `inspect()` looks at. */
const MAX_ENTRIES = 100;

/**
 * Whether `inspect()` would take long or return a long text. It writes an
 * error's whole message, every key of an object, and each shared object again.
 * The check calls no getters, except `name`, `message` and `stack` of an error.
 */
export function isLarge(value: unknown): boolean {
  /** The objects around the current one, which `inspect()` doesn't repeat. */
  const around = new Map<object, Generator<unknown>>();
  let size = 0;
  const enter = (each: unknown) => {
    size += typeof each === "string" ? each.length : 1;
    if (typeof each !== "object" || each === null || around.has(each)) return;
    around.set(each, partsOf(each));
    path.push(each);
  };
  const path: object[] = [];
  enter(value);
  while (path.length > 0 && size <= LARGE) {
    const { done, value } = around.get(path.at(-1)!)!.next();
    if (done) around.delete(path.pop()!);
    else enter(value);
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
  // Each character is its own key.
  if (value instanceof String) {
    return yield String.prototype.valueOf.call(value);
  }
  if (Array.isArray(value)) return yield* value.slice(0, MAX_ENTRIES);
  if (value instanceof Map || value instanceof Set) {
    let count = 0;
    for (const entry of value.entries()) {
      if (++count > MAX_ENTRIES) break;
      yield* entry;
    }
  }
  // These show their content without keys.
  if (
    value instanceof URLSearchParams || value instanceof FormData ||
    value instanceof Headers
  ) {
    for (const entry of value) yield* entry;
  }
  for (const key of Reflect.ownKeys(value)) {
    yield key;
    yield Object.getOwnPropertyDescriptor(value, key)?.value;
  }
}
