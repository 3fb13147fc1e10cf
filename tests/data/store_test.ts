import { format } from "node:util";
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import {
  type CacheStore,
  createCache,
  createMemoryStore,
} from "@quartet/kit/data";
import { startDeno } from "../helpers.ts";
import { settle, timedCache } from "./helpers.ts";
import { Hub } from "./shared_store.ts";
import { testStore } from "./store_contract.ts";

const dispose = () => Promise.resolve();

testStore({
  name: "memory",
  isShared: false,
  make: () =>
    Promise.resolve({
      open: () => Promise.resolve(createMemoryStore()),
      [Symbol.asyncDispose]: dispose,
    }),
});

testStore({
  name: "a store beyond memory",
  isShared: true,
  make() {
    const hub = new Hub();
    return Promise.resolve({
      open: () => Promise.resolve(hub.open()),
      [Symbol.asyncDispose]: dispose,
    });
  },
});

/** Creates a store whose methods all throw. */
function broken(how: () => never): CacheStore {
  const { invalidations } = createMemoryStore();
  return {
    invalidations,
    entries: 0,
    bytes: 0,
    evictions: 0,
    peek: how,
    get: how,
    set: how,
    invalidate: how,
    claim: how,
  };
}

for (const part of ["path", "query"]) {
  Deno.test(`Values of requests with a long ${part} take no more memory than maxBytes`, async () => {
    await using child = startDeno([
      "run",
      "-A",
      "--v8-flags=--expose-gc",
      "tests/data/address_memory.ts",
      part,
    ]);
    assertEquals(await child.code, 0, child.stderr);
    const { requests, growth } = JSON.parse(child.stdout);
    assertEquals(requests, 400);
    // Half of the characters of a round's 50 addresses.
    assertLess(growth, 5_000_000);
  });
}

Deno.test("A store that fails never fails a call, and is reported once", async () => {
  const { cache, errors } = timedCache({
    store: broken(() => {
      throw new Error("redis://user:password@host is down");
    }),
  });
  for (let i = 0; i < 5; i++) {
    assertEquals(await cache.cached("k", () => i, { maxAge: 60 }), i);
  }
  const { success } = await cache.revalidateTag("a");
  assertEquals(success, false);
  assertEquals(errors.length, 1);
});

Deno.test("Without onError, faults are logged to the console", async () => {
  const store = broken(() => {
    throw new Error("down");
  });
  const { error } = console;
  const logged: string[] = [];
  console.error = (...args) => void logged.push(format(...args));
  try {
    await createCache({ store }).cached("k", () => 1, { maxAge: 60 });
  } finally {
    console.error = error;
  }
  assertEquals(logged.length, 1);
  assertMatch(logged[0]!, /^The cache could not .+: Error: down/);
});

Deno.test("A fault is reported once per outage, and again in the next one", async () => {
  const hub = new Hub();
  const { cache, errors } = timedCache({ store: hub.open() });
  let n = 0;
  const load = () => cache.cached(`k${++n}`, () => n, { maxAge: 60 });
  for (let outage = 1; outage <= 3; outage++) {
    hub.failure = new Error(`outage ${outage}`);
    for (let i = 0; i < 5; i++) assertEquals(await load(), n);
    await settle();
    assertEquals(errors.length, outage);
    hub.failure = undefined;
    assertEquals(await load(), n);
    await settle();
  }
  assertEquals(errors.map(String), [1, 2, 3].map((i) => `Error: outage ${i}`));
});

Deno.test("A late answer to an operation from before an outage doesn't end it", async () => {
  const hub = new Hub();
  const stored = Promise.withResolvers<void>();
  const { cache, errors } = timedCache({
    store: { ...hub.open(), set: () => stored.promise },
  });
  await cache.cached("k", () => 1, { maxAge: 60 });
  hub.failure = new Error("down");
  await cache.revalidateTag("a");
  stored.resolve();
  await settle();
  await cache.revalidateTag("a");
  assertEquals(errors, [hub.failure]);
});

Deno.test("A store that never answers delays a call but doesn't fail it", async () => {
  const hub = new Hub();
  const { cache, errors } = timedCache({
    store: { ...hub.open(), claim: undefined! },
    storeTimeout: 0.005,
  });
  hub.hangs = true;
  assertEquals(await cache.cached("k", () => 1, { maxAge: 60 }), 1);
  assertEquals(errors.map(String), [
    "Error: the store has not answered for 5 ms",
  ]);
  assertEquals((await cache.revalidateTag("a")).success, false);
});

