/**
 * Trusts memory until `maxStaleness` after the process last knew all invalidations.
 * A check only reads the clock.
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
   * Creates a trust that has expired.
   *
   * @param ms How long it lasts, in milliseconds.
   */
  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  /** Renews it from a time at which all invalidations were known. */
  renew(since: number): void {
    this.#since = since;
  }

  /** Whether it has expired. If so, it is renewed: the caller drops its memory. */
  isOver(): boolean {
    if (this.#ms === Infinity) return false;
    const time = this.#now();
    const age = time - this.#since;
    // Negative after the system clock moved backwards.
    if (age >= 0 && age < this.#ms) return false;
    this.#since = time;
    return true;
  }
}
