/**
 * The commands that limits send to Redis, and the data they store there.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createRedisRateLimitStore } from "@quartet/kit/auth/redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import {
  type RedisPlace,
  startCluster,
  startSentinels,
} from "../cluster/redis_topology.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { limitedCall, limitedSignIn, passes } from "./rate_limit_contract.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: () => fn(),
  });
}

/** Returns how often each command was sent or run by a script. */
function countsOf(info: string): Map<string, number> {
  const lines = info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm);
  return new Map([...lines].map(([, name, count]) => [name!, Number(count)]));
}

for (const name of CLIENTS) {
  test(`With ${name}, each call, attempt and success is one EVALSHA`, async () => {
    await using redis = await startRedis();
    await using made = makeClient(name, { url: redis.url });
    await using store = createRedisRateLimitStore({
      client: made.client,
      name: "test",
      timeout: 30,
    });
    const call = limitedCall({ store, limit: 20 });
    const { fail, succeed } = limitedSignIn({ store });
    // Loads the scripts into Redis.
    assertEquals(await call(), 0);
    assertEquals(await succeed("ada", "10.0.0.1"), 0);
    const learned = countsOf(
      await redis.send("INFO", "commandstats") as string,
    );
    assertEquals(learned.get("eval"), 2);

    await redis.send("CONFIG", "RESETSTAT");
    assertEquals(await passes(() => call(), 50), 19);
    assertEquals(await passes(() => fail("ada", "10.0.0.1"), 50), 10);
    assertEquals(await passes(() => succeed("bob", "10.0.0.2"), 5), 5);
    const counts = countsOf(await redis.send("INFO", "commandstats") as string);
    assertEquals(counts.get("evalsha"), 20 + 11 + 2 * 5);
    assertEquals(counts.get("eval"), undefined);
  });
}

test("A restarted Redis gets the scripts again", async () => {
  await using redis = await startRedis();
  await using made = makeClient("redis 6", { url: redis.url });
  await using store = createRedisRateLimitStore({
    client: made.client,
    name: "test",
    timeout: 30,
  });
  const call = limitedCall({ store });
  assertEquals(await call(), 0);
  await redis.send("SCRIPT", "FLUSH");
  assertEquals(await passes(() => call()), 4);
});

test("Keys in Redis begin with a hash tag, expire, and show no account or address", async () => {
  await using redis = await startRedis();
  await using made = makeClient("redis 6", { url: redis.url });
  await using store = createRedisRateLimitStore({
    client: made.client,
    name: "shop",
    timeout: 30,
  });
  await limitedCall({ store })("ada@example.com");
  await limitedCall({ store })("x".repeat(1_000_000));
  const signIn = limitedSignIn({ store });
  await signIn.succeed("ada@example.com", "192.0.2.1");
  const keys = await redis.send("KEYS", "*") as string[];
  const hash = "[\\w-]{43}";
  const shape = new RegExp(
    `^\\{shop\\}:((rpc:calls|sign-in-(address|pair|account):sign-in)|mark):${hash}$`,
  );
  assertEquals(keys.length, 6);
  for (const key of keys) {
    assert(shape.test(key), key);
    assert(await redis.send("PTTL", key) as number > 0, key);
    const value = await redis.send("GET", key) as string;
    assert(/^(\d+ \d+)?$/.test(value), value);
  }
});

test("Stores with different names in one Redis don't share limits", async () => {
  await using redis = await startRedis();
  await using made = makeClient("redis 6", { url: redis.url });
  const { client } = made;
  await using a = createRedisRateLimitStore({ client, name: "a", timeout: 30 });
  await using b = createRedisRateLimitStore({ client, name: "b", timeout: 30 });
  assertEquals(await passes(() => limitedCall({ store: a })()), 5);
  assertEquals(await passes(() => limitedCall({ store: b })()), 5);
});

async function assertLimits(place: RedisPlace): Promise<void> {
  for (const name of CLIENTS) {
    await using made = makeClient(name, place);
    // Only `createSentinel()` of `npm:redis` 5 needs this.
    await made.connect();
    await using store = createRedisRateLimitStore({
      client: made.client,
      name: `of ${name}`,
      timeout: 30,
    });
    const call = limitedCall({ store, fallback: "refuse" });
    assertEquals(await passes(() => call()), 5);
    const { fail, succeed } = limitedSignIn({ store, fallback: "refuse" });
    assertEquals(await succeed("ada", "10.0.0.1"), 0);
    assertEquals(await passes(() => fail("ada", "10.0.0.1")), 10);
  }
}

test("Limits work in a cluster, where all keys of a store are on one shard", async () => {
  await using cluster = await startCluster();
  await assertLimits(cluster.place);
});

test("Limits work with the master that Sentinel names", async () => {
  await using sentinels = await startSentinels();
  await assertLimits(sentinels.place);
});
