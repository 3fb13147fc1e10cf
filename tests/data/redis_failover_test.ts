/**
 * Caches while another server of Redis takes over.
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

const SCOPES = "{test}:cache-scopes";

/**
 * Waits for what clients leave behind when they are closed: `npm:ioredis` looks
 * for two seconds whether a connection to a cluster has ended, and `npm:redis` 5
 * whether a master that is gone has come back.
 */
function settle(): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => setTimeout(resolve, 3_000)),
  };
}

/** A cache as one process would have it. */
function open(client: RedisClient, source: { version: number }) {
  const store = createRedisStore({ client, name: "test" });
  const cache = createCache({ store, onError: () => {} });
  return {
    ping: () => store.ping().then(() => true),
    revalidate: async () => (await cache.revalidateTag("a")).success,
    load: () =>
      cache.cached("k", () => source.version, { maxAge: 600, tags: ["a"] }),
    [Symbol.asyncDispose]: () => cache.close(),
  };
}

/** No value is from before another master that Sentinel has chosen. */
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
  await eventually("the master is told", () => one.revalidate());
  // The replica hasn't received it, as may be when a master is lost.
  await replica.send("CONFIG", "SET", "replica-read-only", "no");
  await eventually(
    "the replica has it",
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
  await eventually("the new one is told", () => other.revalidate());
  await eventually("the other knows", async () => await one.load() === 3);
}

/** Caches go on when another master of a cluster takes over. */
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
    await eventually("it can be invalidated", () => one.revalidate());
    await eventually(
      "the other knows",
      async () => await other.load() === source.version,
    );
    assertEquals(await one.load(), source.version);
    await eventually("the other master is a replica", async () => {
      return how === "crash" ||
        await servers.replicaOf(SCOPES) === master;
    });
  }
}

// The clients side by side, for most of the time is spent waiting.
for (
  const [behaviour, failOver] of [
    [
      "After Sentinel has chosen another master, no value is from before",
      failOverBySentinel,
    ],
    [
      "Caches go on when another master of a cluster takes over",
      failOverInCluster,
    ],
  ] as const
) {
  Deno.test({
    name: needsRedis(`${behaviour}, with each client`, hasRedisServer),
    ignore: !hasRedisServer,
    async fn() {
      const results = await Promise.allSettled(CLIENTS.map(failOver));
      assertEquals(results.filter(({ status }) => status === "rejected"), []);
    },
  });
}
