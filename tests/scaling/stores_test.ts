/**
 * The stores of `docs/scaling.md`, each with two processes of its app.
 *
 * @module
 */

import type { Cache } from "@quartet/kit/data";
import { assert, assertEquals } from "@std/assert";
import pg from "pg";
import { startCluster, startSentinels } from "../cluster/redis_topology.ts";
import { makeFolder } from "../dev/dev_command.ts";
import {
  hasPostgres,
  needsPostgres,
  startPostgres,
} from "../postgres_server.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { section, shown } from "./scaling_page.ts";
import {
  assertSharesCache,
  assertSharesChannel,
  assertSharesSessionsAndLimits,
  priceOf,
  type Shops,
  signIn,
  startShops,
  statusOfMe,
} from "./shop.ts";

/** The exports of the page's code for caches without a shared store. */
interface Follower {
  readonly cache: Cache;
  follow(signal: AbortSignal): Promise<void>;
  invalidate(tag: string): Promise<void>;
  close(): Promise<void>;
}

async function assertSharesAll(shops: Shops): Promise<void> {
  await assertSharesSessionsAndLimits(shops);
  await assertSharesCache(shops);
  await assertSharesChannel(shops);
  await shops.end();
}

function test(
  name: string,
  needs: "redis" | "postgres" | undefined,
  fn: () => Promise<void>,
): void {
  Deno.test({
    name: needs === "redis"
      ? needsRedis(name, hasRedisServer)
      : needs === "postgres"
      ? needsPostgres(name)
      : name,
    ignore: needs === "redis"
      ? !hasRedisServer
      : needs === "postgres" && !hasPostgres,
    fn: unlessStalled(() => fn()),
  });
}

const [redisStores = ""] = section("Redis");
const SESSIONS = "redis://127.0.0.1:6379";
const CACHE = "redis://127.0.0.1:6380";
assert(redisStores.includes(SESSIONS) && redisStores.includes(CACHE));

/** The page's settings for the two servers, except the port. */
const [forSessions = [], forCache = []] = shown("sh")[0]!.split("\n")
  .map((line) => line.split(" ").slice(3));

/** Fills a Redis with 40 KB. */
const FILL = `
for i = 1, 200 do
  redis.call("SET", ARGV[1] .. ":" .. i, string.rep("x", 200))
end`;

/** Returns the code for stores in Redis with another kind of client. */
function withClient(code: string): string {
  const creation = code.slice(code.indexOf("export const client ="))
    .replace("export ", "");
  const head = code.slice(0, code.indexOf("export const client ="));
  return head + creation + redisStores
    .replace(/import .* from "redis";\n/, "")
    .replace(/const client = .*;\n/, "")
    .replace(/const cacheClient = .*;\n/, "const cacheClient = client;\n");
}

