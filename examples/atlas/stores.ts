// The type of the stores that several processes of Atlas share.

import type { RateLimitStore, SessionStore } from "@quartet/kit/auth";
import type { CacheStore } from "@quartet/kit/data";
import type { Channel } from "@quartet/kit/rpc";

/** Stores that processes share. */
export interface SharedStores {
  readonly sessions: SessionStore;
  /** The store that counts failed sign-ins. */
  readonly limits: RateLimitStore;
  readonly cache: CacheStore;
  /** A channel for the ids of users whose favourites have changed. */
  readonly changes: Channel<string>;
  /** Closes the stores that no plugin closes. */
  close(): Promise<unknown>;
}
