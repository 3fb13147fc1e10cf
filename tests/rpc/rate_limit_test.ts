import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createCaller,
  createRouter,
  procedure,
  rateLimit,
  type RateLimitOptions,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { z } from "zod";
import { startDeno } from "../helpers.ts";
import { connect, serveRouter, subscribe } from "./helpers.ts";

/** Creates a limited router with a manual clock. */
function limited(options: Partial<RateLimitOptions> = {}) {
  const clock = { time: 0 };
  const builder = procedure.use(rateLimit({
    limit: 2,
    windowMs: 10_000,
    now: () => clock.time,
    ...options,
  }));
  const router = createRouter({
    ping: builder.query(() => "pong"),
    pong: builder.mutation(() => "ping"),
    as: procedure
      .use(({ ctx, next }) => next({ name: String(ctx) }))
      .query(() => 1),
    stream: builder.subscription(async function* () {
      yield await Promise.resolve("value");
    }),
  });
  return { router, clock };
}

/** Returns the result of a call: its data or the code of its error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

Deno.test("rateLimit() rejects calls over the limit with RATE_LIMITED, 429 and Retry-After", async () => {
  const { router, clock } = limited();
  await using server = await serveRouter(router);
  assertEquals((await server.get("ping")).status, 200);
  assertEquals(
    (await server.post({ path: ["pong"], type: "mutation" })).status,
    200,
  );
  clock.time = 2_500;
  const refused = await server.get("ping");
  assertEquals(refused.status, 429);
  assertEquals(refused.headers.get("retry-after"), "8");
  assertEquals(refused.body.error, {
    code: "RATE_LIMITED",
    message: "Too many requests",
    details: { retryAfter: 8 },
  });
  clock.time = 9_999.9;
  const last = await server.get("ping");
  assertEquals(last.headers.get("retry-after"), "1");
  clock.time = 10_000;
  assertEquals((await server.get("ping")).status, 200);
});

Deno.test("A window starts with its first call, and rejected calls don't extend it", async () => {
  const { router, clock } = limited();
  const { ping } = createCaller(router);
  const at = async (time: number) => {
    clock.time = time;
    return await outcome(ping.query());
  };
  assertEquals(await at(7_000), "pong");
  assertEquals(await at(12_000), "pong");
  for (const time of [12_001, 15_000, 16_999]) {
    assertEquals(await at(time), "RATE_LIMITED");
  }
  assertEquals(await at(17_000), "pong");
  assertEquals(await at(26_999), "pong");
  assertEquals(await at(26_999), "RATE_LIMITED");
  assertEquals(await at(1e9), "pong");
});

Deno.test("A clock that is set back neither extends nor ends a window", async () => {
  const { router, clock } = limited({ limit: 1 });
  const { ping } = createCaller(router);
  clock.time = 1e6;
  assertEquals(await outcome(ping.query()), "pong");
  clock.time = 0;
  assertEquals(await outcome(ping.query()), "RATE_LIMITED");
  clock.time = 9_999;
  assertEquals(await outcome(ping.query()), "RATE_LIMITED");
  clock.time = 10_000;
  assertEquals(await outcome(ping.query()), "pong");
});

Deno.test("Each key has its own window, and the key function may be async", async () => {
  const { router, clock } = limited({
    key: async ({ ctx }) => await Promise.resolve(`${ctx}`),
  });
  const a = createCaller(router, "a");
  const b = createCaller(router, "b");
  assertEquals(await a.ping.query(), "pong");
  clock.time = 5_000;
  assertEquals(await a.ping.query(), "pong");
  assertEquals(await outcome(a.ping.query()), "RATE_LIMITED");
  assertEquals(await b.ping.query(), "pong");
  assertEquals(await b.pong.mutate(), "ping");
  assertEquals(await outcome(b.ping.query()), "RATE_LIMITED");
  clock.time = 10_000;
  assertEquals(await a.ping.query(), "pong");
  assertEquals(await outcome(b.ping.query()), "RATE_LIMITED");
  assertEquals(
    await outcome(createCaller(router, "__proto__").ping.query()),
    "pong",
  );
});

Deno.test("With too many keys, the oldest are evicted and the newest are kept", async () => {
  const { router } = limited({
    limit: 1,
    key: ({ ctx }) => `${ctx}`,
    maxKeys: 100,
  });
  const call = (key: number) => outcome(createCaller(router, key).ping.query());
  for (let key = 0; key < 10_000; key++) {
    assertEquals(await call(key), "pong");
    if (key >= 20) assertEquals(await call(key - 20), "RATE_LIMITED");
  }
  assertEquals(await call(0), "pong");
});

Deno.test("A key in use isn't evicted for others", async () => {
  const { router } = limited({
    limit: 1,
    key: ({ ctx }) => `${ctx}`,
    maxKeys: 10,
  });
  const call = (key: string) => outcome(createCaller(router, key).ping.query());
  assertEquals(await call("busy"), "pong");
  for (let key = 0; key < 1_000; key++) {
    await call(`${key}`);
    assertEquals(await call("busy"), "RATE_LIMITED");
  }
});

Deno.test("Without a key, calls are limited by client address, over HTTP and sockets alike", async () => {
  const { router, clock } = limited();
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "stream"));
  assertEquals((await client.take(2)).map(({ type }) => type), [
    "data",
    "complete",
  ]);
  assertEquals((await server.get("ping")).status, 200);
  client.send(subscribe("b", "stream"));
  assertEquals(await client.next(), {
    type: "error",
    id: "b",
    error: {
      code: "RATE_LIMITED",
      message: "Too many requests",
      details: { retryAfter: 10 },
    },
  });
  clock.time = 10_000;
  client.send(subscribe("b", "stream"));
  assertEquals((await client.next()).data, "value");
  // Callers without an address share one window.
  assertEquals(await createCaller(router).ping.query(), "pong");
});

Deno.test("By default, an IPv6 /64 network counts as one caller, and a mapped address as its IPv4 address", async () => {
  const isSame = async (...hostnames: string[]) => {
    const { router } = limited({ limit: 1 });
    const app = createApp({ plugins: [rpcPlugin({ router })] });
    const statuses: number[] = [];
    for (const hostname of hostnames) {
      const response = await app.fetch(
        new Request("http://localhost/api/rpc?path=ping"),
        { remoteAddr: { transport: "tcp", hostname, port: 1 } },
      );
      await response.body?.cancel();
      statuses.push(response.status);
    }
    return statuses[1] === 429;
  };
  for (
    const [a, b] of [
      ["2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"],
      ["2001:db8::1", "2001:0DB8:0000:0:1:2:3:4"],
      ["2001:db8::1", "[2001:db8::2]"],
      ["fe80::1%eth0", "FE80::2%wlan0"],
      ["[fe80::1%25eth0]", "fe80::3"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::ffff:c000:201", "192.0.2.1"],
      ["[::FFFF:C000:0201]", "192.0.2.1"],
      ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ] as const
  ) assert(await isSame(a, b), `${a} ${b}`);
  for (
    const [a, b] of [
      ["2001:db8::1", "2001:db8:0:1::1"],
      ["::ffff:192.0.2.1", "::ffff:192.0.2.2"],
      ["192.0.2.1", "192.0.2.2"],
      ["::1", "127.0.0.1"],
      ["x".repeat(100_000), `${"x".repeat(100_000)}y`],
    ] as const
  ) assert(!await isSame(a, b), `${a} ${b}`);
});

Deno.test("Keys of the application are used unchanged", async () => {
  const { router } = limited({ limit: 1, key: ({ ctx }) => ctx as never });
  const call = (key: string) => outcome(createCaller(router, key).ping.query());
  for (
    const key of ["2001:db8::1", "2001:db8::2", "::ffff:192.0.2.1", "192.0.2.1"]
  ) {
    assertEquals(await call(key), "pong", key);
    assertEquals(await call(key), "RATE_LIMITED", key);
  }
});

Deno.test("Each call of a batch counts, including calls with rejected input", async () => {
  const router = createRouter({
    sized: procedure
      .use(rateLimit({ limit: 2, windowMs: 1_000, now: () => 0 }))
      .query(z.number(), () => 1),
  });
  await using server = await serveRouter(router);
  const call = (input: unknown) => ({ path: ["sized"], type: "query", input });
  const { body } = await server.post({
    batch: [call(1), call("x"), call(1), call(1)],
  });
  assertEquals(
    body.data.map(({ ok, error }: { ok: boolean; error: { code: string } }) =>
      ok || error.code
    ),
    [true, "VALIDATION_ERROR", "RATE_LIMITED", "RATE_LIMITED"],
  );
});

Deno.test("Long keys count like short ones, but aren't stored", async () => {
  const { router } = limited({ limit: 1, key: ({ ctx }) => ctx as never });
  const call = (key: string) => outcome(createCaller(router, key).ping.query());
  const long = (end: unknown) => `${end}`.padStart(400_000, "x");
  assertEquals(await call(long("a")), "pong");
  assertEquals(await call(long("b")), "pong");
  assertEquals(await call(long("a")), "RATE_LIMITED");
  // No short key shares the window of a long one.
  const digest = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(long("a"))),
  ).toHex();
  assertEquals(await call(digest), "pong");
});

Deno.test("400 long keys leave no memory behind", async () => {
  await using child = startDeno([
    "run",
    "-A",
    "--v8-flags=--expose-gc",
    "tests/rpc/rate_limit_memory.ts",
  ]);
  assertEquals(await child.code, 0, child.stderr);
  const { keys, growth } = JSON.parse(child.stdout);
  assertEquals(keys, 400);
  // Half of the characters of a round's 50 keys.
  assertLess(growth, 10_000_000);
});

Deno.test("rateLimit() requires positive numbers", () => {
  const good = { limit: 1, windowMs: 1, maxKeys: 1 };
  for (const name of Object.keys(good)) {
    for (const value of [0, -1, NaN, Infinity, "a"]) {
      assertThrows(
        () => rateLimit({ ...good, [name]: value }),
        TypeError,
        `Cannot create rate limit: ${name} must be a positive number`,
      );
    }
  }
});
