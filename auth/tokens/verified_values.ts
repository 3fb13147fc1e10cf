/** How many characters of values a generation holds, and how many values. */
const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_COUNT = 10_000;
/** Characters of the signature that are hashed. */
const TAIL = 7;

interface Verified<T> {
  readonly value: string;
  readonly meaning: T;
}

/**
 * Remembers signed values that were found genuine, so that the cookie that
 * comes with each request is verified once. What it remembers may be expired
 * or revoked by now; that is not its affair.
 *
 * Two generations: what isn't asked for while one fills is dropped with the
 * older one. So its size is bounded, without a timer and without moving an entry
 * at each hit. Values are found by a hash of their end, which costs a quarter
 * of a look-up by a string that was just cut out of a header, and compared
 * whole. Of two that share a hash the later one is remembered; nobody can choose
 * to, since the end is that of a signature.
 */
export class VerifiedValues<T> {
  #young = new Map<number, Verified<T>>();
  #old = new Map<number, Verified<T>>();
  #length = 0;

  /** What a value means, if it was found genuine lately. */
  get(value: string): T | undefined {
    const hash = hashEnd(value);
    let found = this.#young.get(hash);
    if (found === undefined) {
      found = this.#old.get(hash);
      if (found === undefined || found.value !== value) return undefined;
      this.#keep(hash, found);
    }
    return found.value === value ? found.meaning : undefined;
  }

  /** Remembers that a value is genuine. */
  add(value: string, meaning: T): void {
    this.#keep(hashEnd(value), { value, meaning });
  }

  #keep(hash: number, verified: Verified<T>): void {
    this.#length += verified.value.length;
    if (this.#length > MAX_LENGTH || this.#young.size >= MAX_COUNT) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#length = verified.value.length;
    }
    this.#young.set(hash, verified);
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
