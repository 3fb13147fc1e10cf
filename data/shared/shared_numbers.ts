import type {
  Dependencies,
  Invalidation,
  InvalidationLog,
} from "../invalidation_log.ts";
import type { Changes, Position } from "./backend.ts";
import { EVERYTHING, invalidationOf } from "./invalidation_names.ts";

/**
 * The step between invalidations that the others don't know of yet. With fewer than
 * 16,384 of them, all numbers below 2^39 are exact.
 */
const STEP = 2 ** -14;

/**
 * Records the invalidations of all processes in the log of this one.
 *
 * The log's numbers are the shared numbers plus a base. An invalidation by this
 * process takes effect at once, before it has a shared number. Until then it gets
 * a number between the last shared one and the next. So computations that start
 * after it are newer, but older than unknown invalidations by others:
 *
 * ```
 *   shared      7                               8
 *   ────────────┼───────┼───────┼───────────────┼────────▶
 *   here      base + 7  │       │             base + 8
 *                     tag a   tag b, not confirmed yet
 * ```
 *
 * In a new epoch, the base exceeds all earlier numbers, and everything from before
 * is invalid.
 */
export class SharedNumbers {
  readonly #log: InvalidationLog;
  #base = 0;
  #epoch = "";
  #known = 0;
  #isDoubtful = false;

  /** Starts without an epoch: nothing is known of the others. */
  constructor(log: InvalidationLog) {
    this.#log = log;
  }

  /** The latest known position of the others. */
  get position(): Position {
    return { epoch: this.#epoch, number: this.#known };
  }

  /** Records an invalidation that only this process knows. */
  note(what: Invalidation): void {
    const number = this.#log.sequence + STEP;
    // No numbers are left before the next shared one: invalidate everything.
    if (number >= this.#base + this.#known + 1) this.#rebase();
    else this.#log.invalidate(what, number);
  }

  /**
   * Records shared invalidations.
   *
   * @returns Whether all earlier records are invalid.
   */
  learn({ epoch, number, scopes, more }: Changes): boolean {
    const isNew = epoch !== this.#epoch;
    if (isNew) {
      this.#epoch = epoch;
      this.#known = 0;
      this.#rebase();
    }
    let all = isNew;
    for (const [name, number] of scopes) {
      this.#log.invalidate(invalidationOf(name), this.#base + number);
      if (name === EVERYTHING && number > this.#known) all = true;
    }
    const last = more ? scopes.at(-1)![1] : number;
    if (last > this.#known) {
      this.#known = last;
      this.#log.invalidate({}, this.#base + last);
    }
    return all;
  }

  /**
   * Returns the shared number of a local one, or a smaller one, which only costs a
   * computation. `undefined` if it is from before the epoch.
   */
  toShared(number: number): number | undefined {
    const shared = Math.floor(number - this.#base);
    return shared < 1 ? undefined : shared;
  }

  /** Returns the local number of a shared one. */
  toLocal(number: number): number {
    return this.#base + number;
  }

  /** Whether a record is known to be invalid, unlike one that is only in doubt. */
  isInvalid(record: Dependencies): boolean {
    return !this.#isDoubtful && !this.#log.isValid(record);
  }

  /** Treats everything so far as invalid until {@linkcode trust}. */
  doubt(): void {
    // Computations that start now get a higher number.
    this.note({});
    this.#log.trustFrom(this.#log.sequence);
    this.#isDoubtful = true;
  }

  /** Ends the doubt, because all invalidations are known. */
  trust(): void {
    this.#log.trustFrom(0);
    this.#isDoubtful = false;
  }

  /**
   * Raises the base, so that all further numbers exceed the present ones. Shared
   * records with the last known number become invalid too, because they don't
   * reflect invalidations that only this process knew.
   */
  #rebase(): void {
    const next = Math.ceil(this.#log.sequence) + 1;
    this.#base = next - this.#known;
    this.#log.raiseFloor(next + STEP);
  }
}
