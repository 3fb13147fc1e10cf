import { assertEquals } from "@std/assert";
import {
  createChannel,
  createRouter,
  procedure,
  tracked,
} from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import { serveBreakable } from "./breakable_server.ts";
import { connect, serveRouter, subscribe, until } from "./helpers.ts";

const channel = createChannel<number>();
const other = createChannel<number>();

/** Subscriptions that start in each possible way. */
const api = createRouter({
  returned: procedure.subscription(({ signal, lastEventId }) =>
    channel.subscribe(signal, { lastEventId })
  ),
  yielded: procedure.subscription(async function* ({ signal, lastEventId }) {
    yield* channel.subscribe(signal, { lastEventId });
  }),
  tracked: procedure.use(async ({ next }) => {
    await new Promise((resolve) => setTimeout(resolve));
    return next();
  }).subscription(async function* ({ signal, lastEventId }) {
    for await (const m of channel.subscribe(signal, { lastEventId })) {
      yield tracked(m.id, m.value * 10);
    }
  }),
  untracked: procedure.subscription(async function* ({ signal, lastEventId }) {
    for await (const m of channel.subscribe(signal, { lastEventId })) {
      yield m.value * 10;
    }
  }),
  answer: procedure.subscription(async function* () {
    yield 0;
  }),
  notResumable: procedure.subscription(({ signal }) =>
    channel.subscribe(signal)
  ),
  two: procedure.subscription(async function* ({ signal, lastEventId }) {
    const first = channel.subscribe(signal, { lastEventId });
    other.subscribe(signal, { lastEventId });
    yield* first;
  }),
  afterData: procedure.subscription(async function* ({ signal, lastEventId }) {
    yield 0;
    yield* channel.subscribe(signal, { lastEventId });
  }),
});

for (const path of ["returned", "yielded", "tracked"] as const) {
  Deno.test(`A socket receives the starting position of the subscription ${path}`, async () => {
    await using server = await serveRouter(api);
    const before = await channel.publish(0);
    await using client = await connect(server);
    client.send(subscribe("a", path));
    assertEquals(await client.next(), {
      type: "started",
      id: "a",
      eventId: before,
    });
    const ids = [await channel.publish(1), await channel.publish(2)];
    const factor = path === "tracked" ? 10 : 1;
    const expected = ids.map((eventId, i) => ({
      type: "data",
      id: "b",
      data: (i + 1) * factor,
      eventId,
    }));

    // A client that resumes from there misses nothing.
    await using again = await connect(server);
    again.send({ ...subscribe("b", path), lastEventId: before });
    assertEquals(await again.take(2), expected);
    assertEquals(await again.settle(), []);
  });
}

Deno.test("A position that can't be resumed from isn't sent", async () => {
  await using server = await serveRouter(api);
  const lastEventId = await channel.publish(0);
  await using client = await connect(server);
  for (const path of ["notResumable", "two"]) {
    client.send(subscribe(path, path));
    assertEquals(await client.settle(), []);
  }
  // This subscription sends data without a position first.
  client.send(subscribe("a", "afterData"));
  const [data] = await client.take(1);
  assertEquals(data!.data, 0);
  assertEquals(await client.settle(), []);
  // The client has sent this position itself.
  client.send({ ...subscribe("b", "returned"), lastEventId });
  assertEquals(await client.settle(), []);
});

Deno.test("A subscription can resume from the position before the first message", async () => {
  const empty = createChannel<number>({ history: 2 });
  const { signal } = new AbortController();
  const news = createRouter({
    news: procedure.subscription(({ signal, lastEventId }) =>
      empty.subscribe(signal, { lastEventId })
    ),
  });
  await using server = await serveRouter(news);
  await using client = await connect(server);
  client.send(subscribe("a", "news"));
  const { eventId } = await client.next();
  await empty.publish(1);
  await empty.publish(2);
  const stream = empty.subscribe(signal, { lastEventId: eventId });
  assertEquals((await stream.next()).value.value, 1);
  await stream.return!();
  await empty.publish(3);
  await using late = await connect(server);
  late.send({ ...subscribe("a", "news"), lastEventId: eventId });
  const { error } = await late.next();
  assertEquals(error?.details, { reason: "MESSAGES_LOST" });
});

for (const path of ["returned", "yielded", "tracked"] as const) {
  Deno.test(`A client whose socket breaks before the first message of ${path} misses nothing`, async () => {
    await using server = await serveBreakable(api);
    const rpc = createClient<typeof api>({
      httpEndpoint: server.url,
      reconnect: { delayMs: 1 },
    });
    const before = channel.subscribers;
    const seen: number[] = [];
    const unsubscribe = rpc[path].subscribe(undefined, {
      onData: (n) => seen.push(n),
    });
    await until(() => server.opened === 1 && channel.subscribers > before);
    // All messages sent before this response have arrived.
    for await (const _ of rpc.answer.subscribe());
    server.breakSockets();
    await until(() => channel.subscribers === before);
    for (const n of [1, 2, 3]) await channel.publish(n);
    await until(() => seen.length === 3);
    const factor = path === "tracked" ? 10 : 1;
    assertEquals(seen, [1 * factor, 2 * factor, 3 * factor]);
    unsubscribe();
  });
}

Deno.test("A client doesn't repeat values without an id after a reconnect", async () => {
  await using server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    reconnect: { delayMs: 1 },
  });
  const before = channel.subscribers;
  const seen: number[] = [];
  const unsubscribe = rpc.untracked.subscribe(undefined, {
    onData: (n) => seen.push(n),
  });
  await until(() => channel.subscribers > before);
  await channel.publish(1);
  await until(() => seen.length === 1);
  server.breakSockets();
  await until(() => server.opened === 2 && channel.subscribers > before);
  await channel.publish(2);
  await until(() => seen.length === 2);
  assertEquals(seen, [10, 20]);
  unsubscribe();
});
