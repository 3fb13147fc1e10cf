/** Time and chance, in the hands of whoever makes the cache. */
export interface Surroundings {
  /** The time, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  /** A number from 0 to 1, without 1. */
  readonly random: () => number;
}
