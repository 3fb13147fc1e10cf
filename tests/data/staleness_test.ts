/**
 * Caches in processes that are disconnected from their shared store while
 * others continue.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Cache, type CacheStore, createCache } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import {
  createRedisStore,
  type RedisStoreOptions,
} from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { type FaultProxy, startFaultProxy } from "../cluster/fault_proxy.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { until } from "./store_contract.ts";

const START = Date.now();

/** A cache as one process would have it, with its own clock, which stands still. */
class Process implements AsyncDisposable {
  readonly cache: Cache;
  readonly errors: unknown[] = [];
  reads = 0;
  /** The clock's lead in milliseconds. */
  ahead = 0;

  constructor(readonly store: CacheStore, now: { get: () => number }) {
    now.get = () => START + this.ahead;
    this.cache = createCache({
      store,
      now: now.get,
      onError: (error) => this.errors.push(error),
    });
  }

  load(source: { version: number }, key = "k"): Promise<number> {
    return this.cache.cached(key, async () => {
      this.reads++;
      const { version } = source;
      await undefined;
      return version;
    }, { maxAge: 600, tags: ["a"], staleWhileRevalidate: 6_000 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cache.close();
  }
}

function open(
  url: string,
  options: Partial<RedisStoreOptions> = {},
): Process {
  const clock = { get: Date.now };
  const client = createClient({ url });
  const store = createRedisStore({
    client,
    name: "test",
    // So that a slow machine doesn't look like an outage.
    timeout: 60,
    ...options,
    now: () => clock.get(),
  });
  return new Process(store, clock);
}

/** Opens a process that notices within a second that its proxy fails. */
function openBehind(
  { url }: FaultProxy,
  options: Partial<RedisStoreOptions> = {},
): Process {
  return open(url, { timeout: 1, ...options });
}

function test(
  name: string,
  fn: (url: string, proxy: FaultProxy) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using redis = await startRedis();
      await using proxy = startFaultProxy(redis.port);
      await fn(redis.url, proxy);
    }),
  });
}

/** Waits until the store of a process is connected. */
async function connected({ store }: Process): Promise<void> {
  await until(() =>
    Promise.resolve(store.ping!()).then(() => true, () => false)
  );
}

test(
  "A disconnected process returns no value older than maxStaleness",
  async (url, proxy) => {
    const source = { version: 1 };
    await using here = open(url);
    await using cutOff = openBehind(proxy);
    for (const process of [here, cutOff]) await process.load(source);
    proxy.set("black hole");
    source.version = 2;
    assert((await here.cache.revalidateTag("a")).success);
    assertEquals(await here.load(source), 2);
    assertEquals(await cutOff.load(source), 1, "for a while");
    cutOff.ahead += 3_000;
    assertEquals(await cutOff.load(source), 2);
    // Values computed meanwhile are cached for at most maxStaleness.
    assertEquals([await cutOff.load(source), cutOff.reads], [2, 1]);
    source.version = 3;
    assert((await here.cache.revalidateTag("a")).success);
    assertEquals(await cutOff.load(source), 2);
    cutOff.ahead += 3_000;
    assertEquals([await cutOff.load(source), cutOff.reads], [3, 2]);
    proxy.set("forward");
    await connected(cutOff);
    assertEquals(await here.load(source), 3);
    assertEquals(await cutOff.load(source), 3);
    source.version = 4;
    assert((await here.cache.revalidateTag("a")).success);
    await until(async () => await cutOff.load(source) === 4);
  },
);

test(
  "A process that reconnects to Redis keeps its memory",
  async (_url, proxy) => {
    const source = { version: 1 };
    await using process = openBehind(proxy);
    for (const key of ["a", "b", "c"]) await process.load(source, key);
    proxy.set("black hole");
    process.ahead += 3_000;
    assertEquals(await process.load(source, "a"), 1);
    assertEquals(process.reads, 4);
    proxy.set("forward");
    await connected(process);
    for (const key of ["a", "b", "c"]) await process.load(source, key);
    assertEquals(process.reads, 4);
  },
);

