/**
 * Tests that every store shared by processes must pass, besides the ones in
 * `store_contract.ts`.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Cache,
  CacheError,
  type CacheStore,
  createCache,
  type Invalidation,
} from "@quartet/kit/data";
import {
  type ContractOptions,
  KEYS,
  lockKey,
  recordOf,
  type StoreUnderTest,
  testStore,
  until,
  VALUES,
} from "./store_contract.ts";

type ReleaseLock = () => void | Promise<void>;

/** Returns nested arrays. */
function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

/** Registers the tests of a shared store. */
export function testSharedStore(
  options: Omit<ContractOptions, "isShared">,
): void {
  const { name, ignore = false, register = Deno.test, make } = options;
  testStore({ ...options, isShared: true });
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

  test(
    "another process reads values with their types",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      for (const [i, value] of VALUES.entries()) {
        await one.set(`k${i}`, recordOf(one, value));
        const found = await other.get!(`k${i}`);
        assert(found !== undefined, Deno.inspect(value));
        assertEquals(found.value, value);
        // `assertEquals()` treats 0 and -0 as equal.
        assert(!Object.is(value, -0) || Object.is(found.value, -0));
        if (typeof value !== "object" || value === null) continue;
        assertEquals(
          Object.getPrototypeOf(found.value),
          Object.getPrototypeOf(value),
        );
        assertEquals(Object.keys(found.value!), Object.keys(value));
      }
      const shared = { a: 1 };
      const circle: Record<string, unknown> = { one: shared, two: shared };
      circle.self = circle;
      await one.set("circle", recordOf(one, circle));
      const found = (await other.get!("circle"))!.value as typeof circle;
      assert(found.one === found.two && found.self === found);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "another process finds every key and only that key",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      for (const [i, key] of KEYS.entries()) {
        assertEquals(await other.get!(key), undefined);
        await one.set(key, recordOf(one, i));
      }
      for (const [i, key] of KEYS.entries()) {
        assertEquals((await other.get!(key))?.value, i);
      }
      const third = await open();
      assertEquals((await third.get!(KEYS[1]!))?.value, 1);
      for (const store of [one, other, third]) await store.close?.();
    },
  );

  test(
    "another process receives all fields of a record",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      for (const lifetime of [60_000, Infinity]) {
        const record = recordOf(one, 1, {
          scopeKey: "scope",
          tags: ["ä", "t:1", ""],
          paths: ["/", "/posts/1"],
          keys: ["k1"],
          freshUntil: Date.now() + lifetime,
          keepUntil: Date.now() + 2 * lifetime,
        });
        await one.set("k", record);
        const found = (await other.get!("k"))!;
        for (const name of ["scopeKey", "tags", "paths", "keys"] as const) {
          assertEquals(found[name], record[name]);
        }
        for (const name of ["freshUntil", "keepUntil"] as const) {
          const [a, b] = [found[name], record[name]];
          // Ages are counted again from when the value was stored, because
          // clocks may differ.
          assert(a === b || Math.abs(a - b) < 10_000, `${name}: ${a}, ${b}`);
        }
      }
      await one.set("bare", recordOf(one, 1, { tags: [], paths: [] }));
      assertEquals((await other.get!("bare"))?.keys, undefined);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a large value is stored completely, and so is a smaller one that replaces it",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      const values = [60_000, 65_536, 200_000, 3_000_000, 100].map((length) =>
        "aé\ud83d".repeat(length / 3 + 1).slice(0, length)
      );
      for (const value of values) {
        await one.set("k", recordOf(one, value));
        assert((await other.get!("k"))?.value === value, `${value.length}`);
      }
      const bytes = crypto.getRandomValues(new Uint8Array(50_000));
      await one.set("k", recordOf(one, bytes));
      assertEquals((await other.get!("k"))?.value, bytes);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a value over the size limit is stored in no process",
    async ({ open }) => {
      const [one, other] = [
        await open({ maxEntryBytes: 10_000 }),
        await open({ maxEntryBytes: 10_000 }),
      ];
      await one.get!("k");
      await one.set("k", recordOf(one, "small"));
      await one.set("k", recordOf(one, "x".repeat(20_000)));
      assertEquals(one.peek("k"), undefined);
      assertEquals(await other.get!("k"), undefined);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a value that isn't data stays in memory, with a clear error",
    async ({ open }) => {
      class Money {
        amount = 1;
      }
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      const cases: readonly (readonly [unknown, string])[] = [
        [new Money(), "value must be data (values as in JSON"],
        [{ a: [new Money()] }, "value.a[0] must be data"],
        [{ a: [new Money()] }, "received an instance of Money"],
        [{ f() {} }, "value.f must be data"],
        [{ f() {} }, "received a function"],
        [new Map([["m", Symbol("s")]]), "received a symbol"],
        [new Error("x"), "received an instance of Error"],
        [nested(100_000), "value must be data"],
        [nested(100_000), "received something nested too deeply"],
        [
          { [Symbol("s")]: 1 },
          "received an object that isn't plain data",
        ],
      ];
      for (const [value, message] of cases) {
        const error = await assertRejects(
          async () => await one.set("k", recordOf(one, value)),
          CacheError,
          message,
        );
        assertEquals(error.code, "NOT_DATA");
        assertEquals(one.peek("k")?.value, value);
        assertEquals(await other.get!("k"), undefined);
      }
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "bytes are stored without the rest of their buffer",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      const pool = new TextEncoder().encode("secret public secret");
      await one.set("k", recordOf(one, pool.subarray(7, 13)));
      const { value } = (await other.get!("k"))!;
      assert(value instanceof Uint8Array);
      assertEquals(new TextDecoder().decode(value), "public");
      assertEquals(value.buffer.byteLength, 6);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test("expired and invalid values aren't found", async ({ open }) => {
    const [one, other] = [await open(), await open()];
    await one.get!("k");
    const past = { freshUntil: Date.now() - 2, keepUntil: Date.now() - 1 };
    await one.set("k", recordOf(one, 1, past));
    const found = await other.get!("k");
    assert(found === undefined || found.keepUntil <= Date.now());
    for (const store of [one, other]) await store.close?.();
  });

  test(
    "a value computed before another process's invalidation is never valid",
    async ({ open }) => {
      const scopes: readonly Invalidation[] = [
        { tags: ["b"] },
        { paths: ["/posts/1"] },
        { prefixes: ["/posts/"] },
        { prefixes: ["/"] },
        { keys: ["k"] },
        { keys: ["part"] },
        { all: true },
        { tags: ["x", "a"], paths: ["/y"] },
      ];
      const [one, other] = [await open(), await open()];
      await one.get!("k");
      for (const [i, scope] of scopes.entries()) {
        const key = `k${i}`;
        const record = recordOf(one, "old", { keys: ["part"] });
        await other.invalidate(scope);
        // This process may not know the invalidation yet; the others do.
        await one.set(key, record);
        const third = await open();
        for (const store of [one, other, third]) {
          const found = await store.get!(key);
          assert(
            found === undefined || !store.invalidations.isValid(found),
            key,
          );
        }
        await third.close?.();
        const newer = recordOf(one, "new", { keys: ["part"] });
        await one.set(key, newer);
        await one.set(key, record);
        assertEquals((await other.get!(key))?.value, "new");
        assert(other.invalidations.isValid((await other.get!(key))!));
      }
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "another process learns of the invalidation of a long name, and of no other",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      for (const store of [one, other]) await store.get!("k");
      const long = "/long".repeat(4_000);
      const record = recordOf(one, 1, {
        scopeKey: long,
        tags: [long],
        paths: [long],
        keys: [`${long}/part`],
      });
      for (
        const [scope, unrelated] of [
          [{ tags: [long] }, { tags: [`${long}x`] }],
          [{ paths: [long] }, { paths: [`${long}x`] }],
          [{ keys: [long] }, { keys: [`${long}x`] }],
          [{ keys: [`${long}/part`] }, { keys: [`x${long}/part`] }],
        ]
      ) {
        for (const [what, isValid] of [[unrelated, true], [scope, false]]) {
          const stores = [one, other].map(({ invalidations }) =>
            [invalidations, invalidations.sequence] as const
          );
          await one.invalidate(what as Invalidation);
          for (const [invalidations, began] of stores) {
            await until(async () => {
              await other.get!("k");
              return invalidations.sequence > began;
            });
            const isStillValid = invalidations.isValid({ ...record, began });
            assertEquals(isStillValid, isValid);
          }
        }
      }
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a process that starts later learns of thousands of invalidations",
    async ({ open }) => {
      const one = await open();
      await one.get!("k");
      const records = [0, 1_234, 2_999].map((i) =>
        recordOf(one, i, { tags: [`t${i}`], paths: [], scopeKey: `k${i}` })
      );
      for (let i = 0; i < 3_000; i += 500) {
        const tags = Array.from({ length: 500 }, (_, j) => `t${i + j}`);
        await one.invalidate({ tags });
      }
      const other = await open();
      await other.get!("k");
      for (const record of records) {
        const began = other.invalidations.sequence - 3_000;
        assert(!other.invalidations.isValid({ ...record, began }));
        assert(other.invalidations.isValid({ ...record, tags: ["t"], began }));
      }
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "concurrent invalidations are known to all processes",
    async ({ open }) => {
      const stores = [await open(), await open(), await open()];
      for (const store of stores) await store.get!("k");
      for (let round = 0; round < 10; round++) {
        const tagOf = (i: number) => `${round}/${i}`;
        await Promise.all(
          stores.map(async (store, i) => {
            const record = recordOf(store, i, { tags: [tagOf(i)] });
            await store.set(tagOf(i), record);
          }),
        );
        await Promise.all(
          stores.map((store, i) => store.invalidate({ tags: [tagOf(i)] })),
        );
        for (const store of stores) {
          for (const i of stores.keys()) {
            const found = await store.get!(tagOf(i));
            assert(found === undefined || !store.invalidations.isValid(found));
          }
        }
      }
      for (const store of stores) await store.close?.();
    },
  );

  test(
    "forgotten scopes cause extra computations, never a stale value",
    async ({ open }) => {
      const limits = { maxScopes: 20 };
      const one = await open(limits);
      await one.get!("k");
      for (let i = 0; i < 50; i++) {
        await one.set(`k${i}`, recordOf(one, "old", { tags: [`t${i}`] }));
      }
      for (let i = 0; i < 50; i++) await one.invalidate({ tags: [`t${i}`] });
      await one.set("new", recordOf(one, "new"));
      const other = await open(limits);
      for (let i = 0; i < 50; i++) {
        const found = await other.get!(`k${i}`);
        assert(
          found === undefined || !other.invalidations.isValid(found),
          `${i}`,
        );
      }
      const found = await other.get!("new");
      assert(found !== undefined && other.invalidations.isValid(found));
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a process that starts later learns the paths of earlier requests",
    async ({ open }) => {
      const one = await open();
      await one.get!("k");
      await one.set("k", recordOf(one, 1, { paths: ["/a"] }));
      await one.invalidate({ paths: ["/b"] });
      const other = await open();
      const found = (await other.get!("k"))!;
      assert(other.invalidations.isValid(found));
      assert(other.invalidations.lastInvalidated("/b") > found.began);
      assert(other.invalidations.lastInvalidated("/c") <= found.began);
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "a lock has one holder, and only its holder can release it",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      const free = await lockKey(one, "K");
      assert(free !== undefined, "another key");
      const tooLate = await checkLock(one, [other, one, other]);
      await checkLock(other, [one], tooLate);
      await free();
      for (const store of [one, other]) await store.close?.();
    },
  );

  test(
    "closing a store affects neither waiting callers nor other processes",
    async ({ open }) => {
      const [one, other] = [await open(), await open()];
      const release = await lockKey(one, "k");
      const waiting = lockKey(other, "k").catch(() => undefined);
      await other.close?.();
      assertEquals(await waiting, undefined);
      await assertRejects(() => other.get!("k"));
      await assertRejects(async () => await other.invalidate({ tags: ["a"] }));
      await other.close?.();
      await one.get!("k");
      await one.set("k", recordOf(one, 1));
      await release!();
      const third = await open();
      assertEquals((await third.get!("k"))?.value, 1);
      for (const store of [one, third]) await store.close?.();
    },
  );

  test("a thousand concurrent cold calls in three processes run the function once", async ({ open }) => {
    const caches = [await open(), await open(), await open()].map((store) =>
      createCache({ store, storeTimeout: 60 })
    );
    let computed = 0;
    const calls = Array.from(
      { length: 1_000 },
      (_, i) =>
        caches[i % 3]!.cached("k", async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return ++computed;
        }, { maxAge: 60 }),
    );
    assertEquals(new Set(await Promise.all(calls)), new Set([1]));
    for (const cache of caches) await cache.close();
  });

  test("close() ends the wait of other processes for a computation", async ({ open }) => {
    const errors: unknown[] = [];
    const options = {
      storeTimeout: 60,
      onError: (error: unknown) => errors.push(error),
    };
    // A wait until the lock ends by itself would hang the test.
    const one = createCache({
      ...options,
      store: await open({ lockTime: 3_600 }),
    });
    const other = createCache({ ...options, store: await open() });
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<string>();
    const slow = one.cached("k", () => {
      begun.resolve();
      return gate.promise;
    }, { maxAge: 60 });
    await begun.promise;
    const next = other.cached("k", () => "quick", { maxAge: 60 });
    await one.close();
    assertEquals(await next, "quick");
    assertEquals(errors, [], "it didn't wait until storeTimeout");
    gate.resolve("slow");
    assertEquals(await slow, "slow");
    await other.close();
  });

  test("close() leaves no lock of a computation that is just about to begin", async ({ open }) => {
    const other = await open();
    for (const turns of [0, 1, 2, 5, 10, 20]) {
      const store = await open();
      const one = createCache({ storeTimeout: 60, onError() {}, store });
      await one.cached("first", () => 1, { maxAge: 60 });
      const gate = Promise.withResolvers<void>();
      const slow = one.cached("k", () => gate.promise, { maxAge: 60 });
      for (let i = 0; i < turns; i++) await undefined;
      await one.close();
      const { lock } = await other.claim!("k", () => false);
      assert(lock !== undefined, `${turns}`);
      await lock.release();
      gate.resolve();
      await slow;
    }
  });

  test(
    "random calls and invalidations in three processes never find a stale value",
    async ({ open }) => {
      const stores = [await open(), await open(), await open()];
      const caches = stores.map((store) =>
        createCache({ store, storeTimeout: 60 })
      );
      let seed = 5;
      const random = (n: number) =>
        (seed = (seed * 48_271) % 2_147_483_647) % n;
      const versions = new Array<number>(5).fill(0);
      let computed = 0;
      for (let step = 0; step < 400; step++) {
        const i = random(5);
        const at = random(3);
        const load = (cache: Cache | undefined, slow: boolean) =>
          cache!.cached(`k${random(2)}:${i}`, async () => {
            computed++;
            const version = versions[i];
            // Its input may be outdated when it ends.
            if (slow) await new Promise((resolve) => setImmediate(resolve));
            return version;
          }, { maxAge: 60, tags: [`t${i}`] });
        if (random(4) > 0) {
          assertEquals(await load(caches[at], false), versions[i], `${step}`);
          continue;
        }
        const slow = load(caches[random(3)], true);
        const before = stores.map(({ invalidations }) => invalidations.version);
        versions[i]!++;
        await caches[at]!.revalidateTag(`t${i}`);
        assertEquals(await load(caches[at], false), versions[i], `${step}`);
        await until(() =>
          stores.every(({ invalidations }, j) =>
            invalidations.version > before[j]!
          )
        );
        await slow;
      }
      assert(computed < 300, `${computed}`);
      for (const cache of caches) await cache.close();
    },
  );
}

/**
 * Checks that a lock is exclusive, and that a waiting caller gets nothing.
 *
 * @param tooLate A former holder's release, which must have no effect.
 * @returns The function that released the lock.
 */
async function checkLock(
  holder: CacheStore,
  others: readonly CacheStore[],
  tooLate?: ReleaseLock,
): Promise<ReleaseLock> {
  // The test can't see whether the waiting store has already asked. If it asks
  // after the release, it rightly gets the lock, and the test starts again with
  // a longer lead.
  for (let lead = 1;; lead *= 2) {
    const release = await lockKey(holder, "k");
    assert(release !== undefined);
    await tooLate?.();
    let isHeld = true;
    const ask = async (store: CacheStore) => {
      const own = await lockKey(store, "k");
      if (own === undefined) return true;
      assert(!isHeld, "one at a time");
      isHeld = true;
      await store.get!("k");
      isHeld = false;
      await own();
      return false;
    };
    const releaseLater = async () => {
      for (let i = 0; i < lead; i++) await holder.get!("k");
      isHeld = false;
      await release();
    };
    const asked = Promise.all(others.map(ask));
    const [haveWaited] = await Promise.all([asked, releaseLater()]);
    if (haveWaited.every(Boolean)) return release;
  }
}
