/**
 * Caches during a failover to another Redis server.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createCache } from "@quartet/kit/data";
import { createRedisStore, type RedisClient } from "@quartet/kit/data/redis";
import { type ClientName, CLIENTS, makeClient } from "../cluster/clients.ts";
import {
  eventually,
  promote,
  startCluster,
  startSentinels,
} from "../cluster/redis_topology.ts";
import { hasRedisServer, needsRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";

const SCOPES = "{test}:cache-scopes";

/**
 * Waits for work that closed clients leave behind. `npm:ioredis` checks for two
 * seconds whether a connection to a cluster has ended. `npm:redis` 5 checks
 * whether a lost master has come back.
 */
function settle(): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => setTimeout(resolve, 3_000)),
  };
}

/** Opens a cache as one process would. */
function open(client: RedisClient, source: { version: number }) {
  // On a busy machine, a second isn't enough to find a new master.
  const store = createRedisStore({ client, name: "test", timeout: 5 });
  const cache = createCache({ store, onError: () => {} });
  return {
    ping: () => store.ping().then(() => true),
    revalidate: async () => (await cache.revalidateTag("a")).success,
    load: () =>
      cache.cached("k", () => source.version, { maxAge: 600, tags: ["a"] }),
    [Symbol.asyncDispose]: () => cache.close(),
  };
}

/** After Sentinel chose another master, no value is from before. */
async function failOverBySentinel(
  name: ClientName,
): Promise<void> {
  await using servers = await startSentinels();
  await using _after = settle();
  await using made = makeClient(name, servers.place);
  if (name === "redis 5") await made.connect();
  const source = { version: 1 };
  await using one = open(made.client, source);
  await using other = open(made.client, source);
  for (const cache of [one, other]) assertEquals(await cache.load(), 1);
  const master = await servers.master();
  const replica = servers.nodes.find((node) => node !== master)!;
  source.version = 2;
  await eventually(
    "the master receives the invalidation",
    () => one.revalidate(),
  );
  // The replica loses it, as may happen when a master fails.
  await replica.send("CONFIG", "SET", "replica-read-only", "no");
  await eventually(
    "the replica received it",
    async () => await replica.send("ZREM", SCOPES, "ta") === 1,
  );
  await master.crash();
  await eventually("both are connected", async () => {
    const isNew = await servers.master() === replica;
    return isNew && await one.ping() && await other.ping();
  });
  await using late = open(made.client, source);
  for (const cache of [late, other, one]) {
    assertEquals(await cache.load(), 2);
  }
  source.version = 3;
  await eventually(
    "the new master receives the invalidation",
    () => other.revalidate(),
  );
  await eventually("the other knows", async () => await one.load() === 3);
}

/** Caches work after a failover in a cluster. */
async function failOverInCluster(
  name: ClientName,
): Promise<void> {
  await using servers = await startCluster({ replicas: true });
  await using _after = settle();
  await using made = makeClient(name, servers.place);
  const source = { version: 1 };
  await using one = open(made.client, source);
  await using other = open(made.client, source);
  for (const cache of [one, other]) assertEquals(await cache.load(), 1);
  for (const how of ["switch", "crash"]) {
    const master = await servers.masterOf(SCOPES);
    const replica = await servers.replicaOf(SCOPES);
    if (how === "crash") await master.crash();
    else await promote(replica);
    await eventually(
      "the replica has taken over",
      async () => await servers.masterOf(SCOPES) === replica,
    );
    source.version++;
    await eventually("an invalidation succeeds", () => one.revalidate());
    await eventually(
      "the other knows",
      async () => await other.load() === source.version,
    );
    assertEquals(await one.load(), source.version);
    await eventually("the former master is a replica", async () => {
      return how === "crash" ||
        await servers.replicaOf(SCOPES) === master;
    });
  }
}

// The clients run concurrently, because most of the time is spent waiting.
for (
  const [behaviour, failOver] of [
    [
      "After a failover by Sentinel, no value is from before",
      failOverBySentinel,
    ],
    [
      "Caches work after a failover in a cluster",
      failOverInCluster,
    ],
  ] as const
) {
  Deno.test({
    name: needsRedis(`${behaviour}, with each client`, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      const results = await Promise.allSettled(CLIENTS.map(failOver));
      assertEquals(results.filter(({ status }) => status === "rejected"), []);
    }),
  });
}
