// Stores that several processes of Atlas share.

import type { RateLimitStore, SessionStore } from "@quartet/kit/auth";
import type { CacheStore } from "@quartet/kit/data";
import type { Channel } from "@quartet/kit/rpc";

/** Stores between the processes. */
export interface SharedStores {
  /** The sessions. */
  readonly sessions: SessionStore;
  /** The counts of failed sign-ins. */
  readonly limits: RateLimitStore;
  /** The pages that are kept. */
  readonly cache: CacheStore;
  /** The channel of users whose favourites have changed. */
  readonly changes: Channel<string>;
  /** Closes those that nothing else closes. */
  close(): Promise<unknown>;
}
