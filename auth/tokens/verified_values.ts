import { GenerationMap } from "../../core/collections/generation_map.ts";

/** Maximum characters that are remembered. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** Characters that the meaning of a value counts as. */
const MEANING_LENGTH = 200;
/** Characters of the signature that are hashed. */
const TAIL = 7;

interface Verified<T> {
  readonly value: string;
  readonly meaning: T;
}

/**
 * Remembers signed values that were genuine, so that the cookie that comes with
 * each request is verified once. They may be expired or revoked by now.
 *
 * The key is a hash of the end, which costs a quarter of a look-up by a string
 * that was just cut out of a header. Of two values with one hash, the later one
 * is remembered. Clients can't choose it: a value ends with its signature.
 */
export class VerifiedValues<T> {
  readonly #values = new GenerationMap<number, Verified<T>>({
    maxSize: MAX_LENGTH,
    weigh: ({ value }) => value.length + MEANING_LENGTH,
  });

  /** Returns the meaning of a value that was recently genuine. */
  get(value: string): T | undefined {
    const found = this.#values.get(hashEnd(value));
    return found?.value === value ? found.meaning : undefined;
  }

  /** Remembers that a value is genuine. */
  add(value: string, meaning: T): void {
    this.#values.set(hashEnd(value), { value, meaning });
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
