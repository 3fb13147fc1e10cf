import { Buffer } from "node:buffer";
import { assertEquals, assertThrows } from "@std/assert";
import {
  type CacheStore,
  createCache,
  type MemoryStoreOptions,
} from "@quartet/kit/data";
import { createRedisStore, type RedisClient } from "@quartet/kit/data/redis";
import { Redis } from "ioredis";
import { createClient, createClientPool, RESP_TYPES } from "redis";
import { CLIENTS, makeClient, shareOf } from "../cluster/clients.ts";
import { startCluster, startSentinels } from "../cluster/redis_topology.ts";
import {
  anyRedis,
  hasRedis,
  hasRedisServer,
  needsRedis,
} from "../redis_server.ts";
import { testSharedStore } from "./shared_store_contract.ts";
import { CACHE_LIMITS, STORE_LIMITS } from "./store_contract.ts";

for (const name of CLIENTS) {
  testSharedStore({
    name: needsRedis(`createRedisStore() with ${name}`, hasRedis),
    ignore: !hasRedis,
    async make() {
      const redis = await anyRedis();
      const { client } = makeClient(name, redis);
      return openStores(client, async (name) => {
        await forget(redis.url, name);
        await redis[Symbol.asyncDispose]();
      });
    },
  });
}

/** Deployments of Redis other than a single server. */
const PLACES = [
  ["Sentinel", startSentinels],
  ["a cluster", startCluster],
] as const;

for (const [turn, [what, start]] of PLACES.entries()) {
  Deno.test({
    name: needsRedis(
      `createRedisStore() behaves with ${what} as with one server`,
      hasRedisServer,
    ),
    ignore: !hasRedisServer,
    async fn(context) {
      await using servers = await start();
      for (const client of CLIENTS) {
        const tests: Deno.TestDefinition[] = [];
        testSharedStore({
          name: client,
          async make() {
            const test = makeClient(client, servers.place);
            // Only this client needs connect().
            if (client === "redis 5" && what === "Sentinel") {
              await test.connect();
            }
            return openStores(
              test.client,
              () => test[Symbol.asyncDispose](),
            );
          },
          register: (test) => tests.push(test),
        });
        for (const { name, fn } of shareOf(tests, client, turn)) {
          await context.step(name, () => fn(context));
        }
      }
    },
  });
}

/** Settings that change what a client returns, or when it rejects commands. */
const SETTINGS: Record<string, (url: string) => RedisClient> = {
  "npm:redis that returns bytes": (url) =>
    createClient({
      url,
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    }),
  "npm:redis that returns numbers as strings": (url) =>
    createClient({ url }).withTypeMapping({ [RESP_TYPES.NUMBER]: String }),
  "npm:redis with a short queue": (url) =>
    createClient({ url, commandsQueueMaxLength: 1 }),
  "npm:ioredis that returns numbers as strings": (url) =>
    new Redis(url, { lazyConnect: true, stringNumbers: true }),
};

for (const [name, make] of Object.entries(SETTINGS)) {
  Deno.test({
    name: needsRedis(`Two caches share what they compute: ${name}`, hasRedis),
    ignore: !hasRedis,
    async fn() {
      await using redis = await anyRedis();
      const prefix = `test:${crypto.randomUUID()}`;
      const errors: unknown[] = [];
      const open = () =>
        createCache({
          ...CACHE_LIMITS,
          store: createRedisStore({
            ...STORE_LIMITS,
            client: make(redis.url),
            name: prefix,
          }),
          onError: (error) => errors.push(error),
        });
      const caches = [open(), open()];
      let calls = 0;
      const compute = async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return ++calls;
      };
      for (let round = 1; round <= 2; round++) {
        await Promise.all(
          caches.flatMap((cache) =>
            ["a", "b", "c"].map((key) =>
              cache.cached(key, compute, { maxAge: 60, tags: ["t"] })
            )
          ),
        );
        assertEquals(calls, 3 * round);
        await caches[0]!.revalidateTag("t");
      }
      assertEquals(errors, []);
      for (const cache of caches) await cache.close();
      await forget(redis.url, prefix);
    },
  });
}

Deno.test({
  name: needsRedis(
    "A value that can't be decoded keeps no process waiting",
    hasRedis,
  ),
  ignore: !hasRedis,
  async fn() {
    await using redis = await anyRedis();
    const name = `test:${crypto.randomUUID()}`;
    const client = await createClient({ url: redis.url }).connect();
    const errors: string[] = [];
    const open = () =>
      createCache({
        ...CACHE_LIMITS,
        // A wait until the lock ends by itself would hang the test.
        store: createRedisStore({
          ...STORE_LIMITS,
          client,
          name,
          lockTime: 3_600,
        }),
        onError: (_, operation) => errors.push(operation),
      });
    const caches = [open(), open(), open()];
    const options = { maxAge: 0.01, staleIfError: 60 };
    const place = `{${name}}:cache:k`;
    await caches[0]!.cached("k", () => 0, options);
    let text: string | null;
    while ((text = await client.get(place)) === null);
    const broken = text.replace("[[1],0]", '[[1],["Part",2],[3,4],"Lost",0]');
    await client.set(place, broken, { expiration: "KEEPTTL" });
    for (const cache of caches.slice(1)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      assertEquals(await cache.cached("k", () => 1, options), 1);
    }
    assertEquals(errors, ["use the store"]);
    for (const cache of caches) await cache.close();
    await client.close();
    await forget(redis.url, name);
  },
});

/** Deletes a store's keys, because the Redis of `REDIS_URL` persists. */
async function forget(url: string, name: string): Promise<void> {
  const client = await createClient({ url }).connect();
  for await (const keys of client.scanIterator({ MATCH: `{${name}}*` })) {
    if (keys.length > 0) await client.del(keys);
  }
  await client.close();
}

/** Opens stores with a unique name in a Redis. */
function openStores(
  client: RedisClient,
  end: (name: string) => PromiseLike<void>,
) {
  const name = `test:${crypto.randomUUID()}`;
  const stores: CacheStore[] = [];
  return {
    open(options?: MemoryStoreOptions) {
      const store = createRedisStore({
        client,
        name,
        ...STORE_LIMITS,
        ...options,
      });
      stores.push(store);
      return Promise.resolve<CacheStore>(store);
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store.close?.();
      await end(name);
    },
  };
}

Deno.test("createRedisStore() rejects invalid options", () => {
  const client = createClient();
  const name = "shop";
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const cases: readonly (readonly [any, string])[] = [
    [{ name }, "client must be a client of npm:redis 5 or 6"],
    [{ name }, "(Redis, Cluster), received undefined"],
    [{ name, client: "redis://user:password@host" }, "received a string"],
    [{ name, client: createClientPool() }, "received a pool"],
    [{ name, client: { get() {}, set() {} } }, "received another object"],
    [
      { client },
      'name must be a non-empty string that doesn\'t begin with "}", received undefined',
    ],
    [
      { client, name: "" },
      "name must be a non-empty string that doesn't begin with",
    ],
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
