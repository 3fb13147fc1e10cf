import { assert, assertEquals } from "@std/assert";
import {
  type CacheStore,
  createCache,
  createMemoryStore,
} from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { startDeno } from "../helpers.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { race } from "./strict_race.ts";

const PROGRAM = "tests/data/strict_race.ts";

Deno.test({
  name: needsRedis(
    "createRedisStore(): none of 10,000 strict reads and writes in three processes is stale",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  async fn() {
    await using redis = await startRedis();
    const args = ["run", "-A", PROGRAM, redis.url, "3", "3400"];
    await using one = startDeno(args);
    await using other = startDeno(args);
    const [here, ...elsewhere] = await Promise.all([
      race(redis.url, 3, 3_400),
      one.printed(/^\{.*\}$/m),
      other.printed(/^\{.*\}$/m),
    ]);
    const outcomes = [here, ...elsewhere.map(([text]) => JSON.parse(text))];
    for (const { reads, stale } of outcomes) {
      assert(reads > 2_500, `${reads}`);
      assertEquals(stale, 0);
    }
  },
});

Deno.test("createKvStore(): a strict process sees an invalidation as soon as it returns", async () => {
  const kv = await Deno.openKv(":memory:");
  let version = 1;
  // With this interval, no store polls during the test.
  const settings = { kv, name: "test", interval: 3_600, strict: true };
  const caches = [1, 2].map(() =>
    createCache({ store: createKvStore(settings) })
  );
  const load = (at: number) =>
    caches[at]!.cached("k", () => version, {
      maxAge: 60,
      tags: ["a"],
      staleWhileRevalidate: 60,
    });
  for (version = 1; version < 20; version++) {
    await caches[version % 2]!.revalidateTag("a");
    for (const at of [0, 1, 0, 1]) assertEquals(await load(at), version);
  }
  assertEquals([caches[0]!.stats().misses, caches[1]!.stats().hits], [19, 38]);
  for (const cache of caches) await cache.close();
  kv.close();
});

Deno.test("A strict call that timed out isn't delayed by the store a second time", async () => {
  const memory = createMemoryStore();
  const asked: string[] = [];
  const fail = (what: string) => {
    asked.push(what);
    return Promise.reject(new Error("away"));
  };
  const store: CacheStore = {
    invalidations: memory.invalidations,
    entries: 0,
    bytes: 0,
    evictions: 0,
    peek: () => undefined,
    set: () => {},
    invalidate: () => {},
    get: () => fail("get"),
    claim: () => fail("claim"),
    check: () => fail("check"),
  };
  const cache = createCache({ store, onError: () => {} });
  assertEquals(await cache.cached("k", () => 1, { maxAge: 60 }), 1);
  assertEquals(asked, ["check"]);
});
