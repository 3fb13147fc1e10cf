import {
  assert,
  assertEquals,
  assertGreater,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  createRedisChannel,
  type RedisChannel,
  type RedisChannelOptions,
} from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { anyRedis, hasRedis, needsRedis } from "../redis_server.ts";
import {
  assertLost,
  publish,
  range,
  take,
  testChannel,
} from "./channel_contract.ts";
import { UNHURRIED } from "./redis_processes.ts";

for (const name of CLIENTS) {
  testChannel({
    name: `createRedisChannel() with ${name}`,
    // Redis deletes whole nodes of 100 entries.
    manyMore: 300,
    ignore: !hasRedis,
    title: (name) => needsRedis(name, hasRedis),
    async open(options) {
      const redis = await openRedis();
      // It is never connected: the channel opens its own connections.
      const { client } = makeClient(name, { url: redis.url });
      const channel = redis.channel<number>({ ...options, client });
      return { channel, [Symbol.asyncDispose]: redis[Symbol.asyncDispose] };
    },
  });
}

type Client = Awaited<ReturnType<typeof connect>>;

async function connect(url: string) {
  return await createClient({ url }).connect();
}

/** A client, and channels of one name that stand for several processes. */
interface TestRedis extends AsyncDisposable {
  readonly url: string;
  readonly client: Client;
  readonly name: string;
  channel<T>(options?: Partial<RedisChannelOptions>): RedisChannel<T>;
}

async function openRedis(): Promise<TestRedis> {
  const redis = await anyRedis();
  const client = await connect(redis.url);
  const name = `test:${crypto.randomUUID()}`;
  const channels: RedisChannel<never>[] = [];
  return {
    url: redis.url,
    client,
    name,
    channel(options) {
      const channel = createRedisChannel<never>({
        client,
        name,
        timeout: UNHURRIED,
        ...options,
      });
      channels.push(channel);
      return channel as RedisChannel<unknown> as RedisChannel<never>;
    },
    async [Symbol.asyncDispose]() {
      for (const channel of channels) await channel.close();
      await client.del(name);
      await client.close();
      await redis[Symbol.asyncDispose]();
    },
  };
}

function test(
  name: string,
  fn: (redis: TestRedis, signal: AbortSignal) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedis),
    ignore: !hasRedis,
    async fn() {
      await using redis = await openRedis();
      const controller = new AbortController();
      try {
        await fn(redis, controller.signal);
      } finally {
        controller.abort();
      }
    },
  });
}

/** How many connections wait for news. */
async function readers(client: Client): Promise<number> {
  const list = await client.sendCommand(["CLIENT", "LIST"]);
  return String(list).split("cmd=xread").length - 1;
}

test(
  "Channels of one name are one channel, also across processes",
  async (redis, signal) => {
    const here = redis.channel<number>();
    const there = redis.channel<number>();
    const streams = [here.subscribe(signal), there.subscribe(signal)];
    // Each has a connection of its own.
    await Promise.all([here.ping(), there.ping()]);
    const ids = [await here.publish(1), await there.publish(2)];
    for (const stream of streams) assertEquals(await take(stream, 2), [1, 2]);
    // A client that comes back may reach another machine, also a new one.
    for (const channel of [here, there, redis.channel<number>()]) {
      const stream = channel.subscribe(signal, { lastEventId: ids[0] });
      assertEquals(await take(stream, 1), [2]);
    }
  },
);

test(
  "Channels of different names have nothing to do with each other",
  async (redis, signal) => {
    const stream = redis.channel<number>().subscribe(signal);
    const other = redis.channel<number>({ name: `${redis.name}:other` });
    await other.publish(1);
    await redis.channel<number>().publish(2);
    assertEquals(await take(stream, 1), [2]);
    await redis.client.del(`${redis.name}:other`);
  },
);

test("All subscriptions of a channel share a connection, which ends with the last", async (redis) => {
  const channel = redis.channel<number>();
  const controllers = range(1, 50).map(() => new AbortController());
  const streams = controllers.map(({ signal }) => channel.subscribe(signal));
  const results = streams.map((stream) => stream.next());
  await channel.publish(1);
  await Promise.all(results);
  while (await readers(redis.client) === 0);
  assertEquals(await readers(redis.client), 1);
  for (const controller of controllers) controller.abort();
  while (await readers(redis.client) > 0);

  // And it comes again with the next one.
  const { signal } = new AbortController();
  const again = channel.subscribe(signal);
  await channel.publish(2);
  assertEquals(await take(again, 1), [2]);
  await again.return!();
});

