import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { tracked } from "@quartet/kit/rpc";
import { startFaultProxy } from "../cluster/fault_proxy.ts";
import { DURABLE } from "../cluster/redis_topology.ts";
import { startRedis } from "../redis_server.ts";
import { assertLost, range, take } from "./channel_contract.ts";
import {
  begin,
  openProcess,
  publishWhenBack,
  testWithServers as test,
  untilBack,
} from "./redis_processes.ts";

test("Killing and restarting Redis in mid-stream loses and duplicates nothing", async (signal) => {
  await using redis = await startRedis(DURABLE);
  await using here = openProcess(redis.url);
  await using there = openProcess(redis.url);
  const streams = await Promise.all(
    [here, there].map(({ channel }) => begin(channel, signal)),
  );
  const seen: number[][] = [[], []];
  let last = -1;
  const reading = streams.map(async (stream, i) => {
    for await (const { value } of stream) {
      seen[i]!.push(value);
      if (value === last) break;
    }
  });

  const acknowledged: number[] = [];
  let rejected = 0;
  let next = 0;
  /** Publishes each number once. A rejected one may have been stored or not. */
  async function publishTo(count: number): Promise<void> {
    for (const end = next + count; next < end;) {
      const value = next++;
      try {
        await (value % 2 ? here : there).channel.publish(value);
        acknowledged.push(value);
      } catch (error) {
        assert(error instanceof UnavailableError, String(error));
        rejected++;
      }
    }
  }

  for (let round = 0; round < 4; round++) {
    await publishTo(200);
    const publishing = publishTo(300);
    const enough = acknowledged.length + 100;
    while (acknowledged.length < enough) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await redis.crash();
    await redis.restart();
    await publishing;
    for (const { channel } of [here, there]) await untilBack(channel);
  }
  last = next;
  await publishWhenBack(here.channel, last);
  acknowledged.push(last);
  await Promise.all(reading);

  assert(rejected > 0, "no call was in flight when Redis was killed");
  for (const values of seen) {
    assertEquals(values, [...new Set(values)].sort((a, b) => a - b));
    const got = new Set(values);
    assertEquals(acknowledged.filter((value) => !got.has(value)), []);
    assert(values.length <= acknowledged.length + rejected);
  }
  assertEquals(seen[0], seen[1]);
});

test("Messages published while a process was disconnected reach it later", async (signal) => {
  await using redis = await startRedis();
  await using proxy = startFaultProxy(redis.port);
  await using here = openProcess(proxy.url);
  await using there = openProcess(redis.url);
  const streams = range(1, 3).map(() => here.channel.subscribe(signal));
  await here.channel.publish(0);
  for (const stream of streams) assertEquals(await take(stream, 1), [0]);
  proxy.set("refuse");
  for (const value of range(1, 1000)) await there.channel.publish(value);
  proxy.set("forward");

  for (const stream of streams) {
    assertEquals(await take(stream, 1000), range(1, 1000));
  }
});

test("Missing more messages than the history holds is reported as a loss", async (signal) => {
  await using redis = await startRedis();
  await using proxy = startFaultProxy(redis.port);
  await using here = openProcess(proxy.url);
  await using there = openProcess(redis.url);
  const stream = here.channel.subscribe(signal);
  await here.channel.publish(0);
  assertEquals(await take(stream, 1), [0]);
  proxy.set("refuse");
  for (let i = 0; i < 12; i++) {
    await Promise.all(range(1, 100).map((n) => there.channel.publish(n)));
  }
  proxy.set("forward");
  await assertLost(stream);
});

test("A Redis that restarts without its data is reported as a loss", async (signal) => {
  await using redis = await startRedis();
  await using here = openProcess(redis.url);
  const stream = here.channel.subscribe(signal);
  const lastEventId = await here.channel.publish(1);
  assertEquals(await take(stream, 1), [1]);
  await redis.crash();
  await redis.restart();
  await assertLost(stream);
  await assertLost(here.channel.subscribe(signal, { lastEventId }));
  await untilBack(here.channel);
  const next = here.channel.subscribe(signal);
  await here.channel.publish(2);
  assertEquals(await take(next, 1), [2]);
});

