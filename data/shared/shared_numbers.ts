import type {
  Dependencies,
  Invalidation,
  InvalidationLog,
} from "../invalidation_log.ts";
import type { Changes, Position } from "./backend.ts";
import { EVERYTHING, invalidationOf } from "./invalidation_names.ts";

/**
 * How much one invalidation that the others don't know of yet counts. As long
 * as fewer than 16,384 of them come together, all numbers below 2^39 are exact.
 */
const STEP = 2 ** -14;

/**
 * Records the invalidations of all processes in the log of this one.
 *
 * The log's numbers are the shared ones plus a base. An invalidation of this
 * process holds here at once, before it has a number that all know. It gets
 * one between the last known and the next, so that what begins now is newer,
 * and yet older than whatever the others have invalidated in the meantime:
 *
 * ```
 *   shared      7                               8
 *   ────────────┼───────┼───────┼───────────────┼────────▶
 *   here      base + 7  │       │             base + 8
 *                     tag a   tag b, not confirmed yet
 * ```
 *
 * A new epoch gets a base that puts all of its numbers after all that there
 * were, and everything from before counts as invalid.
 */
export class SharedNumbers {
  readonly #log: InvalidationLog;
  #base = 0;
  #epoch = "";
  #known = 0;
  #isDoubtful = false;

  /** Begins without an epoch: nothing is known of the others. */
  constructor(log: InvalidationLog) {
    this.#log = log;
  }

  /** How much of what the others did is known here. */
  get position(): Position {
    return { epoch: this.#epoch, number: this.#known };
  }

  /** Notes what only this process knows. */
  note(what: Invalidation): void {
    const number = this.#log.sequence + STEP;
    // Out of room. What is unknown to all others makes everything invalid.
    if (number >= this.#base + this.#known + 1) this.#rebase();
    else this.#log.invalidate(what, number);
  }

  /**
   * Notes what the others know.
   *
   * @returns Whether everything is invalid that there was.
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
   * A number as the others know it, or one that is too small, which only costs
   * a computation. Nothing if it is from before the epoch.
   */
  toShared(number: number): number | undefined {
    const shared = Math.floor(number - this.#base);
    return shared < 1 ? undefined : shared;
  }

  /** A number of the others, as this process knows it. */
  toLocal(number: number): number {
    return this.#base + number;
  }

  /** Whether a record is known to be invalid. Not if memory is only in doubt. */
  isInvalid(record: Dependencies): boolean {
    return !this.#isDoubtful && !this.#log.isValid(record);
  }

  /** Treats everything that began so far as invalid until {@linkcode trust}. */
  doubt(): void {
    // Computations that begin now get a higher number.
    this.note({});
    this.#log.trustFrom(this.#log.sequence);
    this.#isDoubtful = true;
  }

  /** Ends the doubt: what this process knows is all there is to know. */
  trust(): void {
    this.#log.trustFrom(0);
    this.#isDoubtful = false;
  }

  /**
   * Puts all numbers to come after all that there are here. What the others have
   * with the last known number is invalid as well: they can't know of what was
   * only known here.
   */
  #rebase(): void {
    const next = Math.ceil(this.#log.sequence) + 1;
    this.#base = next - this.#known;
    this.#log.raiseFloor(next + STEP);
  }
}
