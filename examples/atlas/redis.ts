// The stores of several processes, in one Redis.

import {
  createRedisRateLimitStore,
  createRedisSessionStore,
} from "@quartet/kit/auth/redis";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import type { SharedStores } from "./stores.ts";

/**
 * Makes the stores.
 *
 * @param url Where Redis is, such as `redis://127.0.0.1:6379`.
 */
export async function openStores(url: string): Promise<SharedStores> {
  const client = createClient({ url });
  client.on("error", (error) => console.error("Redis:", error.message));
  await client.connect();
  const limits = createRedisRateLimitStore({ client, name: "atlas:limits" });
  const changes = createRedisChannel<string>({ client, name: "atlas:changes" });
  return {
    sessions: createRedisSessionStore({ client, name: "atlas:sessions" }),
    limits,
    cache: createRedisStore({ client, name: "atlas:cache" }),
    changes,
    async close() {
      await Promise.all([limits.close(), changes.close()]);
      await client.close();
    },
  };
}
