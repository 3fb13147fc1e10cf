/** What the engine and those who call it share. */

import type { Policy } from "./options.ts";

/** How a call ended. */
export type Result = "hit" | "stale" | "miss";

/** A call of a cached function. */
export interface Call {
  /** Where the record is. */
  readonly key: string;
  /** What `invalidate(...args)` names. */
  readonly scopeKey: string;
  readonly policy: Policy;
  readonly compute: () => unknown;
  /** How long a value is fresh, in milliseconds; 0: it is not kept. */
  readonly lifetime: (value: unknown, policy: Policy) => number;
}

/** The lifetime of what a function returns. */
export function lifetime(value: unknown, policy: Policy): number {
  return value === undefined || value === null
    ? policy.negativeMaxAge
    : policy.maxAge;
}

/** Time and chance, in the hands of whoever makes the cache. */
export interface Surroundings {
  /** The time, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  /** A number from 0 to 1, without 1. */
  readonly random: () => number;
}