test("Who leaves while it catches up gets no more, and leaves no connection", async (redis) => {
  const first = await redis.channel<number>({ history: 300 }).publish(0);
  await burst(redis, 300);
  // Of those that come back, this process holds nothing.
  const channel = redis.channel<number>({ history: 300 });
  for (const taken of [0, 1, 5]) {
    const controller = new AbortController();
    const stream = channel.subscribe(controller.signal, { lastEventId: first });
    assertEquals(await take(stream, taken), range(1, taken));
    const next = taken === 0 ? stream.next() : undefined;
    controller.abort();
    assertEquals((await (next ?? stream.next())).done, true);
    assertEquals((await stream.next()).done, true);
  }
  assertEquals(channel.subscribers, 0);
  while (await readers(redis.client) > 0);
});

test("A burst of all that the history holds arrives", async (redis, signal) => {
  const channel = redis.channel<number>({ history: 300 });
  const stream = channel.subscribe(signal);
  await channel.publish(0);
  assertEquals(await take(stream, 1), [0]);
  await burst(redis, 300);
  assertEquals(await take(stream, 300), range(1, 300));
});

test(
  "A burst of more than the history holds is told as a loss",
  async (redis, signal) => {
    const channel = redis.channel<number>({ history: 10 });
    const streams = [channel.subscribe(signal), channel.subscribe(signal)];
    await channel.publish(0);
    for (const stream of streams) assertEquals(await take(stream, 1), [0]);
    await burst(redis, 300, 10);
    for (const stream of streams) await assertLost(stream);
    assertEquals(channel.subscribers, 0);

    const stream = channel.subscribe(signal);
    await channel.publish(301);
    assertEquals(await take(stream, 1), [301]);
  },
);

/** Publishes 1 to `count` at once, so that no reader can be in between. */
async function burst(
  { client, name }: TestRedis,
  count: number,
  history = count,
): Promise<void> {
  const transaction = client.multi();
  for (const value of range(1, count)) {
    transaction.xAdd(name, "*", { v: JSON.stringify(value) }, {
      TRIM: { strategy: "MAXLEN", strategyModifier: "~", threshold: history },
    });
  }
  await transaction.exec();
}

test("Redis keeps no more than the history and what it deletes at a time", async (redis) => {
  const channel = redis.channel<number>({ history: 50 });
  for (let i = 0; i < 20; i++) await publish(channel, range(1, 500));
  const length = await redis.client.xLen(redis.name);
  assert(length >= 50 && length <= 150, `${length}`);
});

test("Values go through JSON, or the transformer", async (redis, signal) => {
  const json = redis.channel<unknown>();
  const values = [null, 0, "", "\u2028\ud800", [1, { a: [] }], {
    __proto__: 1,
  }];
  const stream = json.subscribe(signal);
  for (const value of values) await json.publish(value);
  assertEquals(await take(stream, values.length), values);
  for (const value of [undefined, () => 1, Symbol("s")]) {
    await assertRejects(
      () => json.publish(value),
      TypeError,
      `JSON doesn't carry a value of type ${typeof value}`,
    );
  }
  await assertRejects(() => json.publish(1n), TypeError);
  await stream.return!();

  const dates = redis.channel<Date>({
    transformer: {
      stringify: (value) => `${(value as Date).getTime()}`,
      parse: (text) => new Date(Number(text)),
    },
  });
  const times = dates.subscribe(signal);
  await dates.publish(new Date(5));
  assertEquals(await take(times, 1), [new Date(5)]);
});

test(
  "A message that can't be read ends the subscriptions, once",
  async (redis, signal) => {
    const channel = redis.channel<number>();
    const stream = channel.subscribe(signal);
    const next = stream.next();
    const id = await channel.publish(1);
    assertEquals((await next).value.value, 1);
    await redis.client.xAdd(redis.name, "*", { v: "{" });
    await assertRejects(() => stream.next(), SyntaxError);
    assertEquals((await stream.next()).done, true);
    assertEquals(channel.subscribers, 0);
    await assertRejects(
      () => channel.subscribe(signal, { lastEventId: id }).next(),
      SyntaxError,
    );
    const later = channel.subscribe(signal);
    await channel.publish(2);
    assertEquals(await take(later, 1), [2]);
  },
);

