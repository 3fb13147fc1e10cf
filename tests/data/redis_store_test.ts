import { assertThrows } from "@std/assert";
import { createRedisStore } from "@quartet/kit/data/redis";
import type { CacheStore } from "@quartet/kit/data";
import { createClient, createClientPool } from "redis";
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
        for await (const keys of client.scanIterator({ MATCH: `{${name}}*` })) {
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
  const name = "shop";
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const cases: readonly (readonly [any, string])[] = [
    [{ name }, "client must be a client of npm:redis 5 or 6"],
    [{ name }, "(Redis, Cluster), received undefined"],
    [{ name, client: "redis://user:password@host" }, "received a string"],
    [{ name, client: createClientPool() }, "received a pool"],
    [{ name, client: { get() {}, set() {} } }, "received another object"],
    [{ client }, "name must be a non-empty string, received undefined"],
    [{ client, name: "" }, "name must be a non-empty string"],
    [{ client, name: 1 }, "received 1"],
    [
      { client, name, lockTime: 0 },
      "lockTime must be a number of seconds above 0",
    ],
    [
      { client, name, lockTime: 3e6 },
      "lockTime must be a number of seconds above 0, and at most 2147483, as long as a timer can wait",
    ],
    [
      { client, name, timeout: -1 },
      "timeout must be a number of seconds above 0",
    ],
    [
      { client, name, timeout: Infinity },
      "timeout must be a number of seconds above 0, and at most 2147483, as long as a timer can wait",
    ],
    [
      { client, name, maxStaleness: 0 },
      "maxStaleness must be a number of seconds above 0, or Infinity, received 0",
    ],
    [{ client, name, strict: 1 }, "strict must be true or false, received 1"],
    [{ client, name, maxEntries: NaN }, "maxEntries must be a positive number"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => createRedisStore(options), TypeError, message);
  }
});