test(
  "An invalidation reports that it reached only this process, and reaches the others later",
  async (url, proxy) => {
    const source = { version: 1 };
    await using here = open(url);
    await using cutOff = openBehind(proxy);
    for (const process of [here, cutOff]) await process.load(source);
    proxy.set("black hole");
    source.version = 2;
    assert(!(await cutOff.cache.revalidateTag("a")).success);
    assertEquals(cutOff.errors.length, 1);
    assertEquals(await cutOff.load(source), 2);
    assertEquals(await here.load(source), 1);
    proxy.set("forward");
    await until(async () => await here.load(source) === 2);
  },
);

test(
  "onError is called once per outage, also if all values are in memory",
  async (_url, proxy) => {
    const source = { version: 1 };
    await using process = openBehind(proxy, { maxStaleness: Infinity });
    await process.load(source);
    for (let outage = 1; outage <= 3; outage++) {
      proxy.set(outage === 2 ? "refuse" : "black hole");
      await until(() => process.errors.length === outage);
      for (let i = 0; i < 10; i++) await process.load(source);
      assertEquals(process.reads, 1);
      proxy.set("forward");
      await connected(process);
      assertEquals(process.errors.length, outage);
    }
    for (const error of process.errors) {
      const { message } = error as Error;
      assert(/^Cannot reach cache store: /.test(message), message);
    }
  },
);

test(
  "Silent connections are replaced, and the invalidation arrives",
  async (url, proxy) => {
    const source = { version: 1 };
    await using here = open(url);
    await using silent = openBehind(proxy);
    for (const process of [here, silent]) await process.load(source);
    proxy.set("silent");
    const { version } = silent.store.invalidations;
    source.version = 2;
    assert((await here.cache.revalidateTag("a")).success);
    // No call is made in the meantime.
    await until(() => silent.store.invalidations.version > version);
    await until(async () => await silent.load(source) === 2);
    source.version = 3;
    assert((await silent.cache.revalidateTag("a")).success);
    await until(async () => await here.load(source) === 3);
  },
);

test(
  "ping() checks whether a store is ready",
  async (_url, proxy) => {
    await using process = openBehind(proxy);
    await process.store.ping!();
    proxy.set("refuse");
    await assertRejects(
      async () => {
        for (;;) await process.store.ping!();
      },
      Error,
      "Cannot reach cache store: ",
    );
    proxy.set("forward");
    await connected(process);
  },
);

test(
  "A strict process that is disconnected returns nothing from memory",
  async (url, proxy) => {
    const source = { version: 1 };
    await using here = open(url);
    await using cutOff = openBehind(proxy, { strict: true });
    for (const process of [here, cutOff]) await process.load(source);
    proxy.set("black hole");
    for (let version = 2; version < 5; version++) {
      source.version = version;
      assert((await here.cache.revalidateTag("a")).success);
      assertEquals(await cutOff.load(source), version);
    }
    proxy.set("forward");
    await connected(cutOff);
    source.version = 5;
    assert((await here.cache.revalidateTag("a")).success);
    assertEquals(await cutOff.load(source), 5);
  },
);

Deno.test(
  "createKvStore(): a disconnected process returns no value older than maxStaleness",
  unlessStalled(async () => {
    const kv = await Deno.openKv(":memory:");
    const clock = { get: Date.now };
    const store = createKvStore({ kv, name: "test", now: () => clock.get() });
    await using process = new Process(store, clock);
    const source = { version: 1 };
    await process.load(source);
    await store.ping();
    kv.close();
    // No call is made in the meantime.
    await until(() => process.errors.length === 1);
    await assertRejects(() => store.ping());
    source.version = 2;
    assertEquals(await process.load(source), 1, "for a while");
    process.ahead += 3_000;
    assertEquals(await process.load(source), 2);
    assertEquals([await process.load(source), process.reads], [2, 2]);
    process.ahead += 3_000;
    source.version = 3;
    assertEquals(await process.load(source), 3);
    assertEquals(process.errors.length, 1);
  }),
);

Deno.test(
  "Setting the clock back during a disconnection extends nothing",
  unlessStalled(async () => {
    const kv = await Deno.openKv(":memory:");
    const clock = { get: Date.now };
    const store = createKvStore({ kv, name: "test", now: () => clock.get() });
    await using process = new Process(store, clock);
    const source = { version: 1 };
    await process.load(source);
    kv.close();
    source.version = 2;
    process.ahead -= 3_600_000;
    assertEquals(await process.load(source), 2);
  }),
);
