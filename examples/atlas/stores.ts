// What the processes of Atlas share, if there are several.

import type { RateLimitStore, SessionStore } from "@quartet/kit/auth";
import type { CacheStore } from "@quartet/kit/data";
import type { Channel } from "@quartet/kit/rpc";

/** Stores between the processes. */
export interface SharedStores {
  /** Who has signed in. */
  readonly sessions: SessionStore;
  /** Who fails to sign in, and how often. */
  readonly limits: RateLimitStore;
  /** The pages that are kept. */
  readonly cache: CacheStore;
  /** Whose favourites, or whose sessions, have changed. */
  readonly changes: Channel<string>;
  /** Closes what they hold. */
  close(): Promise<void>;
}
