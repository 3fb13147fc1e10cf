/**
 * Bounds the size of texts, and recognizes values whose text would be large.
 *
 * @module
 */

/**
 * Shortens a text and notes how much is missing. The result doesn't keep the
 * original in memory. In V8, a plain `slice` does.
 *
 * @param text Text of any length.
 * @param maxLength Characters to keep, not counting the note.
 */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Not between the halves of a surrogate pair.
  const last = text.charCodeAt(maxLength - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength;
  const note = `… (${text.length - maxLength} more characters)`;
  return JSON.parse(JSON.stringify(text.slice(0, end) + note));
}

/** A value above this size is large. Each character and each entry counts. */
const MAX_SIZE = 32_768;
/** Entries of an array, a map or a set that `inspect()` looks at. */
const MAX_ENTRIES = 100;
/** A value that is nested deeper is large. It bounds the recursion. */
const MAX_NESTING = 500;

/**
 * Whether `inspect()` would take long or return a long text. It writes an
 * error's whole message, every key of an object, and each shared object again.
 * The check calls no getters, except `name`, `message` and `stack` of an error.
 */
export function isLarge(value: unknown): boolean {
  /** The objects around the current one, which `inspect()` doesn't repeat. */
  const ancestors = new Set<object>();
  let size = 0;

  function fits(value: unknown): boolean {
    size += typeof value === "string" ? value.length : 1;
    if (size > MAX_SIZE) return false;
    if (typeof value !== "object" || value === null) return true;
    if (ancestors.has(value)) return true;
    if (ancestors.size === MAX_NESTING) return false;
    ancestors.add(value);
    for (const part of partsOf(value)) if (!fits(part)) return false;
    return ancestors.delete(value);
  }
  return !fits(value);
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
