import { GenerationMap } from "../../core/collections/generation_map.ts";

/** Maximum characters that are remembered. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** Characters that the content of a value counts as. */
const CONTENT_LENGTH = 200;
/** Characters of the signature that are hashed. */
const TAIL = 7;

interface Verified<T> {
  readonly value: string;
  readonly content: T;
}

/**
 * Remembers verified values, so that the cookie of many requests is verified
 * once. The values may have expired or been revoked since.
 *
 * The key is a hash of the value's end. It costs a quarter of a look-up by a
 * string that was just cut out of a header. If two values have one hash, the
 * later one is remembered. Clients can't choose the hash: a value ends with its
 * signature.
 */
export class VerifiedValues<T> {
  readonly #values = new GenerationMap<number, Verified<T>>({
    maxSize: MAX_LENGTH,
    weigh: ({ value }) => value.length + CONTENT_LENGTH,
  });

  /** Returns the content of a recently verified value. */
  get(value: string): T | undefined {
    const found = this.#values.get(hashEnd(value));
    return found?.value === value ? found.content : undefined;
  }

  /** Remembers a verified value. */
  add(value: string, content: T): void {
    this.#values.set(hashEnd(value), { value, content });
  }
}

/** FNV-1a, cut to 30 bits: numbers that V8 keeps without allocating any. */
function hashEnd(value: string): number {
  let hash = 0;
  for (let i = value.length - TAIL; i < value.length; i++) {
    hash = Math.imul(hash ^ value.charCodeAt(i), 0x0100_0193);
  }
  return hash & 0x3fff_ffff;
}
