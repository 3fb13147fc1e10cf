/**
 * Tests that every store must pass. Each store's test file runs them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  type CacheRecord,
  type CacheStore,
  createCache,
  type MemoryStoreOptions,
} from "@quartet/kit/data";
import type { RedisStoreOptions } from "@quartet/kit/data/redis";
import { UNHURRIED } from "../helpers.ts";

/** Limits of a shared store that don't depend on the machine's speed. */
export const STORE_LIMITS = {
  timeout: UNHURRIED,
  maxStaleness: UNHURRIED,
} as const;

/** Limits of its cache that don't either. */
export const CACHE_LIMITS = { storeTimeout: UNHURRIED } as const;

export interface StoreUnderTest extends AsyncDisposable {
  /**
   * Opens the store as one process would. Shared stores see each other's
   * records.
   */
  open(
    options?: MemoryStoreOptions & Pick<RedisStoreOptions, "lockTime">,
  ): Promise<CacheStore>;
}

/** The settings of the tests of a store. */
export interface ContractOptions {
  /** The start of the tests' names. */
  readonly name: string;
  /** Whether the store's requirements are missing. */
  readonly ignore?: boolean;
  /** Whether several processes can share the store. */
  readonly isShared: boolean;
  /** Registers a test. Default: `Deno.test`. */
  readonly register?: (test: Deno.TestDefinition) => void;
  /** Creates a store for one test. */
  make(): Promise<StoreUnderTest>;
}

/** Creates a record with a store's current time and number. */
export function recordOf(
  store: CacheStore,
  value: unknown,
  more: Partial<CacheRecord> = {},
): CacheRecord {
  const { sequence, version } = store.invalidations;
  return {
    value,
    began: sequence,
    checked: version,
    scopeKey: "k",
    tags: ["a", "b"],
    paths: ["/posts/1"],
    freshUntil: Date.now() + 60_000,
    keepUntil: Date.now() + 60_000,
    ...more,
  };
}

/** Yields to the event loop until a condition holds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!await holds()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Locks a key, whether or not it has a value. Returns a function that releases
 * the lock, or `undefined` if another holder released it meanwhile.
 */
export async function lockKey(
  store: CacheStore,
  key: string,
): Promise<(() => void | Promise<void>) | undefined> {
  const { lock, released } = await store.claim!(key, () => false);
  if (lock !== undefined) return () => lock.release();
  await released;
}

/** Keys that a store might confuse with others. */
export const KEYS: readonly string[] = [
  "",
  ":",
  "a:b",
  "a",
  "\0",
  "💥",
  "é",
  "e\u0301",
  "\ud800",
  "\udbff",
  "\ufffd",
  "x".repeat(5_000),
  "x".repeat(5_000) + "y",
];

/** Values that a store might confuse with others. */
export const VALUES: readonly unknown[] = [
  undefined,
  null,
  0,
  -0,
  NaN,
  Infinity,
  -Infinity,
  1n,
  -(2n ** 70n),
  "",
  "💥",
  "\0",
  "\ud800",
  "</script>",
  true,
  false,
  [],
  {},
  [undefined],
  [, 1],
  new Date(5),
  new Date(NaN),
  new Map<unknown, unknown>([[1, { a: new Set([2n]) }], [undefined, NaN]]),
  new Set([-1, "1", null]),
  new Uint8Array([1, 2]),
  new Float64Array([NaN, 0.1]),
  new BigInt64Array([-1n]),
  new Uint8Array([1, 2, 3, 4]).buffer,
  { __proto__: null, a: 1 },
  { "": { "a.b": ["c"] }, constructor: 1, toString: 2 },
  /a+/gi,
  new URL("https://example.com/?a=b#c"),
];

const find = async (store: CacheStore, key: string) =>
  store.peek(key) ?? await store.get?.(key);

