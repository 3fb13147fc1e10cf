import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  createRouter,
  errors,
  procedure,
  RPCError,
  tracked,
} from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { z } from "zod";
import { serveRouter, until } from "./helpers.ts";

/**
 * Creates a router that counts its running subscriptions and records its
 * sockets.
 */
function createTicker() {
  const state = { running: 0, sockets: new Set<Request>() };
  const counted = procedure.use(({ request, next }) => {
    state.sockets.add(request);
    return next();
  });
  const api = createRouter({
    ticks: counted.subscription(
      z.number(),
      async function* ({ input, signal }) {
        state.running++;
        try {
          for (let i = 0; i < input; i++) yield { i };
          await new Promise((resolve) => {
            signal.addEventListener("abort", resolve);
          });
        } finally {
          state.running--;
        }
      },
    ),
    short: counted.subscription(async function* () {
      yield* ["a", "b"];
    }),
    broken: counted.subscription(async function* () {
      yield 1;
      throw new RPCError("OVER", "No more", 410, { details: [2] });
    }),
    refused: counted.subscription(async function* () {
      if (state.running < 0) yield 1;
      throw errors.forbidden();
    }),
    from: counted.subscription(async function* ({ lastEventId }) {
      yield tracked("7", lastEventId ?? "the beginning");
    }),
    long: counted.subscription(z.string(), async function* ({ input }) {
      yield input.length;
    }),
  });
  return { api, state };
}

Deno.test("subscribe() passes on values until it is unsubscribed", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const seen: number[] = [];
  const enough = Promise.withResolvers<void>();
  const unsubscribe = rpc.ticks.subscribe(3, {
    onData({ i }) {
      seen.push(i);
      if (i === 2) enough.resolve();
    },
  });
  await enough.promise;
  assertEquals(seen, [0, 1, 2]);
  assertEquals(state.running, 1);

  unsubscribe();
  unsubscribe();
  await until(() => state.running === 0);
});

Deno.test("subscribe() reports the end and failures", async () => {
  const { api } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const seen: unknown[] = [];
  await new Promise<void>((resolve) =>
    rpc.short.subscribe(undefined, {
      onData: (data) => seen.push(data),
      onComplete: resolve,
    })
  );
  assertEquals(seen, ["a", "b"]);

  const error = await new Promise((resolve) =>
    rpc.broken.subscribe(undefined, { onData() {}, onError: resolve })
  );
  assert(error instanceof RPCClientError);
  assertEquals(
    [error.code, error.message, error.status, error.path, error.details],
    ["OVER", "No more", 0, "broken", [2]],
  );
});

Deno.test("for await reads a subscription, and leaving the loop unsubscribes", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const all: string[] = [];
  for await (const value of rpc.short.subscribe()) all.push(value);
  assertEquals(all, ["a", "b"]);

  for await (const { i } of rpc.ticks.subscribe(10_000)) {
    if (i === 5_000) break;
  }
  await until(() => state.running === 0);

  const error = await assertRejects(async () => {
    for await (const _ of rpc.refused.subscribe()) { /* it gives none */ }
  }, RPCClientError);
  assertEquals(error.code, "FORBIDDEN");

  const read: unknown[] = [];
  const failure = await assertRejects(async () => {
    for await (const value of rpc.broken.subscribe()) read.push(value);
  }, RPCClientError);
  assertEquals([read, failure.code], [[1], "OVER"]);
});

Deno.test("A waiting iterator ends at once when return() is called", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const iterator = rpc.ticks.subscribe(0);
  const waiting = iterator.next();
  await until(() => state.running === 1);
  await iterator.return!();
  assertEquals((await waiting).done, true);
  await until(() => state.running === 0);
});

Deno.test("Aborting the signal unsubscribes", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const first = new AbortController();
  rpc.ticks.subscribe(0, { onData() {}, signal: first.signal });
  const second = new AbortController();
  const reading = (async () => {
    const { signal } = second;
    for await (const _ of rpc.ticks.subscribe(1, { signal })) { /* waits */ }
  })();
  await until(() => state.running === 2);
  first.abort();
  await until(() => state.running === 1);
  second.abort();
  await reading;
  await until(() => state.running === 0);

  rpc.ticks.subscribe(0, { onData() {}, signal: first.signal });
  const { signal } = second;
  for await (const _ of rpc.ticks.subscribe(1, { signal })) {
    /* over already */
  }
  assertEquals(state.sockets.size, 1);
});

Deno.test("All subscriptions share one socket, which closes after the last one", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const stops = Array.from(
    { length: 20 },
    () => rpc.ticks.subscribe(0, { onData() {} }),
  );
  await until(() => state.running === 20);
  assertEquals(state.sockets.size, 1);
  for (const stop of stops) stop();
  await until(() => state.running === 0);

  // The next subscription opens another socket.
  for await (const _ of rpc.short.subscribe()) { /* ends by itself */ }
  assertEquals(state.sockets.size, 2);
});

Deno.test("subscribe() can resume after an event that was seen earlier", async () => {
  const { api } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const received: string[] = [];
  for await (const value of rpc.from.subscribe()) received.push(value);
  for await (
    const value of rpc.from.subscribe(undefined, { lastEventId: "41" })
  ) received.push(value);
  assertEquals(received, ["the beginning", "41"]);
});

Deno.test("An input that is too long for a message only fails its own subscription", async () => {
  const { api, state } = createTicker();
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const stop = rpc.ticks.subscribe(0, { onData() {} });
  const error = await assertRejects(async () => {
    for await (const _ of rpc.long.subscribe("x".repeat(70_000))) { /* no */ }
  }, RPCClientError);
  assertEquals(error.code, "PAYLOAD_TOO_LARGE");
  await until(() => state.running === 1);
  stop();
  await until(() => state.running === 0);
});

Deno.test("wsEndpoint is called for each socket, and may fail", async () => {
  const { api } = createTicker();
  await using server = await serveRouter(api);
  let calls = 0;
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://127.0.0.1:9/nowhere",
    wsEndpoint: () =>
      Promise.resolve(`${server.url.replace("http", "ws")}?token=${++calls}`),
  });
  for await (const _ of rpc.short.subscribe()) { /* ends by itself */ }
  for await (const _ of rpc.short.subscribe()) { /* ends by itself */ }
  assertEquals(calls, 2);

  const cause = new Error("no token");
  const failing = createClient<typeof api>({
    httpEndpoint: server.url,
    wsEndpoint: () => Promise.reject(cause),
    reconnect: false,
  });
  const error = await assertRejects(async () => {
    for await (const _ of failing.short.subscribe()) { /* none */ }
  }, RPCClientError);
  assertEquals(error.code, "CONNECTION_LOST");
  assertStrictEquals(error.cause, cause);
});
