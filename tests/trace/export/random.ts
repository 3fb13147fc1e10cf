/** Pseudo-random numbers, reproducible by seed (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** Returns `true` with this probability. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  /** Returns a random item of a list. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Returns random bytes in hexadecimal. */
  hex(bytes: number): string {
    let text = "";
    for (let i = 0; i < bytes; i++) {
      text += this.below(256).toString(16).padStart(2, "0");
    }
    return text;
  }
}
