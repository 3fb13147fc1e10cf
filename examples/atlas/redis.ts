// Redis stores, for several processes of Atlas.

import {
  createRedisRateLimitStore,
  createRedisSessionStore,
} from "@quartet/kit/auth/redis";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import type { SharedStores } from "./stores.ts";

/**
 * Creates the stores. They connect when they are first used.
 *
 * @param url The address of Redis, such as `redis://127.0.0.1:6379`.
 */
export function openStores(url: string): SharedStores {
  const client = createClient({ url });
  const limits = createRedisRateLimitStore({ client, name: "atlas:limits" });
  const changes = createRedisChannel<string>({ client, name: "atlas:changes" });
  return {
    sessions: createRedisSessionStore({ client, name: "atlas:sessions" }),
    limits,
    cache: createRedisStore({ client, name: "atlas:cache" }),
    changes,
    // The auth plugin and the cache close the other two.
    close: () => Promise.all([limits.close(), changes.close()]),
  };
}
