import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CachedOptions,
  CacheError,
  type CacheStore,
} from "@quartet/kit/data";
import { settle, timedCache } from "./helpers.ts";
import { Hub } from "./shared_store.ts";

/** Creates a value in a cache, computed by the test's function. */
function subject(options: Partial<CachedOptions>, store?: CacheStore) {
  const timed = timedCache(store && { store });
  let compute: () => unknown = () => "first";
  let calls = 0;
  return {
    ...timed,
    get calls() {
      return calls;
    },
    will(next: () => unknown) {
      compute = next;
    },
    load: () =>
      timed.cache.cached("k", () => (calls++, compute()), {
        maxAge: 60,
        ...options,
      }),
  };
}

const fail = () => {
  throw new Error("down");
};

Deno.test("staleWhileRevalidate returns the stale value and refreshes it in the background", async () => {
  const it = subject({ staleWhileRevalidate: 30 });
  await it.load();
  const gate = Promise.withResolvers<string>();
  it.will(() => gate.promise);
  it.pass(60);
  const values = await Promise.all(Array.from({ length: 100 }, it.load));
  assertEquals(new Set(values), new Set(["first"]));
  assertEquals(it.calls, 2);
  gate.resolve("second");
  await settle();
  assertEquals([await it.load(), it.calls], ["second", 2]);
  const { hits, staleHits, misses } = it.cache.stats();
  assertEquals([hits, staleHits, misses], [1, 100, 1]);
});

Deno.test("After staleWhileRevalidate, the caller waits", async () => {
  const it = subject({ staleWhileRevalidate: 30 });
  await it.load();
  it.will(() => "second");
  it.pass(90);
  assertEquals(await it.load(), "second");
});

Deno.test("A failed refresh is reported, keeps the stale value and is retried", async () => {
  const it = subject({ staleWhileRevalidate: 30 });
  await it.load();
  it.will(fail);
  it.pass(60);
  assertEquals(await it.load(), "first");
  await settle();
  assertEquals(it.errors.map(String), ["Error: down"]);
  it.will(() => "second");
  assertEquals(await it.load(), "first");
  await settle();
  assertEquals([await it.load(), it.calls], ["second", 3]);
});

Deno.test("staleIfError returns the stale value if the computation fails", async () => {
  const it = subject({ staleIfError: 30 });
  await it.load();
  it.will(fail);
  it.pass(89.9);
  assertEquals(await it.load(), "first");
  assertEquals(it.cache.stats().staleHits, 1);
  it.pass(0.1);
  await assertRejects(it.load, Error, "down");
  it.will(() => "second");
  assertEquals(await it.load(), "second");
});

Deno.test("A newer value that isn't stored ends the stale one, in all processes", async () => {
  for (const period of ["staleWhileRevalidate", "staleIfError"]) {
    const hub = new Hub();
    const options = { [period]: 3_600, negativeMaxAge: 0 };
    const it = subject(options, hub.open());
    const other = subject(options, hub.open());
    assertEquals([await it.load(), await other.load()], ["first", "first"]);
    it.pass(60);
    other.pass(60);
    it.will(() => null);
    await it.load();
    await settle();
    assertEquals(await it.load(), null, period);
    it.will(fail);
    other.will(fail);
    for (const { load } of [it, other]) {
      await assertRejects(load, Error, "down", period);
    }
    assertEquals(it.errors, []);
  }
});

Deno.test("staleAfter returns the stale value if the computation is slow", async () => {
  const it = subject({ staleIfError: 30, staleAfter: 0.001 });
  await it.load();
  it.pass(61);
  const gate = Promise.withResolvers<string>();
  it.will(() => gate.promise);
  assertEquals(await it.load(), "first");
  gate.resolve("second");
  await settle();
  assertEquals([await it.load(), it.calls], ["second", 2]);
});

Deno.test("A stale value invalidated while staleAfter runs isn't returned", async () => {
  const it = subject({ staleIfError: 30, staleAfter: 0.001, tags: ["a"] });
  await it.load();
  it.pass(61);
  const gate = Promise.withResolvers<string>();
  it.will(() => gate.promise);
  const waiting = it.load();
  await it.cache.revalidateTag("a");
  setTimeout(gate.resolve, 5, "second");
  assertEquals(await waiting, "second");
});

Deno.test("A refresh that fails after staleAfter affects no caller", async () => {
  const it = subject({ staleIfError: 30, staleAfter: 0.001 });
  await it.load();
  it.pass(61);
  const gate = Promise.withResolvers<string>();
  it.will(() => gate.promise);
  assertEquals(await it.load(), "first");
  gate.reject(new Error("down"));
  await settle();
  it.will(() => "second");
  assertEquals(await it.load(), "second");
});

Deno.test("timeout ends the wait for all callers, and the next call starts again", async () => {
  const it = subject({ timeout: 0.001 });
  const late = Promise.withResolvers<string>();
  it.will(() => late.promise);
  const all = await Promise.allSettled([it.load(), it.load(), it.load()]);
  for (const one of all) {
    assert(one.status === "rejected");
    assert(one.reason instanceof CacheError);
    assertEquals(one.reason.code, "TIMEOUT");
    assertEquals(
      one.reason.message,
      'Cannot compute "k": it took longer than 1 ms',
    );
  }
  assertEquals(it.calls, 1);
  it.will(() => "second");
  assertEquals(await it.load(), "second");
  // The timed-out computation doesn't replace the later value.
  late.resolve("late");
  await settle();
  assertEquals([await it.load(), it.calls], ["second", 2]);
});

Deno.test("A value that arrives after its timeout is cached", async () => {
  const it = subject({ timeout: 0.001 });
  const late = Promise.withResolvers<string>();
  it.will(() => late.promise);
  await assertRejects(it.load, CacheError);
  late.resolve("late");
  await settle();
  assertEquals([await it.load(), it.calls], ["late", 1]);
});

Deno.test("A value that arrives after its timeout doesn't replace a later computation's", async () => {
  const it = subject({ timeout: 0.001 });
  const [late, later] = [1, 2].map(() => Promise.withResolvers<string>());
  it.will(() => late!.promise);
  await assertRejects(it.load, CacheError);
  it.will(() => later!.promise);
  const second = it.load();
  late!.resolve("late");
  await settle();
  later!.resolve("later");
  assertEquals([await second, await it.load()], ["later", "later"]);
  assertEquals(it.calls, 2);
});

Deno.test("After a timeout, staleIfError returns the stale value", async () => {
  const it = subject({ timeout: 0.001, staleIfError: 30 });
  await it.load();
  it.pass(61);
  it.will(() => new Promise(() => {}));
  assertEquals(await it.load(), "first");
});

Deno.test("A function that hangs doesn't block its key, even without a timeout", async () => {
  const it = subject({});
  it.will(() => new Promise(() => {}));
  it.load();
  it.load();
  assertEquals(it.calls, 1);
  it.pass(31);
  it.will(() => "second");
  assertEquals(await it.load(), "second");
  assertEquals([await it.load(), it.calls], ["second", 2]);
});
