/**
 * Channels while their Redis is away. Each test has a server of its own.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { type Channel, tracked } from "@quartet/kit/rpc";
import { createClient } from "redis";
import { RedisReader } from "../../rpc/channel/redis_reader.ts";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../redis_server.ts";
import { assertLost, range, take } from "./channel_contract.ts";

/** Settings of a server that has on disk whatever it has said yes to. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

type Options = NonNullable<Parameters<typeof createClient>[0]>;

/** One of the processes that share a channel. */
async function openProcess(url: string, options: Options = {}) {
  const client = createClient({
    url,
    socket: { reconnectStrategy: 5 },
    ...options,
  });
  // The connection will break; tests look at what comes of that.
  client.on("error", () => {});
  await client.connect();
  const channel = createRedisChannel<number>({ client, name: "c" });
  return {
    channel,
    client,
    async [Symbol.asyncDispose]() {
      await channel.close();
      client.destroy();
    },
  };
}

function test(
  name: string,
  settings: readonly string[],
  fn: (redis: RedisServer, signal: AbortSignal) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    async fn() {
      await using redis = await startRedis(settings);
      const controller = new AbortController();
      try {
        await fn(redis, controller.signal);
      } finally {
        controller.abort();
      }
    },
  });
}

test(
  "Nothing is lost or doubled if Redis is killed in mid-stream and comes back",
  DURABLE,
  async (redis, signal) => {
    await using here = await openProcess(redis.url);
    await using there = await openProcess(redis.url);
    const streams = [here, there].map(({ channel }) =>
      channel.subscribe(signal)
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
    /** Each number is tried once. A refused one may have come through or not. */
    async function publishTo(count: number): Promise<void> {
      for (const end = next + count; next < end;) {
        const value = next++;
        try {
          await (value % 2 ? here : there).channel.publish(value);
          acknowledged.push(value);
        } catch {
          rejected++;
        }
      }
    }

    for (let round = 0; round < 4; round++) {
      await publishTo(200);
      const publishing = publishTo(300);
      while (acknowledged.length < (round + 1) * 300) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await redis.crash();
      await redis.restart();
      await publishing;
    }
    last = next;
    while (true) {
      try {
        await here.channel.publish(last);
        break;
      } catch {
        // Not yet.
      }
    }
    acknowledged.push(last);
    await Promise.all(reading);

    assert(rejected > 0, "no call was under way when Redis was killed");
    for (const values of seen) {
      assertEquals(values, [...new Set(values)].sort((a, b) => a - b));
      const got = new Set(values);
      assertEquals(acknowledged.filter((value) => !got.has(value)), []);
      assert(values.length <= acknowledged.length + rejected);
    }
    assertEquals(seen[0], seen[1]);
  },
);

test(
  "What was published while a process was away from Redis reaches it",
  DURABLE,
  async (redis, signal) => {
    await using proxy = startProxy(redis.url);
    await using here = await openProcess(proxy.url);
    await using there = await openProcess(redis.url);
    const streams = range(1, 3).map(() => here.channel.subscribe(signal));
    await here.channel.publish(0);
    for (const stream of streams) assertEquals(await take(stream, 1), [0]);
    proxy.cut();
    for (const value of range(1, 1000)) await there.channel.publish(value);
    proxy.mend();

    for (const stream of streams) {
      assertEquals(await take(stream, 1000), range(1, 1000));
    }
  },
);

test(
  "More than the history while a process was away is told as a loss",
  [],
  async (redis, signal) => {
    await using proxy = startProxy(redis.url);
    await using here = await openProcess(proxy.url);
    await using there = await openProcess(redis.url);
    const stream = here.channel.subscribe(signal);
    await here.channel.publish(0);
    assertEquals(await take(stream, 1), [0]);
    proxy.cut();
    for (let i = 0; i < 12; i++) {
      await Promise.all(range(1, 100).map((n) => there.channel.publish(n)));
    }
    proxy.mend();
    await assertLost(stream);
  },
);

test(
  "A Redis that comes back without its data is told as a loss",
  [],
  async (redis, signal) => {
    await using here = await openProcess(redis.url);
    const stream = here.channel.subscribe(signal);
    const lastEventId = await here.channel.publish(1);
    assertEquals(await take(stream, 1), [1]);
    await redis.crash();
    await redis.restart();
    await assertLost(stream);
    await assertLost(here.channel.subscribe(signal, { lastEventId }));
    const next = here.channel.subscribe(signal);
    await publishOnceLoaded(here.channel, 2);
    assertEquals(await take(next, 1), [2]);
  },
);

test(
  "Subscribing and publishing wait for Redis, unless the client is told not to",
  DURABLE,
  async (redis, signal) => {
    await using patient = await openProcess(redis.url);
    await using hasty = await openProcess(redis.url, {
      disableOfflineQueue: true,
    });
    const lastEventId = await patient.channel.publish(1);
    await redis.crash();
    while (patient.client.isReady || hasty.client.isReady) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await assertRejects(() => hasty.channel.publish(0));
    const stream = patient.channel.subscribe(signal, { lastEventId });
    const next = stream.next();
    const published = publishOnceLoaded(patient.channel, 2);

    // Who gives up meanwhile doesn't have to wait.
    const controller = new AbortController();
    const given = hasty.channel.subscribe(controller.signal);
    const none = given.next();
    controller.abort();
    assertEquals((await none).done, true);
    assertEquals(hasty.channel.subscribers, 0);

    await redis.restart();
    assertEquals((await next).value, tracked(await published, 2));
  },
);

test(
  "Subscriptions end with the client's error when that gives up",
  [],
  async (redis, signal) => {
    await using here = await openProcess(redis.url, {
      socket: { reconnectStrategy: false },
    });
    const streams = range(1, 3).map(() => here.channel.subscribe(signal));
    const results = streams.map((stream) => stream.next());
    await here.channel.publish(1);
    await Promise.all(results);
    const waiting = streams.map((stream) => stream.next());
    for (const result of waiting) result.catch(() => {});
    await redis.crash();
    for (const result of waiting) await assertRejects(() => result, Error);
    assertEquals(here.channel.subscribers, 0);
  },
);

test(
  "A connection that has gone silent is replaced",
  [],
  async (redis, signal) => {
    await using proxy = startProxy(redis.url);
    const client = createClient({ url: proxy.url });
    client.on("error", () => {});
    await client.connect();
    const id = await client.xAdd("c", "*", { start: "" });
    const stream = { client, name: "c", history: 10, block: 100 };
    const failures: unknown[] = [];
    const reader = new RedisReader(
      stream,
      ({ id, message }) => tracked(id, message.v),
      (error) => failures.push(error),
    );
    reader.start(id);
    const news = () =>
      new Promise<void>((resolve) => reader.ring.wait({ wake: resolve }));
    const publish = async (v: string) => {
      const direct = await createClient({ url: redis.url }).connect();
      await direct.xAdd("c", "*", { v });
      await direct.close();
    };
    let told = news();
    await publish("before");
    await told;
    proxy.freeze();
    told = news();
    await publish("after");
    await told;
    assertEquals(reader.ring.at(reader.ring.end - 1).value, "after");
    assertEquals(reader.ring.end - reader.ring.start, 2);
    assertEquals(failures, []);
    assertEquals(signal.aborted, false);
    await reader.stop();
    client.destroy();
  },
);

/** A server that has just started may still refuse what it is sent. */
async function publishOnceLoaded(
  channel: Channel<number>,
  value: number,
): Promise<string> {
  for (;;) {
    try {
      return await channel.publish(value);
    } catch (error) {
      assertMatch((error as Error).message, /^LOADING /);
    }
  }
}

/** A way to a server that can be cut, or go silent without a word. */
interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Accepts connections again. */
  mend(): void;
  /** Passes no more bytes on the connections that there are. */
  freeze(): void;
}

