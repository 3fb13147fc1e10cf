import { assertThrows } from "@std/assert";
import { createRedisStore } from "@quartet/kit/data/redis";
import type { CacheStore } from "@quartet/kit/data";
import { createClient } from "redis";
import { anyRedis, hasRedis, needsRedis } from "../redis_server.ts";
import { testSharedStore } from "./shared_store_contract.ts";

testSharedStore({
  name: needsRedis("createRedisStore()", hasRedis),
  ignore: !hasRedis,
  async make() {
    const redis = await anyRedis();
    const client = createClient({ url: redis.url });
    const name = `test:${crypto.randomUUID()}`;
    const stores: CacheStore[] = [];
    return {
      open(options) {
        const store = createRedisStore({ client, name, ...options });
        stores.push(store);
        return Promise.resolve(store);
      },
      async [Symbol.asyncDispose]() {
        for (const store of stores) await store.close?.();
        await client.connect();
        for await (const keys of client.scanIterator({ MATCH: `${name}*` })) {
          if (keys.length > 0) await client.del(keys);
        }
        await client.close();
        await redis[Symbol.asyncDispose]();
      },
    };
  },
});

Deno.test("createRedisStore() refuses what it can't use", () => {
  const client = createClient();
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const cases: readonly (readonly [any, string])[] = [
    [{}, "client must be one of npm:redis, received undefined"],
    [{ client: "redis://" }, 'received "redis://"'],
    [{ client, name: "" }, "name must be a non-empty string"],
    [{ client, name: 1 }, "received 1"],
    [{ client, lockTime: 0 }, "lockTime must be a number of seconds above 0"],
    [
      { client, lockTime: 3e6 },
      "lockTime must be a number of seconds above 0, and at most 2147483, as long as a timer can wait",
    ],
    [{ client, timeout: -1 }, "timeout must be a number of seconds above 0"],
    [
      { client, timeout: Infinity },
      "timeout must be a number of seconds above 0, and at most 2147483, as long as a timer can wait",
    ],
    [{ client, maxEntries: NaN }, "maxEntries must be a positive number"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => createRedisStore(options), TypeError, message);
  }
});
