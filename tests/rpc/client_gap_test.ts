import { assertEquals } from "@std/assert";
import {
  type Channel,
  createChannel,
  createRouter,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
import { UnavailableError } from "@quartet/kit/app";
import { createClient, type RPCClientError } from "@quartet/kit/rpc/client";
import { serveBreakable } from "./breakable_server.ts";
import { type FakeTimers, fakeTimers } from "./fake_timers.ts";
import { until } from "./helpers.ts";

/** Serves a live list. It loses its channel when it is restarted. */
async function serveList(history = 100) {
  let channel!: Channel<number>;
  let list: number[] = [];
  const restart = () => {
    channel = createChannel<number>({ history });
  };
  restart();
  const add = (n: number) => {
    list = [...list, n];
    return channel.publish(n);
  };
  const api = createRouter({
    all: procedure.query(() => list),
    added: procedure.subscription(({ signal, lastEventId }) =>
      channel.subscribe(signal, { lastEventId })
    ),
  });
  const server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    reconnect: { delayMs: 1 },
  });
  return {
    rpc,
    add,
    restart() {
      restart();
      server.breakSockets();
    },
    get subscribers() {
      return channel.subscribers;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("onGap is called when the subscription has resumed, so that a list stays complete", async () => {
  await using live = await serveList();
  let shown: number[] = [];
  let gaps = 0;
  const load = async () => {
    shown = await live.rpc.all.query();
  };
  const unsubscribe = live.rpc.added.subscribe(undefined, {
    onData: (n) => shown = [...shown, n],
    onGap() {
      gaps++;
      // From here on, no message is missed.
      assertEquals(live.subscribers, 1);
      load();
    },
  });
  await until(() => live.subscribers === 1);
  await live.add(1);
  await until(() => shown.length === 1);

  for (const n of [2, 4]) {
    live.restart();
    await live.add(n);
    await until(() => shown.length === n);
    await live.add(n + 1);
    await until(() => shown.length === n + 1);
  }
  assertEquals(shown, [1, 2, 3, 4, 5]);
  assertEquals(gaps, 2);
  unsubscribe();
});

Deno.test("Without onGap, a gap is logged and the subscription continues", async () => {
  await using live = await serveList();
  const { warn } = console;
  const logged: unknown[] = [];
  console.warn = (...args: unknown[]) => logged.push(...args);
  try {
    const reading = (async () => {
      for await (const n of live.rpc.added.subscribe()) if (n === 3) return n;
    })();
    await until(() => live.subscribers === 1);
    await live.add(1);
    live.restart();
    await live.add(2);
    await until(() => logged.length > 0);
    await live.add(3);
    assertEquals(await reading, 3);
    assertEquals(logged, ["Messages of added are lost"]);
  } finally {
    console.warn = warn;
  }
});

Deno.test("A loop receives a gap in order with the values", async () => {
  await using live = await serveList();
  const seen: (number | string)[] = [];
  const stream = live.rpc.added.subscribe(undefined, {
    onGap: () => seen.push("gap"),
  });
  const next = async () => seen.push((await stream.next()).value);
  const first = next();
  await until(() => live.subscribers === 1);
  await live.add(1);
  await first;
  // Two values that are still unread at the gap.
  await live.add(2);
  await live.add(3);
  const ready = Promise.withResolvers<void>();
  const other = live.rpc.added.subscribe(undefined, {
    onData() {},
    onGap: () => ready.resolve(),
  });
  await until(() => live.subscribers === 2);
  live.restart();
  await live.add(4);
  await ready.promise;
  await until(() => live.subscribers === 2);
  await live.add(5);
  for (let i = 0; i < 3; i++) await next();
  assertEquals(seen, [1, 2, 3, "gap", 5]);
  other();
  await stream.return!();
});

Deno.test("Unsubscribing in onGap ends the subscription", async () => {
  await using live = await serveList();
  const seen: number[] = [];
  let gaps = 0;
  const unsubscribe = live.rpc.added.subscribe(undefined, {
    lastEventId: "from another life",
    onData: (n) => seen.push(n),
    onGap() {
      gaps++;
      unsubscribe();
    },
  });
  await until(() => gaps === 1 && live.subscribers === 0);
  await live.add(1);
  assertEquals(seen, []);
});

Deno.test("Repeated gaps are retried with growing delays", async () => {
  using timers = fakeTimers();
  let begun = 0;
  const api = createRouter({
    lossy: procedure.subscription(async function* () {
      begun++;
      yield begun;
      throw new RPCError("SUBSCRIPTION_ERROR", "Lost", 400, {
        details: { reason: "MESSAGES_LOST" },
      });
    }),
  });
  await using server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    heartbeatMs: false,
  });
  let gaps = 0;
  const unsubscribe = rpc.lossy.subscribe(undefined, {
    onData() {},
    onGap: () => gaps++,
  });
  let least = 0;
  for (let round = 2; round < 6; round++) {
    // The first attempt is immediate, so it isn't among the waits. Another
    // timer runs until the gap is filled.
    await until(() => gaps === round - 1 && timers.waits.length === 1);
    const [wait] = timers.waits;
    assertEquals(wait! > least, true, `${wait} ms after ${least} ms`);
    least = wait!;
    assertEquals(begun, round);
    timers.advance(wait!);
  }
  await until(() => begun === 6);
  unsubscribe();
  await until(() => timers.waits.length === 0);
});

