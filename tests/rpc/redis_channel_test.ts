import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createRedisChannel,
  type RedisChannel,
  type RedisChannelOptions,
} from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { currentScope } from "../../core/request_scope.ts";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { UNHURRIED } from "../helpers.ts";
import { anyRedis, hasRedis, needsRedis } from "../redis_server.ts";
import {
  assertLost,
  publish,
  range,
  take,
  testChannel,
} from "./channel_contract.ts";
import { testSharedChannel } from "./shared_channel_contract.ts";

for (const name of CLIENTS) {
  testChannel({
    name: `createRedisChannel() with ${name}`,
    // Redis deletes whole nodes of 100 entries.
    manyMore: 300,
    ignore: !hasRedis,
    title: (name) => needsRedis(name, hasRedis),
    async open(options) {
      const redis = await openRedis();
      // Never connected: the channel opens its own connections.
      const { client } = makeClient(name, { url: redis.url });
      const channel = redis.channel<number>({ ...options, client });
      return { channel, [Symbol.asyncDispose]: redis[Symbol.asyncDispose] };
    },
  });
}

testSharedChannel({
  where: "Redis",
  ignore: !hasRedis,
  title: (name) => needsRedis(name, hasRedis),
  open: openRedis,
});

type Client = Awaited<ReturnType<typeof connect>>;

async function connect(url: string) {
  return await createClient({ url }).connect();
}

/** A client, and channels of one name that represent several processes. */
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
  const names = new Set<string>();
  const stack = new AsyncDisposableStack();
  return {
    url: redis.url,
    client,
    name,
    channel<T>(options: Partial<RedisChannelOptions> = {}) {
      names.add(options.name ?? name);
      return stack.use(
        createRedisChannel<T>({ client, name, timeout: UNHURRIED, ...options }),
      );
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync();
      for (const name of names) await client.del(name);
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

/** Returns the number of connections that wait for messages. */
async function readers(client: Client): Promise<number> {
  const list = await client.sendCommand(["CLIENT", "LIST"]);
  return String(list).split("cmd=xread").length - 1;
}

test("All subscriptions of a channel share a connection, which closes after the last one", async (redis) => {
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

  // The next subscription opens it again.
  const { signal } = new AbortController();
  const again = channel.subscribe(signal);
  await channel.publish(2);
  assertEquals(await take(again, 1), [2]);
  await again.return!();
});

test("A subscriber that leaves while it catches up gets no more messages and leaves no connection", async (redis) => {
  const first = await redis.channel<number>({ history: 300 }).publish(0);
  await burst(redis, 300);
  // This process has none of the messages to catch up on.
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

test(
  "A burst of as many messages as the history holds arrives",
  async (redis, signal) => {
    const channel = redis.channel<number>({ history: 300 });
    const stream = channel.subscribe(signal);
    await channel.publish(0);
    assertEquals(await take(stream, 1), [0]);
    await burst(redis, 300);
    assertEquals(await take(stream, 300), range(1, 300));
  },
);

test(
  "A burst of more messages than the history holds is reported as a loss",
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

/**
 * Publishes 1 to `count` in one transaction, so that no reader runs in between.
 */
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

test("Redis keeps at most the history and one deletion batch", async (redis) => {
  const channel = redis.channel<number>({ history: 50 });
  for (let i = 0; i < 20; i++) await publish(channel, range(1, 500));
  const length = await redis.client.xLen(redis.name);
  assert(length >= 50 && length <= 150, `${length}`);
});

test("Errors of Redis reach the caller", async (redis, signal) => {
  const channel = redis.channel<number>();
  await redis.client.set(redis.name, "not a stream");
  await assertRejects(() => channel.publish(1), Error, "WRONGTYPE");
  const stream = channel.subscribe(signal);
  await assertRejects(() => stream.next(), Error, "WRONGTYPE");
  assertEquals(channel.subscribers, 0);

  // The same while a subscription waits for messages.
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
  "A deleted stream is reported as a loss",
  async (redis, signal) => {
    const channel = redis.channel<number>();
    const stream = channel.subscribe(signal);
    const lastEventId = await channel.publish(1);
    assertEquals(await take(stream, 1), [1]);
    // It's unknown what was published and deleted in between.
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
  "close() ends connections, but not the client's",
  async (redis, signal) => {
    const channel = redis.channel<number>();
    channel.subscribe(signal);
    while (await readers(redis.client) === 0);
    await channel.close();
    while (await readers(redis.client) > 0);
    assertEquals(await redis.client.ping(), "PONG");
  },
);

Deno.test("createRedisChannel() rejects an invalid history and an empty name", () => {
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

test(
  "The messages of a channel are parsed outside the request of its first subscriber",
  async (redis, signal) => {
    const parsed = Promise.withResolvers<unknown>();
    const channel = redis.channel<number>({
      transformer: {
        stringify: JSON.stringify,
        parse(text) {
          parsed.resolve(currentScope());
          return JSON.parse(String(text));
        },
      },
    });
    const app = createApp({
      routes: [{
        path: "/",
        async loader() {
          const first = channel.subscribe(signal).next();
          await channel.publish(1);
          return (await first).value?.value;
        },
      }],
    });
    const response = await app.fetch(new Request("http://localhost/"));
    assertEquals(await response.json(), 1);
    assertEquals(await parsed.promise, undefined);
  },
);
