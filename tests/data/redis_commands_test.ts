/**
 * How many commands the cache sends to Redis, as counted by Redis.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { type Cache, createCache } from "@quartet/kit/data";
import {
  createRedisStore,
  type RedisStoreOptions,
} from "@quartet/kit/data/redis";
import { createClient } from "redis";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../redis_server.ts";
import { until } from "./store_contract.ts";

interface Subject {
  readonly redis: RedisServer;
  /** Opens a cache in the same store. It doesn't poll. */
  open(options?: Partial<RedisStoreOptions>): Promise<Cache>;
  /** Returns how often each command was sent while a function ran. */
  count(run: () => Promise<unknown>): Promise<Record<string, number>>;
}

function test(name: string, fn: (subject: Subject) => Promise<void>): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    async fn() {
      await using redis = await startRedis();
      await using stack = new AsyncDisposableStack();
      await fn({
        redis,
        async open(options = {}) {
          const store = createRedisStore({
            client: createClient({ url: redis.url }),
            name: "test",
            timeout: 600,
            maxStaleness: 600,
            ...options,
          });
          const cache = createCache({ store });
          stack.defer(() => cache.close());
          // Each script is loaded once.
          await cache.cached("first", () => 1, { maxAge: 60 });
          await cache.revalidateTag("first");
          await cache.cached("second", () => 1, { maxAge: 60 });
          await until(async () =>
            await redis.send("EXISTS", "{test}:cache:second") === 1
          );
          return cache;
        },
        async count(run) {
          await redis.send("CONFIG", "RESETSTAT");
          await run();
          const text = await redis.send("INFO", "commandstats") as string;
          const counts: Record<string, number> = {};
          // Commands within a script count too, but need no round trip.
          for (
            const [, name, calls] of text.matchAll(
              /^cmdstat_(evalsha|eval|publish|ping|subscribe):calls=(\d+)/gm,
            )
          ) counts[name!] = Number(calls);
          return counts;
        },
      });
    },
  });
}

test("A cold miss takes two round trips, a warm one takes one, and a hit none", async ({ open, count, redis }) => {
  const [one, other] = [await open(), await open()];
  const load = (cache: Cache, i: number) =>
    cache.cached(`k${i}`, () => i, { maxAge: 60, tags: ["a", "b"] });
  const all = async (cache: Cache) => {
    for (let i = 0; i < 50; i++) assertEquals(await load(cache, i), i);
    await until(async () =>
      await redis.send("EXISTS", "{test}:cache:k49") === 1
    );
    assertEquals(await redis.send("KEYS", "*cache-lock*"), []);
  };
  assertEquals(await count(() => all(one)), { evalsha: 100 });
  assertEquals(await count(() => all(one)), {});
  assertEquals(await count(() => all(other)), { evalsha: 50 });
});

test("An invalidated value in memory takes two round trips", async ({ open, count, redis }) => {
  const [one, other] = [await open(), await open()];
  let version = 1;
  const load = (cache: Cache) =>
    cache.cached("k", () => version, { maxAge: 60, tags: ["a"] });
  for (const cache of [one, other]) await load(cache);
  for (version = 2; version < 10; version++) {
    const counts = await count(async () => {
      await one.revalidateTag("a");
      assertEquals(await load(one), version);
      await until(async () => await load(other) === version);
      await until(async () =>
        await redis.send("EXISTS", "{test}:cache-lock:k") === 0
      );
    });
    // The invalidation and its fetch by the other process, the miss, and the
    // other's look-up.
    assertEquals(counts, { evalsha: 5, publish: 1 });
  }
  // A process that never had the value looks at the old one first.
  await one.revalidateTag("a");
  const late = await open();
  const counts = await count(async () => {
    assertEquals(await load(late), version);
    await until(async () =>
      await redis.send("EXISTS", "{test}:cache-lock:k") === 0
    );
  });
  assertEquals(counts, { evalsha: 3 });
});

test("An invalidation of any size takes one round trip", async ({ open, count }) => {
  const cache = await open();
  for (const size of [1, 100, 10_000, 30_000]) {
    const tags = Array.from({ length: size }, (_, i) => `${size}:${i}`);
    const load = () =>
      cache.cached(`k${size}`, () => size, {
        maxAge: 60,
        tags: [tags.at(-1)!],
      });
    await load();
    const counts = await count(async () => {
      assert((await cache.revalidateTag(...tags)).success);
    });
    assertEquals(counts, { evalsha: 1, publish: 1 }, `${size}`);
    // A process that starts later learns of each.
    const late = await open();
    let computed = 0;
    await late.cached(`k${size}`, () => ++computed, {
      maxAge: 60,
      tags: [tags.at(-1)!],
    });
    assertEquals(computed, 1);
    await late.close();
  }
});

test("Concurrent strict hits share their round trips", async ({ open, count }) => {
  const cache = await open({ strict: true });
  const load = () => cache.cached("k", () => 1, { maxAge: 60 });
  await load();
  const one = await count(load);
  assertEquals(one, { evalsha: 1 });
  const many = await count(() =>
    Promise.all(Array.from({ length: 1_000 }, load))
  );
  assert(many["evalsha"]! <= 2, `${many["evalsha"]}`);
});

test("Scripts are sent once per Redis, and again after Redis loses them", async ({ open, count, redis }) => {
  const cache = await open();
  await redis.send("SCRIPT", "FLUSH");
  const load = () => cache.cached("k", () => 1, { maxAge: 60, tags: ["a"] });
  const counts = await count(async () => {
    assertEquals(await load(), 1);
    assert((await cache.revalidateTag("a")).success);
  });
  // Each unknown script takes one more round trip, once.
  assertEquals(counts["eval"], 3);
  assertEquals((await count(load))["eval"], undefined);
});