test("While Redis is down, subscriptions wait and publish() rejects, which is reported once", async (signal) => {
  await using redis = await startRedis(DURABLE);
  await using here = openProcess(redis.url);
  const lastEventId = await here.channel.publish(1);
  const running = await begin(here.channel, signal);
  const waiting = running.next();
  await redis.crash();
  await using fresh = openProcess(redis.url);
  for (const { channel } of [here, fresh]) {
    for (let i = 0; i < 3; i++) {
      const error = await assertRejects(
        () => channel.publish(0),
        UnavailableError,
        "Cannot reach channel c: ",
      );
      assert(!error.message.includes(redis.url));
    }
    await assertRejects(() => channel.ping(), UnavailableError);
  }
  const streams = [here, fresh].flatMap(({ channel }) => [
    channel.subscribe(signal, { lastEventId }),
    channel.subscribe(signal),
  ]);
  const results = streams.map((stream) => stream.next());

  // An aborted subscription ends at once.
  const controller = new AbortController();
  const given = fresh.channel.subscribe(controller.signal);
  const none = given.next();
  controller.abort();
  assertEquals((await none).done, true);
  assertEquals([here.errors.length, fresh.errors.length], [1, 1]);

  await redis.restart();
  await Promise.all([here, fresh].map(({ channel }) => untilBack(channel)));
  // Subscriptions without an id start when Redis is back.
  const done = new Set<number>();
  for (const [i, result] of results.entries()) result.then(() => done.add(i));
  const ids: string[] = [];
  while (done.size < results.length) {
    ids.push(await publishWhenBack(here.channel, 2));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assertEquals((await waiting).value, tracked(ids[0]!, 2));
  for (const i of [0, 2]) {
    assertEquals((await results[i]!).value, tracked(ids[0]!, 2));
  }
  for (const i of [1, 3]) assertEquals((await results[i]!).value.value, 2);
});

test("publish() rejects in time on silent connections, and works again within two seconds", async (signal) => {
  await using redis = await startRedis();
  await using proxy = startFaultProxy(redis.port);
  await using here = openProcess(proxy.url, { timeout: 1 });
  await using there = openProcess(redis.url);
  const stream = await begin(here.channel, signal);
  await there.channel.publish(1);
  assertEquals(await take(stream, 1), [1]);

  // Open connections transmit nothing, and report no error.
  proxy.set("silent");
  proxy.set("forward");
  const began = performance.now();
  await there.channel.publish(2);
  assertEquals(await take(stream, 1), [2]);
  await publishWhenBack(here.channel, 3);
  assertEquals(await take(stream, 1), [3]);
  assert(performance.now() - began < 3_000);

  // Then new connections transmit nothing either.
  proxy.set("black hole");
  for (let i = 0; i < 3; i++) {
    const called = performance.now();
    await assertRejects(() => here.channel.publish(0), UnavailableError);
    assert(performance.now() - called < 1_500);
  }
  await there.channel.publish(4);
  proxy.set("forward");
  const rest = await take(stream, 1);
  // Calls without a result may have published their message.
  while (rest.at(-1) === 0) rest.push(...await take(stream, 1));
  assertEquals(rest.at(-1), 4);
});

test("Subscriptions continue when Redis kills their connections", async (signal) => {
  await using redis = await startRedis();
  await using here = openProcess(redis.url);
  const stream = await begin(here.channel, signal);
  for (const round of range(1, 5)) {
    await here.channel.publish(2 * round);
    await redis.send("CLIENT", "KILL", "TYPE", "normal").catch(() => {});
    await publishWhenBack(here.channel, 2 * round + 1);
  }
  assertEquals(await take(stream, 10), range(2, 11));
});

test("A subscription waits for a slow client, whatever happens to Redis", async (signal) => {
  await using redis = await startRedis(DURABLE);
  await using here = openProcess(redis.url);
  const stream = await begin(here.channel, signal);
  for (const n of range(1, 100)) await here.channel.publish(n);
  await redis.crash();
  await redis.restart();
  await publishWhenBack(here.channel, 101);
  assertEquals(await take(stream, 101), range(1, 101));
});

test("Publishing a message takes one command", async (signal) => {
  await using redis = await startRedis();
  await using here = openProcess(redis.url);
  const stream = await begin(here.channel, signal);
  await redis.send("CONFIG", "RESETSTAT");
  for (const n of range(1, 50)) await here.channel.publish(n);
  assertEquals(await take(stream, 50), range(1, 50));
  const stats = String(await redis.send("INFO", "commandstats"));
  const [, calls] = /cmdstat_xadd:calls=(\d+),/.exec(stats)!;
  assertEquals(calls, "50");
  assert(!/cmdstat_(eval|evalsha|multi|publish|xtrim):/.test(stats), stats);
});
