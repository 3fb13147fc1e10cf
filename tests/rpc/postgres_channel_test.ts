import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  createPostgresChannel,
  type PostgresChannelOptions,
} from "@quartet/kit/rpc/postgres";
import { createRouter, procedure } from "@quartet/kit/rpc";
import pg from "pg";
import { UNHURRIED } from "../helpers.ts";
import { openSchema } from "../postgres_schema.ts";
import {
  type Driver,
  driverNames,
  hasPostgres,
  needsPostgres,
  sharedPostgres,
} from "../postgres_server.ts";
import {
  assertLost,
  publish,
  range,
  take,
  testChannel,
} from "./channel_contract.ts";
import { connect, serveRouter, subscribe, until } from "./helpers.ts";
import { testSharedChannel } from "./shared_channel_contract.ts";

const url = sharedPostgres();

for (const driver of driverNames) {
  testChannel({
    name: `createPostgresChannel() with ${driver}`,
    // Each process deletes old messages after every 64 messages.
    manyMore: 300,
    ignore: !hasPostgres,
    title: needsPostgres,
    async open(options) {
      const world = await openWorld(driver);
      const channel = world.channel<number>(options);
      return { channel, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
    },
  });
  testSharedChannel({
    where: `Postgres, ${driver}`,
    ignore: !hasPostgres,
    title: needsPostgres,
    open: () => openWorld(driver),
  });
}

/** Creates a schema, and channels in it that represent several processes. */
async function openWorld(driver: Driver) {
  const world = await openSchema(url(), driver);
  const { schema, connect } = world;
  return {
    ...world,
    table: `${schema}.kit_messages`,
    channel: <T>(options: Partial<PostgresChannelOptions> = {}) =>
      world.use(
        createPostgresChannel<T>({
          connect,
          schema,
          name: "c",
          timeout: UNHURRIED,
          ...options,
        }),
      ),
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

function test(
  name: string,
  fn: (world: World, signal: AbortSignal) => Promise<void>,
): void {
  for (const driver of driverNames) {
    Deno.test({
      name: needsPostgres(`${name} (${driver})`),
      ignore: !hasPostgres,
      async fn() {
        await using world = await openWorld(driver);
        const controller = new AbortController();
        try {
          await fn(world, controller.signal);
        } finally {
          controller.abort();
        }
      },
    });
  }
}

test(
  "A channel rejects ids of another name or table",
  async (world, signal) => {
    const channel = world.channel<number>();
    const stream = channel.subscribe(signal);
    for (const options of [{ name: "other" }, { table: "other" }]) {
      const id = await world.channel<number>(options).publish(1);
      await assertLost(channel.subscribe(signal, { lastEventId: id }));
    }
    await channel.publish(2);
    assertEquals(await take(stream, 1), [2]);
  },
);

test(
  "A channel in Postgres has two connections, however many subscriptions it has",
  async (world, signal) => {
    const name = "connections";
    const own = `${url()}?application_name=${world.schema}`;
    const channel = world.channel<number>({
      name,
      connect: () => new pg.Client(own),
    });
    const streams = range(1, 50).map(() => channel.subscribe(signal));
    const results = streams.map((stream) => stream.next());
    await channel.publish(1);
    for (const result of results) assertEquals((await result).value.value, 1);
    const [row] = await world.run(
      "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1",
      [world.schema],
    );
    assertEquals(row, [2]);
  },
);

test(
  "A burst of as many messages as the history holds arrives",
  async (world, signal) => {
    const channel = world.channel<number>({ history: 300 });
    const stream = channel.subscribe(signal);
    await channel.publish(0);
    assertEquals(await take(stream, 1), [0]);
    await publish(channel, range(1, 300));
    assertEquals(await take(stream, 300), range(1, 300));
  },
);

test("Postgres keeps at most the history and one deletion batch", async (world) => {
  const channel = world.channel<number>({ history: 50 });
  for (let i = 0; i < 20; i++) await publish(channel, range(1, 100));
  const [row] = await world.run(`SELECT count(*)::int FROM ${world.table}`);
  const count = row![0] as number;
  assert(count >= 50 && count <= 250, `${count}`);
});

test("publish() is one statement, shared by all calls that wait", async (world) => {
  const channel = world.channel<number>();
  await channel.publish(0);
  const ids = await publish(channel, range(1, 100));
  const tags = new Set(ids.map((id) => id.split("-")[0]));
  // The first is sent at once. The others wait for its result.
  assertEquals(tags.size, 2);
  assertEquals(new Set(ids).size, 100);
});

test(
  "Postgres stores any text of a transformer, or rejects it",
  async (world, signal) => {
    const text = world.channel<string>({
      name: "text",
      transformer: { stringify: (value) => value as string, parse: (v) => v },
    });
    const texts = text.subscribe(signal);
    for (const value of ["\0", "\ud800"]) {
      await assertRejects(
        () => text.publish(value),
        TypeError,
        "Cannot publish: Postgres can't store U+0000 or unpaired surrogates",
      );
    }
    for (const value of ["", "💥", "{"]) await text.publish(value);
    assertEquals(await take(texts, 3), ["", "💥", "{"]);
  },
);

test(
  "Messages of a table that was emptied or restored are reported as a loss",
  async (world, signal) => {
    const channel = world.channel<number>({ onError: () => {} });
    const kept = await channel.publish(1);
    await world.run(`CREATE TABLE ${world.table}_copy AS TABLE ${world.table}`);
    const lastEventId = await channel.publish(2);
    const stream = channel.subscribe(signal, { lastEventId });
    const next = stream.next();
    await channel.publish(3);
    assertEquals((await next).value.value, 3);
    // As from a backup: the same numbers are assigned again.
    await world.run(`
      TRUNCATE ${world.table} RESTART IDENTITY;
      INSERT INTO ${world.table} (channel, seq, tag, value)
        OVERRIDING SYSTEM VALUE SELECT * FROM ${world.table}_copy;
      ALTER TABLE ${world.table} ALTER seq RESTART WITH 3;`);
    for (const value of [4, 5, 6]) await channel.publish(value);
    await assertLost(stream);
    await assertLost(channel.subscribe(signal, { lastEventId }));
    const good = channel.subscribe(signal, { lastEventId: kept });
    assertEquals(await take(good, 3), [4, 5, 6]);
  },
);

test(
  "A channel that is closed while it connects opens no other connection",
  async (world, signal) => {
    await world.channel<number>().publish(0);
    let late = 0;
    for (let ms = 0; ms < 30; ms++) {
      let isClosing = false;
      const channel = world.channel<number>({
        connect: (() => {
          if (isClosing) late++;
          return world.connect();
        }) as never,
      });
      channel.subscribe(signal).next().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, ms));
      isClosing = true;
      await channel.close();
    }
    assertEquals(late, 0);
  },
);

test("A socket receives the starting position of a subscription to Postgres", async (world) => {
  const channel = world.channel<number>();
  const api = createRouter({
    news: procedure.subscription(({ signal, lastEventId }) =>
      channel.subscribe(signal, { lastEventId })
    ),
  });
  await using server = await serveRouter(api);
  await using client = await connect(server);
  // Even before the first message.
  for (const id of ["a", "b"]) {
    client.send(subscribe(id, "news"));
    const { type, eventId } = await client.next();
    assertEquals(type, "started");
    const published = await channel.publish(1);
    await client.next();
    await using again = await connect(server);
    again.send({ ...subscribe("c", "news"), lastEventId: eventId });
    assertEquals((await again.next()).eventId, published);
    client.send({ type: "unsubscribe", id });
    await until(() => channel.subscribers <= 1);
  }
});

Deno.test("createPostgresChannel() rejects an invalid history, name, table or client", () => {
  const connect = () => new pg.Client();
  const wrong: [object, string][] = [
    [{ history: 0 }, "history must be a positive integer, received 0"],
    [
      { name: "" },
      'name must be a non-empty string without U+0000, received ""',
    ],
    [{ name: "\0" }, "name must be a non-empty string without U+0000"],
    [{ table: "a b" }, "table must be 1 to 40 lower-case letters"],
    [{ connect: () => new pg.Pool() }, "received a pool"],
    [{ schem: "a" }, 'unknown option "schem"; did you mean schema?'],
  ];
  for (const [options, message] of wrong) {
    assertThrows(
      () => createPostgresChannel({ connect, name: "c", ...options }),
      TypeError,
      message,
    );
  }
});
