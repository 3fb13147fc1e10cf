import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { startFaultProxy } from "../cluster/fault_proxy.ts";
import { startReplicated } from "../cluster/redis_topology.ts";
import { replicated, startRedis } from "../redis_server.ts";
import { assertLost, range, take } from "./channel_contract.ts";
import {
  begin,
  openProcess,
  publishWhenBack,
  testWithServers as test,
} from "./redis_processes.ts";

/** Returns the number of connections of a server that wait for messages. */
async function readers(
  redis: { send(...command: string[]): Promise<unknown> },
): Promise<number> {
  return String(await redis.send("CLIENT", "LIST")).split("cmd=xread").length -
    1;
}

test("Demoting the master while a subscription waits loses and repeats nothing", async (signal) => {
  await using redis = await startReplicated();
  const [old, next] = [redis.master, redis.replica];
  await using proxy = startFaultProxy(old.port);
  // One follows the master's address, the other stays with the old master.
  await using here = openProcess(proxy.url);
  await using there = openProcess(old.url);
  await using other = openProcess(next.url);
  const streams = await Promise.all(
    [here, there].map(({ channel }) => begin(channel, signal)),
  );
  for (const n of range(1, 5)) await here.channel.publish(n);
  for (const stream of streams) {
    assertEquals(await take(stream, 5), range(1, 5));
  }
  const waiting = streams.map((stream) => stream.next());
  while (await readers(old) < 2);

  await redis.switch();
  await other.channel.publish(6);
  for (const result of waiting) assertEquals((await result).value.value, 6);
  await assertRejects(() => there.channel.publish(0), UnavailableError);

  proxy.target = next.port;
  proxy.cut();
  for (const n of range(7, 9)) await publishWhenBack(here.channel, n);
  for (const stream of streams) assertEquals(await take(stream, 3), [7, 8, 9]);
});

test("Subscribers that have seen more than the new master are notified of a loss", async (signal) => {
  await using redis = await startReplicated();
  await using proxy = startFaultProxy(redis.master.port);
  await using here = openProcess(proxy.url);
  const stream = await begin(here.channel, signal);
  const first = await here.channel.publish(1);
  await replicated(redis.master);
  // The replica is detached before it gets the next message.
  await redis.replica.send("REPLICAOF", "NO", "ONE");
  const second = await here.channel.publish(2);
  assertEquals(await take(stream, 2), [1, 2]);
  proxy.target = redis.replica.port;
  proxy.cut();
  await assertLost(stream);

  // A process that never saw the old master also reports the loss.
  await using fresh = openProcess(proxy.url);
  await assertLost(await begin(fresh.channel, signal, second));
  const resumed = await begin(fresh.channel, signal, first);
  const anew = await begin(here.channel, signal);
  await publishWhenBack(here.channel, 3);
  assertEquals(await take(resumed, 1), [3]);
  assertEquals(await take(anew, 1), [3]);
});

test("A new master with smaller ids than those seen skips no message silently", async (signal) => {
  await using old = await startRedis();
  await using next = await startRedis();
  // Both have the first entry. The old master's clock is years ahead.
  for (const redis of [old, next]) {
    await redis.send("XADD", "c", "1-1", "v", "1");
  }
  await old.send("XADD", "c", "90000000000000-1", "v", "2");
  await using proxy = startFaultProxy(old.port);
  await using here = openProcess(proxy.url);
  const stream = await begin(here.channel, signal, "1-1");
  assertEquals(await take(stream, 1), [2]);
  const lastEventId = await here.channel.publish(3);
  assert(lastEventId.startsWith("90000000000000-"), lastEventId);
  assertEquals(await take(stream, 1), [3]);
  proxy.target = next.port;
  proxy.cut();
  const lost = assertLost(stream);
  await publishWhenBack(here.channel, 4);
  await lost;
  await assertLost(here.channel.subscribe(signal, { lastEventId }));
  const anew = await begin(here.channel, signal);
  await here.channel.publish(5);
  assertEquals(await take(anew, 1), [5]);
});

test("Replacing a stream while a subscription waits is reported as a loss", async (signal) => {
  await using redis = await startRedis();
  await redis.send("XADD", "c", "90000000000000-1", "v", "1");
  await using here = openProcess(redis.url, { timeout: 1 });
  const stream = await begin(here.channel, signal, "90000000000000-1");
  const next = assertLost(stream);
  while (await readers(redis) === 0);
  // As after a full synchronisation: no connection breaks, and the ids are
  // smaller, so no message wakes the reader.
  await redis.send(
    "EVAL",
    `redis.call("DEL", KEYS[1]) redis.call("XADD", KEYS[1], "*", "v", "2")`,
    "1",
    "c",
  );
  await next;
  const anew = await begin(here.channel, signal);
  await here.channel.publish(3);
  assertEquals(await take(anew, 1), [3]);
});

test("A server that is loading, read-only or full counts as unavailable", async (signal) => {
  await using redis = await startRedis();
  await using here = openProcess(redis.url);
  const stream = await begin(here.channel, signal);
  await here.channel.publish(1);
  assertEquals(await take(stream, 1), [1]);
  const waiting = stream.next();

  await redis.send("REPLICAOF", "127.0.0.1", "1");
  await assertRejects(() => here.channel.publish(0), UnavailableError);
  await redis.send("REPLICAOF", "NO", "ONE");
  await publishWhenBack(here.channel, 2);
  assertEquals((await waiting).value.value, 2);

  await redis.send("CONFIG", "SET", "maxmemory", "1");
  await assertRejects(() => here.channel.publish(0), UnavailableError);
  await redis.send("CONFIG", "SET", "maxmemory", "0");
  await here.channel.publish(3);
  assertEquals(await take(stream, 1), [3]);
});

for (const name of CLIENTS) {
  test(`A server that requires a password for a while counts as unavailable: ${name}`, async (signal) => {
    await using redis = await startRedis();
    const { client } = makeClient(name, redis);
    await using channel = createRedisChannel<number>({
      client,
      name: "c",
      onError() {},
    });
    const stream = await begin(channel, signal);
    await channel.publish(1);
    assertEquals(await take(stream, 1), [1]);
    const waiting = stream.next();

    const admin = createClient({ url: redis.url });
    await admin.connect();
    await admin.sendCommand(["CONFIG", "SET", "requirepass", "secret"]);
    await admin.sendCommand(["CLIENT", "KILL", "TYPE", "normal"]);
    for (let refused = 0; refused < 3;) {
      const error = await assertRejects(
        () => channel.publish(0),
        UnavailableError,
      );
      if (error.message.includes("NOAUTH")) refused++;
    }
    await admin.sendCommand(["CONFIG", "SET", "requirepass", ""]);
    admin.destroy();
    await publishWhenBack(channel, 2);
    assertEquals((await waiting).value.value, 2);
  });
}