function startProxy(url: string): Proxy {
  const target = Number(new URL(url).port);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.TcpConn>();
  const frozen = new WeakSet<Deno.TcpConn>();
  let open = true;

  const pass = async (from: Deno.TcpConn, to: Deno.TcpConn) => {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const size = await from.read(buffer);
        if (size === null) break;
        for (let sent = 0; sent < size && !frozen.has(from);) {
          sent += await to.write(buffer.subarray(sent, size));
        }
      }
    } catch {
      // The other side has gone.
    }
    for (const side of [from, to]) {
      if (connections.delete(side)) side.close();
    }
  };
  const pairs: Promise<unknown>[] = [];
  const accepting = (async () => {
    for await (const near of listener) {
      if (!open) {
        near.close();
        continue;
      }
      const far = await Deno.connect({ hostname: "127.0.0.1", port: target });
      connections.add(near).add(far);
      pairs.push(pass(near, far), pass(far, near));
    }
  })();
  const cut = () => {
    open = false;
    for (const connection of connections) connection.close();
    connections.clear();
  };

  return {
    url: `redis://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    cut,
    mend() {
      open = true;
    },
    freeze() {
      for (const connection of connections) frozen.add(connection);
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      cut();
      await Promise.all([accepting, ...pairs]);
    },
  };
}
