/**
 * Limits while their Redis is silent or unreachable.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { createApp, UnavailableError } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  type RateLimitFallback,
  rateLimitSignIn,
} from "@quartet/kit/auth";
import {
  createRouter,
  procedure,
  rateLimit,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { currentScope } from "../../core/request_scope.ts";
import { freePort } from "../helpers.ts";
import { type FaultProxy, startFaultProxy } from "../cluster/fault_proxy.ts";
import { eventually } from "../cluster/redis_topology.ts";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import {
  limitedCall,
  limitedSignIn,
  passAtOnce,
  passes,
} from "./rate_limit_contract.ts";

/** Far more than any call may take with the store's timeout of 0.3 s. */
const BOUND = 5_000;

/** Opens a store behind a fault proxy. */
async function openStore() {
  const stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedis());
  const proxy = stack.use(startFaultProxy(redis.port));
  const errors: Error[] = [];
  const store = stack.use(createRedisRateLimitStore({
    // Reconnecting would leave a timer behind.
    client: createClient({
      url: proxy.url,
      socket: { reconnectStrategy: false },
    }),
    name: "test",
    timeout: 0.3,
    onError: (error) => errors.push(error),
  }));
  return {
    redis,
    proxy,
    errors,
    store,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Opened = Awaited<ReturnType<typeof openStore>>;

function test(name: string, fn: (opened: Opened) => Promise<void>): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using opened = await openStore();
      await fn(opened);
    }),
  });
}

/** Outages of Redis, with their beginning and end. */
const OUTAGES: readonly [
  name: string,
  begin: (proxy: FaultProxy, redis: RedisServer) => void,
  end: (proxy: FaultProxy, redis: RedisServer) => void,
][] = [
  ["refuses connections", (proxy) => proxy.set("refuse"), forward],
  [
    "accepts connections and sends nothing",
    (proxy) => proxy.set("black hole"),
    forward,
  ],
  [
    "hangs",
    (_, redis) => redis.signal("SIGSTOP"),
    (_, redis) => redis.signal("SIGCONT"),
  ],
];

function forward(proxy: FaultProxy): void {
  proxy.set("forward");
}

for (const [outage, begin, end] of OUTAGES) {
  test(`While Redis ${outage}, limits use their fallback, and no call hangs`, async ({ redis, proxy, errors, store }) => {
    const limits = (fallback?: RateLimitFallback) => {
      const name = fallback ?? "default";
      const options = fallback === undefined ? {} : { fallback };
      return {
        call: limitedCall({ store, name, ...options }),
        fail: limitedSignIn({ store, name, ...options }).fail,
      };
    };
    const memory = limits();
    const allow = limits("allow");
    const refuse = limits("refuse");
    assertEquals(await passes(() => memory.call(), 3), 3);
    assertEquals(await passes(() => memory.fail(), 3), 3);
    assertEquals(await refuse.call(), 0);

    begin(proxy, redis);
    const begun = performance.now();
    assertEquals(await passAtOnce(100, () => memory.call()), 5);
    assertEquals(await passAtOnce(100, () => memory.fail()), 10);
    assertEquals(await passAtOnce(100, () => allow.call()), 100);
    assertEquals(await passAtOnce(100, () => allow.fail()), 100);
    await assertRejects(() => refuse.fail(), UnavailableError);
    assert(performance.now() - begun < BOUND);
    assertEquals(errors.length, 1);
    const [{ name, message }] = errors as [Error];
    assertEquals(name, "UnavailableError");
    assert(message.startsWith("Cannot reach rate limit store: "), message);

    end(proxy, redis);
    await eventually("Redis is used again", async () => {
      await refuse.fail();
      return true;
    });
    // Redis may have counted calls sent on the abandoned connection.
    assert(await passes(() => memory.call()) <= 2);
    assert(await passes(() => memory.fail()) <= 7);
    assertEquals(errors.length, 1);
  });
}

test("A silent connection is replaced, and the limit holds", async ({ proxy, store }) => {
  const call = limitedCall({ store, fallback: "refuse" });
  assertEquals(await call(), 0);
  proxy.set("silent");
  await eventually("Redis is used again", async () => {
    await limitedCall({
      store,
      name: "other",
      limit: 1e6,
      fallback: "refuse",
    })();
    return true;
  }, BOUND);
  assertEquals(await passes(() => call()), 4);
});