Deno.test("onGap is called even if the server doesn't know a position", async () => {
  using timers = fakeTimers();
  let begun = 0;
  const api = createRouter({
    own: procedure.subscription(async function* ({ signal }) {
      if (begun++ === 0) {
        throw new RPCError("SUBSCRIPTION_ERROR", "Lost", 400, {
          details: { reason: "MESSAGES_LOST" },
        });
      }
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield 1;
    }),
  });
  await using server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    heartbeatMs: false,
  });
  let gaps = 0;
  const unsubscribe = rpc.own.subscribe(undefined, {
    onData() {},
    onGap: () => gaps++,
  });
  await until(() => begun === 2 && timers.waits.length === 1);
  assertEquals([gaps, timers.waits], [0, [1_000]]);
  timers.advance(1_000);
  assertEquals(gaps, 1);
  unsubscribe();
  assertEquals(timers.waits, []);
});

/** Serves a live subscription that can be lost, rejected or delayed. */
async function serveWaiting() {
  const channel = createChannel<number>();
  let mode: "run" | "lose" | "refuse" | "wait" = "run";
  let attempts = 0;
  const go = Promise.withResolvers<void>();
  const api = createRouter({
    news: procedure.use(async ({ next }) => {
      attempts++;
      if (mode === "refuse") throw new UnavailableError("Cannot reach store");
      if (mode === "wait") await go.promise;
      if (mode !== "lose") return next();
      mode = "refuse";
      throw new RPCError("SUBSCRIPTION_ERROR", "Lost", 400, {
        details: { reason: "MESSAGES_LOST" },
      });
    }).subscription(({ signal, lastEventId }) =>
      channel.subscribe(signal, { lastEventId })
    ),
  });
  const server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    heartbeatMs: false,
  });
  return {
    rpc,
    channel,
    get attempts() {
      return attempts;
    },
    /**
     * Breaks the connection and loses messages. Then it rejects subscriptions.
     */
    lose() {
      mode = "lose";
      server.breakSockets();
    },
    /** Delays all subscriptions. */
    wait() {
      mode = "wait";
    },
    run() {
      mode = "run";
      go.resolve();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Returns the client's waits. On Node, `ws` waits 30 s for the peer to close.
 */
const waitsOf = ({ waits }: FakeTimers) => waits.filter((ms) => ms !== 30_000);

/** Returns the wait for the next attempt, not the one for the first message. */
const nextAttempt = (timers: FakeTimers) =>
  waitsOf(timers).find((ms) => ms !== 1_000);

Deno.test("onGap isn't called while a subscription waits for its next attempt", async () => {
  using timers = fakeTimers();
  await using live = await serveWaiting();
  let gaps = 0;
  const unsubscribe = live.rpc.news.subscribe(undefined, {
    onData() {},
    onGap: () => gaps++,
  });
  await until(() => live.channel.subscribers === 1);
  live.lose();
  // It reconnects, detects the loss and retries at once. Then it is rejected.
  for (const attempts of [1, 3, 4, 5, 6]) {
    await until(() => live.attempts === attempts && !!nextAttempt(timers));
    assertEquals(gaps, 0);
    timers.advance(nextAttempt(timers)!);
  }
  await until(() => live.attempts === 7 && !!nextAttempt(timers));
  live.run();
  timers.advance(nextAttempt(timers)!);
  await until(() => gaps > 0);
  assertEquals([gaps, live.channel.subscribers], [1, 1]);
  unsubscribe();
});

Deno.test("onGap is called again if the subscription starts later than assumed", async () => {
  using timers = fakeTimers();
  await using live = await serveWaiting();
  let gaps = 0;
  const unsubscribe = live.rpc.news.subscribe(undefined, {
    onData() {},
    onGap: () => gaps++,
  });
  await until(() => live.channel.subscribers === 1);
  live.lose();
  for (const attempts of [1, 3]) {
    await until(() => live.attempts === attempts && !!nextAttempt(timers));
    if (attempts === 3) live.wait();
    timers.advance(nextAttempt(timers)!);
  }
  await until(() => live.attempts === 4 && waitsOf(timers).length === 1);
  timers.advance(1_000);
  assertEquals([gaps, live.channel.subscribers], [1, 0]);
  live.run();
  await until(() => live.channel.subscribers === 1);
  await until(() => gaps === 2);
  unsubscribe();
});

Deno.test("A running subscription waits while a store of the server is unavailable", async () => {
  const channel = createChannel<number>();
  let isAway = false;
  let refused = 0;
  const api = createRouter({
    news: procedure.use(({ next }) => {
      if (!isAway) return next();
      refused++;
      throw new UnavailableError("Cannot reach session store");
    }).subscription(({ signal, lastEventId }) =>
      channel.subscribe(signal, { lastEventId })
    ),
  });
  await using server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    reconnect: { delayMs: 1 },
  });
  const seen: number[] = [];
  const unsubscribe = rpc.news.subscribe(undefined, {
    onData: (n) => seen.push(n),
  });
  await until(() => channel.subscribers === 1);
  await channel.publish(1);
  await until(() => seen.length === 1);
  isAway = true;
  server.breakSockets();
  await until(() => refused === 3);
  await channel.publish(2);
  isAway = false;
  await until(() => seen.length === 2);
  assertEquals(seen, [1, 2]);
  unsubscribe();

  // A subscription that has never started gets the error at once.
  isAway = true;
  const error = await new Promise((resolve) =>
    rpc.news.subscribe(undefined, { onData() {}, onError: resolve })
  );
  assertEquals((error as RPCClientError).code, "UNAVAILABLE");
});
