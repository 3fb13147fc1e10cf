/**
 * For how long memory is trusted: until `maxStaleness` after the process last
 * knew of all invalidations. It costs one look at the clock.
 *
 * ```
 *   asked, all known   asked again          cut off
 *   ──────┼────────────────┼───────────────────┼──────────┼─────────▶
 *         └── trusted ─────┴── trusted ───────────────────┘  doubt
 * ```
 */
export class Trust {
  readonly #ms: number;
  readonly #now: () => number;
  #since = -Infinity;

  /**
   * Creates a trust that is over.
   *
   * @param ms How long it lasts, in milliseconds.
   */
  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  /** Begins anew with a time at which all was known. */
  renew(since: number): void {
    this.#since = since;
  }

  /** Whether it is over. Then it begins anew: the caller drops what was known. */
  isOver(): boolean {
    if (this.#ms === Infinity) return false;
    const time = this.#now();
    const age = time - this.#since;
    // Negative after the clock was put back.
    if (age >= 0 && age < this.#ms) return false;
    this.#since = time;
    return true;
  }
}