test("What Redis refuses reaches who asked for it", async (redis, signal) => {
  const channel = redis.channel<number>();
  await redis.client.set(redis.name, "not a stream");
  await assertRejects(() => channel.publish(1), Error, "WRONGTYPE");
  const stream = channel.subscribe(signal);
  await assertRejects(() => stream.next(), Error, "WRONGTYPE");
  assertEquals(channel.subscribers, 0);

  // The same while it waits for messages.
  await redis.client.del(redis.name);
  const waiting = channel.subscribe(signal);
  const next = waiting.next();
  await channel.publish(1);
  assertEquals((await next).value.value, 1);
  while (await readers(redis.client) === 0);
  const last = waiting.next();
  last.catch(() => {});
  await redis.client.multi().del(redis.name).set(redis.name, "x").exec();
  await redis.client.sendCommand(["CLIENT", "KILL", "TYPE", "normal"])
    .catch(() => {});
  await assertRejects(() => last, Error, "WRONGTYPE");
});

test(
  "A stream that was deleted is told as a loss",
  async (redis, signal) => {
    const channel = redis.channel<number>();
    const stream = channel.subscribe(signal);
    const lastEventId = await channel.publish(1);
    assertEquals(await take(stream, 1), [1]);
    // Nobody knows what was published and deleted in between.
    await redis.client.multi().xAdd(redis.name, "*", { v: "0" })
      .del(redis.name).exec();
    await channel.publish(2);
    await assertLost(stream);
    await assertLost(redis.channel().subscribe(signal, { lastEventId }));
    const next = channel.subscribe(signal);
    await channel.publish(3);
    assertEquals(await take(next, 1), [3]);
  },
);

test(
  "close() ends subscriptions and connections, and nothing works after it",
  async (redis, signal) => {
    const channel = redis.channel<number>();
    const streams = range(1, 3).map(() => channel.subscribe(signal));
    const results = streams.slice(1).map((stream) => stream.next());
    while (await readers(redis.client) === 0);
    await channel.close();
    for (const result of results) assertEquals((await result).done, true);
    assertEquals((await streams[0]!.next()).done, true);
    assertEquals(channel.subscribers, 0);
    while (await readers(redis.client) > 0);
    await channel.close();
    assertThrows(() => channel.subscribe(signal), Error, "channel is closed");
    await assertRejects(() => channel.publish(1), Error, "channel is closed");
    // The client is not the channel's.
    assertEquals(await redis.client.ping(), "PONG");
  },
);

test(
  "Thousands of messages pass in order from several publishers",
  async (redis, signal) => {
    const channels = range(0, 3).map(() =>
      redis.channel<number>({ history: 8000 })
    );
    const streams = channels.map((channel) => channel.subscribe(signal));
    await Promise.all(channels.map((channel) => channel.ping()));
    const started = performance.now();
    const reading = streams.map((stream) => take(stream, 8000));
    for (const round of range(0, 19)) {
      await Promise.all(channels.map((channel, i) =>
        publish(
          channel,
          range(1, 100).map((n) => i * 10_000 + round * 100 + n),
        )
      ));
    }
    const [first, ...rest] = await Promise.all(reading);
    for (const other of rest) {
      assertEquals(other, first);
    }
    for (const i of range(0, 3)) {
      const own = first!.filter((value) => Math.floor(value / 10_000) === i);
      assertEquals(own, range(i * 10_000 + 1, i * 10_000 + 2000));
    }
    assertGreater(30_000, performance.now() - started);
  },
);

Deno.test("createRedisChannel() refuses a bad history and an empty name", () => {
  const client = createClient();
  for (const history of [0, -1, 1.5, NaN]) {
    assertThrows(
      () => createRedisChannel({ client, name: "n", history }),
      TypeError,
      "history must be a positive integer",
    );
  }
  for (const name of ["", undefined!]) {
    assertThrows(
      () => createRedisChannel({ client, name }),
      TypeError,
      "name must be a non-empty string",
    );
  }
});
