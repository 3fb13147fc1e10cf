import { assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { CLIENTS, makeClient } from "./clients.ts";
import {
  eventually,
  promote,
  type RedisPlace,
  startCluster,
  startReplicated,
  startSentinels,
} from "./redis_topology.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await fn();
    }),
  });
}

async function assertClientsWork(place: RedisPlace): Promise<void> {
  for (const name of CLIENTS) {
    await using made = makeClient(name, place);
    await made.connect();
    const client = made.client as unknown as {
      set(key: string, value: string): Promise<unknown>;
      get(key: string): Promise<unknown>;
    };
    await client.set("key", name);
    assertEquals(await client.get("key"), name);
    assertEquals(made.errors, []);
  }
}

test("Each client finds a single server, and a master replaced by its replica", async () => {
  await using redis = await startReplicated();
  await assertClientsWork({ url: redis.master.url });
  const { master, replica } = redis;
  await redis.switch();
  assertEquals(redis.master, replica);
  assertEquals(redis.replica, master);
  assertEquals(await replica.send("GET", "key"), "ioredis");
  await assertClientsWork({ url: replica.url });
});

test("Each client finds Redis through sentinels, which replace a killed master", async () => {
  await using redis = await startSentinels();
  await assertClientsWork(redis.place);
  const old = await redis.master();
  await old.crash();
  await eventually(
    "there is another master",
    async () => await redis.master() !== old,
  );
  await assertClientsWork(redis.place);
  await old.restart();
  await redis.settled();
});

test("Each client finds Redis in a cluster, also after a failover", async () => {
  await using cluster = await startCluster({ replicas: true });
  await assertClientsWork(cluster.place);
  const master = await cluster.masterOf("key");
  const replica = await cluster.replicaOf("key");
  await promote(replica);
  await eventually(
    "the replica is the master",
    async () => await cluster.masterOf("key") === replica,
  );
  await assertClientsWork(cluster.place);
  await eventually(
    "the master is its replica",
    async () => await cluster.replicaOf("key") === master,
  );
});

test("A server can be stopped, killed and started again", async () => {
  await using redis = await startRedis();
  redis.signal("SIGSTOP");
  const answer = redis.send("PING");
  redis.signal("SIGCONT");
  assertEquals(await answer, "PONG");
  await redis.crash();
  await redis.restart();
  assertEquals(await redis.send("PING"), "PONG");
});