export function testStore(
  { name, ignore = false, register = Deno.test, isShared, make }:
    ContractOptions,
): void {
  const test = (
    what: string,
    fn: (subject: StoreUnderTest) => Promise<void>,
  ) =>
    register({
      name: `${name}: ${what}`,
      ignore,
      async fn() {
        await using subject = await make();
        await fn(subject);
      },
    });
  const testShared = (
    what: string,
    fn: (subject: StoreUnderTest) => Promise<void>,
  ) => isShared && test(what, fn);

  test("get() returns exactly what was set", async ({ open }) => {
    const store = await open();
    assertEquals(await find(store, "k"), undefined);
    const record = recordOf(store, { a: [1, "x", null] });
    await store.set("k", record);
    const found = await find(store, "k");
    assert(found !== undefined);
    for (const name of Object.keys(record) as (keyof CacheRecord)[]) {
      // Each process has its own `checked`.
      if (name === "checked") continue;
      assertEquals(found[name], record[name], name);
    }
    assertEquals(await find(store, "K"), undefined);
    assertEquals(await find(store, "__proto__"), undefined);
    assertEquals([store.entries, store.bytes > 0], [1, true]);
    await store.close?.();
  });

  test("set() keeps values with their types", async ({ open }) => {
    const store = await open();
    for (const [i, value] of VALUES.entries()) {
      await store.set(`k${i}`, recordOf(store, value));
      const found = await find(store, `k${i}`);
      assert(found !== undefined, Deno.inspect(value));
      assertEquals(found.value, value);
    }
    await store.close?.();
  });

  test("every key is accepted", async ({ open }) => {
    const store = await open();
    for (const key of KEYS) await store.set(key, recordOf(store, key));
    for (const key of KEYS) {
      assertEquals((await find(store, key))?.value, key);
    }
    await store.close?.();
  });

  test("replaces", async ({ open }) => {
    const store = await open();
    await store.set("k", recordOf(store, 1));
    await store.set("k", recordOf(store, 2));
    assertEquals((await find(store, "k"))?.value, 2);
    assertEquals(store.entries, 1);
    await store.close?.();
  });

  test("invalidate() records an invalidation before it returns", async ({ open }) => {
    const store = await open();
    for (
      const scopes of [
        { tags: ["a"] },
        { paths: ["/posts/1"] },
        { prefixes: ["/posts/"] },
        { keys: ["k"] },
        { all: true },
      ]
    ) {
      const record = recordOf(store, 1);
      assert(store.invalidations.isValid(record));
      const told = store.invalidate(scopes);
      assert(!store.invalidations.isValid(record), JSON.stringify(scopes));
      assert(store.invalidations.isValid(recordOf(store, 2)));
      await told;
      assert(!store.invalidations.isValid(record));
    }
    await store.close?.();
  });

  test("a cache works with the store", async ({ open }) => {
    const store = await open();
    const cache = createCache({ store, storeTimeout: 60 });
    let calls = 0;
    const load = () =>
      cache.cached("k", () => ++calls, { maxAge: 60, tags: ["a"] });
    assertEquals([await load(), await load()], [1, 1]);
    await cache.revalidateTag("a");
    assertEquals([await load(), await load()], [2, 2]);
    await cache.close();
  });

  testShared("another process finds the record", async ({ open }) => {
    const [one, other] = [await open(), await open()];
    assertEquals(await one.get!("k"), undefined);
    await one.set("k", recordOf(one, { a: 1n }));
    assertEquals((await other.get!("k"))?.value, { a: 1n });
    assertEquals(other.peek("k")?.value, { a: 1n }, "and keeps it in memory");
    await one.close?.();
    await other.close?.();
  });

  testShared("another process learns of an invalidation", async ({ open }) => {
    const [one, other] = [await open(), await open()];
    const caches = [one, other].map((store) =>
      createCache({ store, storeTimeout: 60 })
    );
    let version = 1;
    const load = (cache: typeof caches[0]) =>
      cache!.cached("k", () => version, { maxAge: 60, tags: ["a"] });
    assertEquals(await load(caches[0]!), 1);
    assertEquals(await load(caches[1]!), 1);
    version = 2;
    const before = other.invalidations.version;
    await caches[0]!.revalidateTag("a");
    await until(() => other.invalidations.version > before);
    assertEquals(await load(caches[1]!), 2);
    assertEquals(await load(caches[0]!), 2);
    for (const cache of caches) await cache.close();
  });

  testShared(
    "a process that starts later knows earlier invalidations",
    async (subject) => {
      const one = await subject.open();
      await one.get!("k");
      const record = recordOf(one, 1);
      await one.set("k", record);
      await one.invalidate({ tags: ["a"] });
      const other = await subject.open();
      const found = await other.get!("k");
      assert(found === undefined || !other.invalidations.isValid(found));
      await one.close?.();
      await other.close?.();
    },
  );

  testShared(
    "one process computes while the others wait",
    async ({ open }) => {
      const stores = [await open(), await open(), await open()];
      const caches = stores.map((store) =>
        createCache({ store, storeTimeout: 60 })
      );
      let calls = 0;
      const gate = Promise.withResolvers<void>();
      const started = Promise.withResolvers<void>();
      const all = Promise.all(
        caches.map((cache) =>
          cache.cached("k", async () => {
            started.resolve();
            await gate.promise;
            return ++calls;
          }, { maxAge: 60 })
        ),
      );
      await started.promise;
      gate.resolve();
      assertEquals(await all, [1, 1, 1]);
      for (const cache of caches) {
        await cache.close();
      }
    },
  );

  testShared(
    "a failed computation lets the next process compute",
    async ({ open }) => {
      const caches = [await open(), await open()].map((store) =>
        createCache({ store, storeTimeout: 60 })
      );
      let calls = 0;
      const results = await Promise.allSettled(
        caches.map((cache) =>
          cache.cached("k", async () => {
            await undefined;
            if (++calls === 1) throw new Error("down");
            return calls;
          }, { maxAge: 60 })
        ),
      );
      assertEquals(
        results.map(({ status }) => status).sort(),
        ["fulfilled", "rejected"],
      );
      for (const cache of caches) await cache.close();
    },
  );
}
