/** What the engine and those who call it share. */

import type { Policy } from "./options.ts";
import type { Dated } from "./scope_table.ts";
import type { CacheRecord } from "./store.ts";

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

/** A computation under way, and whatever is known about its result. */
export interface Flight extends Dated {
  began: number;
  /** When it was set going. */
  readonly since: number;
  /** The record of the key when the function was called. */
  before: CacheRecord | undefined;
  result: Result;
  readonly promise: Promise<unknown>;
}
