/**
 * What the engine and those who call it share.
 *
 * @module
 */

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
  /**
   * Whether `compute` may ask for the user. It must then prevent by itself that
   * such a value is stored.
   */
  readonly mayAsk?: boolean;
  /** How long a value is fresh, in milliseconds; 0: it is not kept. */
  readonly lifetime: (value: unknown, policy: Policy) => number;
}