Deno.test("An invalidation applies to its own process during an outage", async () => {
  const hub = new Hub();
  const { cache } = timedCache({ store: hub.open() });
  let version = 1;
  const load = () =>
    cache.cached("k", () => version, { maxAge: 60, tags: ["a"] });
  await load();
  hub.failure = new Error("down");
  version = 2;
  assertEquals((await cache.revalidateTag("a")).success, false);
  assertEquals([await load(), await load()], [2, 2]);
});

Deno.test("The least recently used entry is evicted", async () => {
  const cache = createCache({ maxEntries: 3 });
  const calls: string[] = [];
  const load = (key: string) =>
    cache.cached(key, () => void calls.push(key), { maxAge: 60 });
  for (const key of ["a", "b", "c", "a", "d", "a", "c", "d", "b"]) {
    await load(key);
  }
  assertEquals(calls.join(""), "abcdb");
  const { entries, evictions } = cache.stats();
  assertEquals([entries, evictions], [3, 2]);
});

Deno.test("Entries are evicted when maxBytes is exceeded", async () => {
  const cache = createCache({ maxBytes: 1_000_000, maxEntryBytes: 300_000 });
  for (let i = 0; i < 100; i++) {
    await cache.cached(`k${i}`, () => "x".repeat(50_000), { maxAge: 60 });
    assert(cache.stats().bytes <= 1_000_000);
  }
  const { entries, bytes, evictions } = cache.stats();
  assertEquals(entries + evictions, 100);
  assert(entries >= 8 && bytes > 800_000, `${entries} entries, ${bytes} bytes`);
});

Deno.test("A value over maxEntryBytes is returned, isn't cached and evicts nothing", async () => {
  const cache = createCache({ maxBytes: 1_000_000, maxEntryBytes: 100_000 });
  await cache.cached("small", () => 1, { maxAge: 60 });
  const large = [
    "x".repeat(100_000),
    new Uint8Array(100_000),
    Array.from({ length: 20_000 }, (_, i) => i),
    Array.from({ length: 2_000 }, (_, i) => ({ name: `${i}`, at: [i] })),
    Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i])),
    new Map(Array.from({ length: 5_000 }, (_, i) => [i, i])),
    { a: { b: { c: "x".repeat(100_000) } } },
  ];
  for (const value of large) {
    assertEquals(await cache.cached("k", () => value, { maxAge: 60 }), value);
    const { entries, evictions } = cache.stats();
    assertEquals(
      [entries, evictions],
      [1, 0],
      Deno.inspect(value).slice(0, 50),
    );
  }
});

Deno.test("A value that grew too large removes the one before", async () => {
  const { cache, pass } = timedCache({ maxEntryBytes: 10_000 });
  await cache.cached("k", () => "small", { maxAge: 60 });
  pass(60);
  await cache.cached("k", () => "x".repeat(10_000), { maxAge: 60 });
  assertEquals(cache.stats().entries, 0);
  assertEquals(cache.stats().bytes, 0);
});

Deno.test("Counters agree after many mixed operations", async () => {
  let seed = 3;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const { cache, pass } = timedCache({ maxEntries: 100, maxBytes: 100_000 });
  let calls = 0;
  let computed = 0;
  for (let i = 0; i < 20_000; i++) {
    calls++;
    const n = random(300);
    await cache.cached(`k${n}`, () => (computed++, "x".repeat(n * 3)), {
      maxAge: 5,
      tags: [`t${n % 10}`],
    });
    if (i % 97 === 0) await cache.revalidateTag(`t${random(10)}`);
    if (i % 53 === 0) pass(1);
    if (i % 5_000 === 0) await cache.revalidate({ all: true });
  }
  const { hits, staleHits, misses, entries, bytes } = cache.stats();
  assertEquals(hits + staleHits + misses, calls);
  assertEquals(misses, computed);
  assert(entries <= 100 && bytes <= 100_000 && bytes > 0);
  await cache.revalidate({ all: true });
  assertEquals([cache.stats().entries, cache.stats().bytes], [0, 0]);
});
