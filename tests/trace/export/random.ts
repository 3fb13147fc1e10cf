/** Numbers that look random and are the same for the same seed (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number from 0 up to 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** True in `share` of the cases. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  /** One of the list. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** So many bytes in hexadecimal. */
  hex(bytes: number): string {
    let text = "";
    for (let i = 0; i < bytes; i++) {
      text += this.below(256).toString(16).padStart(2, "0");
    }
    return text;
  }
}
