import { assertEquals } from "@std/assert";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import {
  type RedisPlace,
  startCluster,
  startSentinels,
} from "../cluster/redis_topology.ts";
import { UNHURRIED } from "../helpers.ts";
import { replicated } from "../redis_server.ts";
import { range, take } from "./channel_contract.ts";
import {
  begin,
  publishWhenBack,
  testWithServers as test,
} from "./redis_processes.ts";

/** Publishes, subscribes and resumes with each client. */
async function useEach(place: RedisPlace, signal: AbortSignal): Promise<void> {
  for (const name of CLIENTS) {
    await using made = makeClient(name, place);
    // This client knows the master only while it is connected.
    if (name === "redis 5" && "sentinels" in place) await made.connect();
    const { client } = made;
    const options = { client, name, timeout: UNHURRIED };
    await using here = createRedisChannel<number>(options);
    await using there = createRedisChannel<number>(options);
    const stream = await begin(there, signal);
    const ids: string[] = [];
    for (const n of range(1, 20)) ids.push(await here.publish(n));
    assertEquals(await take(stream, 20), range(1, 20), name);
    const resumed = await begin(here, signal, ids[9]);
    assertEquals(await take(resumed, 10), range(11, 20), name);
  }
}

test("Channels work with each client through Sentinel", async (signal) => {
  await using redis = await startSentinels();
  await useEach(redis.place, signal);
});

test("Channels work with each client in a cluster", async (signal) => {
  await using redis = await startCluster();
  await useEach(redis.place, signal);
});

test("A subscription continues with the master that Sentinel elects", async (signal) => {
  await using redis = await startSentinels();
  await using made = makeClient("redis 6", redis.place);
  const { client } = made;
  await using channel = createRedisChannel<number>({
    client,
    name: "c",
    timeout: UNHURRIED,
    onError() {},
  });
  const stream = await begin(channel, signal);
  const master = await redis.master();
  for (const n of range(1, 5)) await channel.publish(n);
  assertEquals(await take(stream, 5), range(1, 5));
  await redis.settled();
  await replicated(master);
  const waiting = stream.next();
  await master.crash();
  await publishWhenBack(channel, 6);
  assertEquals((await waiting).value.value, 6);
});