/** Starts the page's two Redis servers, and two processes that use them. */
async function startWithTwoRedis(cacheSettings = forCache) {
  await using stack = new AsyncDisposableStack();
  const sessions = stack.use(await startRedis(forSessions));
  const cache = stack.use(await startRedis(cacheSettings));
  const shops = stack.use(
    await startShops(
      redisStores.replace(SESSIONS, sessions.url).replace(CACHE, cache.url),
    ),
  );
  const started = stack.move();
  return {
    sessions,
    cache,
    shops,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

test(
  "Two processes with the page's two Redis servers share sessions, limits, cache and channel",
  "redis",
  async () => {
    await using started = await startWithTwoRedis();
    await assertSharesAll(started.shops);
  },
);

test(
  "Two processes whose clocks differ by seconds accept each other's sessions",
  "redis",
  async () => {
    await using redis = await startRedis(forSessions);
    const stores = redisStores.replace(SESSIONS, redis.url)
      .replace(CACHE, redis.url);
    for (const error of [-4_000, 4_000]) {
      await using shops = await startShops(stores, {}, error);
      for (const [here, there] of [[shops.a, shops.b], [shops.b, shops.a]]) {
        const { cookie } = await signIn(here!);
        assertEquals(await statusOfMe(here!, cookie), 200);
        assertEquals(await statusOfMe(there!, cookie), 200);
      }
    }
  },
);

test(
  "With the page's settings, sessions survive a restart of their Redis and a full cache",
  "redis",
  async () => {
    await using started = await startWithTwoRedis(
      forCache.map((value) => value === "100mb" ? "3mb" : value),
    );
    const { sessions, cache, shops } = started;
    const { cookie } = await signIn(shops.a);
    for (let i = 0; i < 100; i++) await cache.send("EVAL", FILL, "0", `${i}`);
    // Any value may be evicted and is then computed again.
    for (const shop of [shops.a, shops.b, shops.a]) await priceOf(shop);
    assert(/evicted_keys:[1-9]/.test(`${await cache.send("INFO", "stats")}`));

    await sessions.crash();
    await sessions.restart();
    let status = 503;
    while (status === 503) status = await statusOfMe(shops.b, cookie);
    assertEquals(status, 200);
  },
);

test(
  "During an outage of the sessions' Redis, the page's app is ready and answers requests without a session",
  "redis",
  async () => {
    await using started = await startWithTwoRedis();
    const { sessions, shops: { a } } = started;
    const { cookie } = await signIn(a);
    await sessions.crash();
    assertEquals(await statusOfMe(a, cookie), 503);
    // At once, and after the cached check results have expired.
    for (let i = 0; i < 2; i++) {
      const health = await fetch(`${a.origin}/__app/health`);
      assertEquals([health.status, await health.json()], [
        200,
        { status: "ready" },
      ]);
      await priceOf(a);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
  },
);

test(
  "Two processes share everything with the page's Sentinel client",
  "redis",
  async () => {
    await using redis = await startSentinels();
    const { place } = redis;
    assert("sentinels" in place);
    const [code = ""] = section("Sentinel");
    const stores = place.sentinels.reduce(
      (text, { port }, i) =>
        text.replace(
          `"10.0.0.2${i + 1}", port: 26379`,
          `"127.0.0.1", port: ${port}`,
        ),
      withClient(code).replace('name: "shop"', `name: "${place.name}"`),
    );
    await using shops = await startShops(stores);
    await assertSharesAll(shops);
  },
);

test(
  "Two processes share everything with the page's cluster client",
  "redis",
  async () => {
    await using redis = await startCluster();
    const { place } = redis;
    assert("nodes" in place);
    const [code = ""] = section("Cluster");
    const stores = place.nodes.reduce(
      (text, { port }, i) =>
        text.replace(`10.0.0.3${i + 1}:6379`, `127.0.0.1:${port}`),
      withClient(code),
    );
    await using shops = await startShops(stores);
    await assertSharesAll(shops);
  },
);

test(
  "Two processes with the page's Deno KV share sessions, limits and cache",
  undefined,
  async () => {
    await using folder = await makeFolder();
    const [stores = ""] = section("Deno KV on Deno Deploy");
    await using shops = await startShops(stores, {
      KV_PATH: `${folder.path}/shop.db`,
    });
    await assertSharesSessionsAndLimits(shops);
    await assertSharesCache(shops);
    await shops.end();
  },
);

test(
  "Two processes with the page's Postgres share sessions, limits and channel",
  "postgres",
  async () => {
    await using postgres = await startPostgres();
    const [code = ""] = section("Postgres");
    const stores = code.replace(/postgres:\/\/shop@[^"]*/, postgres.url);
    assert(stores !== code);
    await using shops = await startShops(stores);
    await assertSharesSessionsAndLimits(shops);
    await assertSharesChannel(shops);
    await shops.end();
  },
);

test(
  "With the page's channel in Postgres, a process invalidates other processes' caches, also after a gap",
  "postgres",
  async () => {
    await using postgres = await startPostgres();
    await using folder = await makeFolder();
    const [, code = ""] = section("Postgres");
    const ours = code.replace(/postgres:\/\/shop@[^"]*/, postgres.url)
      .replace("console.error(", "void (");
    assert(ours.includes(postgres.url) && ours.includes("void ("));
    const load = async (name: string): Promise<Follower> => {
      await folder.write(name, ours);
      return await import(`file://${folder.path}/${name}`);
    };
    const [a, b] = [await load("a.ts"), await load("b.ts")];
    const controller = new AbortController();
    const following = b.follow(controller.signal);
    let calls = 0;
    const price = () =>
      b.cache.cached("price", () => ++calls, { maxAge: 60, tags: ["price"] });
    // Published until it arrives, because the test can't see when b has
    // subscribed.
    const before = await price();
    while (await price() === before) await a.invalidate("price");
    // The messages are lost, so b can't know which tags it missed.
    const beforeGap = await price();
    const client = new pg.Client(postgres.url);
    await client.connect();
    await client.query("DROP TABLE kit_messages");
    await client.end();
    while (await price() === beforeGap) {
      await a.invalidate("another").catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    controller.abort();
    await following;
    await Promise.all([a.close(), b.close()]);
  },
);