test("With the fallback refuse, calls and sign-ins get 503 and Retry-After", async ({ proxy, store }) => {
  const limit = rateLimit({
    limit: 1,
    windowMs: 60_000,
    store,
    name: "call",
    fallback: "refuse",
  });
  const router = createRouter({ call: procedure.use(limit).query(() => 1) });
  let asked = 0;
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({
      authorize() {
        asked++;
        return Promise.resolve({ id: "ada" });
      },
    })],
    signInLimiter: rateLimitSignIn({
      store,
      name: "sign-in",
      fallback: "refuse",
    }),
  });
  const errors: unknown[] = [];
  const app = createApp({
    plugins: [auth, rpcPlugin({ router })],
    onError: (error) => errors.push(error),
  });
  app.route({
    path: "/sign-in",
    async action({ request, context }) {
      await getAuth(context).signIn("credentials", await request.json());
      return "hello";
    },
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(
      `http://127.0.0.1:${server.address.port}${path}`,
      init,
    );
    const text = await response.text();
    return { response, text };
  };
  const signIn = () =>
    ask("/sign-in", { method: "POST", body: '{"email":"ada@example.com"}' });
  assertEquals((await ask("/api/rpc?path=call")).response.status, 200);
  assertEquals((await signIn()).response.status, 200);
  assertEquals(asked, 1);
  proxy.set("refuse");
  for (const answer of [await ask("/api/rpc?path=call"), await signIn()]) {
    const { response, text } = answer;
    assertEquals(response.status, 503);
    assert(Number(response.headers.get("retry-after")) >= 1);
    assert(text.includes('"UNAVAILABLE"'), text);
    assert(!/redis|store|127\.0\.0\.1/i.test(text), text);
  }
  assertEquals(asked, 1, "the provider isn't called");
  assertEquals(errors, [], "it isn't a crash");
});

test("A success that doesn't reach Redis signs in and stays counted as a failure", async ({ proxy, store }) => {
  const { begin, limiter, fail } = limitedSignIn({ store, perAddress: 2 });
  const { attempt } = await begin("ada", "10.0.0.1");
  proxy.set("refuse");
  await limiter.succeeded(attempt);
  proxy.set("forward");
  const { fail: refuse } = limitedSignIn({
    store,
    name: "b",
    fallback: "refuse",
  });
  await eventually("Redis is used again", async () => {
    await refuse();
    return true;
  });
  assertEquals(await passes((i) => fail(`${i}`, "10.0.0.1")), 1);
});

test("A known address stays exempt during an outage of Redis", async ({ proxy, store }) => {
  const { fail, succeed } = limitedSignIn({ store, perAccount: 5 });
  assertEquals(await succeed("ada", "10.0.0.1"), 0);
  proxy.set("refuse");
  assertEquals(await passes((i) => fail("ada", `10.0.1.${i}`)), 5);
  assertEquals(await succeed("ada", "10.0.0.1"), 0);
});

test("A closed store counts as an outage", async ({ errors, store }) => {
  const call = limitedCall({ store });
  assertEquals(await passes(() => call(), 3), 3);
  await store.close();
  await store.close();
  assertEquals(await passes(() => call()), 5);
  assertEquals(errors, []);
});

Deno.test("An unreachable Redis is reported outside the request that first uses it", async () => {
  const port = freePort();
  const reported = Promise.withResolvers<unknown>();
  await using store = createRedisRateLimitStore({
    client: createClient({
      url: `redis://127.0.0.1:${port}`,
      socket: { reconnectStrategy: false },
    }),
    name: "test",
    onError() {
      reported.resolve(currentScope());
    },
  });
  const router = createRouter({
    ping: procedure
      .use(rateLimit({ limit: 1, windowMs: 1_000, store, name: "ping" }))
      .query(() => "pong"),
  });
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  const url = "http://localhost/api/rpc?path=ping";
  await (await app.fetch(new Request(url))).body?.cancel();
  assertEquals(await reported.promise, undefined);
  await app.close();
});
