import { assert, assertEquals, assertThrows } from "@std/assert";
import { createKvStore } from "@quartet/kit/data/kv";
import { createApp } from "@quartet/kit/app";
import { type CacheStore, createCache } from "@quartet/kit/data";
import { currentScope } from "../../core/request_scope.ts";
import { startDeno } from "../helpers.ts";
import { testSharedStore } from "./shared_store_contract.ts";
import { CACHE_LIMITS, recordOf, STORE_LIMITS } from "./store_contract.ts";

testSharedStore({
  name: "createKvStore()",
  async make() {
    const dir = await Deno.makeTempDir();
    const stores: CacheStore[] = [];
    const open: Deno.Kv[] = [];
    return {
      async open(options) {
        // Each process opens the file separately.
        const kv = await Deno.openKv(`${dir}/cache.db`);
        open.push(kv);
        const store = createKvStore({
          kv,
          name: "test",
          interval: 0.002,
          ...STORE_LIMITS,
          ...options,
        });
        stores.push(store);
        return store;
      },
      async [Symbol.asyncDispose]() {
        for (const store of stores) await store.close?.();
        for (const kv of open) kv.close();
        await Deno.remove(dir, { recursive: true });
      },
    };
  },
});

Deno.test("createKvStore() rejects invalid options", async () => {
  const kv = await Deno.openKv(":memory:");
  const name = "shop";
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const cases: readonly (readonly [any, string])[] = [
    [{ name }, "kv must be a database from Deno.openKv(), received undefined"],
    [{ name, kv: "cache.db" }, 'received "cache.db"'],
    [{ kv }, "name must be a non-empty string, received undefined"],
    [{ kv, name: "" }, "name must be a non-empty string"],
    [{ kv, name, interval: 0 }, "interval must be a number of seconds above 0"],
    [
      { kv, name, interval: Infinity },
      "and at most 2147483, as long as a timer can wait, received Infinity",
    ],
    [
      { kv, name, lockTime: NaN },
      "lockTime must be a number of seconds above 0",
    ],
    [
      { kv, name, lockTime: 3e6 },
      "and at most 2147483, as long as a timer can wait, received 3000000",
    ],
    [{ kv, name, timeout: 0 }, "timeout must be a number of seconds above 0"],
    [
      { kv, name, maxStaleness: "3" },
      "maxStaleness must be a number of seconds above 0, or Infinity",
    ],
    [{ kv, name, maxBytes: "1" }, "maxBytes must be a positive number"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => createKvStore(options), TypeError, message);
  }
  kv.close();
});

/**
 * Creates a file, a cache in this process, and a child process that uses it.
 */
async function withChild(what: string) {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/cache.db`;
  const program = "tests/data/store_process.ts";
  const child = startDeno(["run", "-A", program, path, "test", what]);
  return {
    child,
    async open() {
      const kv = await Deno.openKv(path);
      const cache = createCache({
        ...CACHE_LIMITS,
        store: createKvStore({ ...STORE_LIMITS, kv, name: "test" }),
      });
      return {
        cache,
        async [Symbol.asyncDispose]() {
          await cache.close();
          kv.close();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

Deno.test("createKvStore(): an invalidation in one process is visible in another", async () => {
  await using subject = await withChild("hear");
  const { child } = subject;
  await child.printed(/^kept$/m);
  await using here = await subject.open();
  assert((await here.cache.revalidateTag("a")).success);
  await child.printed(/^seen$/m);
  assertEquals([await child.code, child.stderr], [0, ""]);
});

Deno.test("createKvStore(): if a computing process is killed, one other takes over after the lock ends", async () => {
  await using subject = await withChild("hang");
  const { child } = subject;
  await child.printed(/^computing$/m);
  await using one = await subject.open();
  await using other = await subject.open();
  let computed = 0;
  const calls = [one, other].map(({ cache }) =>
    cache.cached("k", () => ++computed, { maxAge: 60 })
  );
  child.kill("SIGKILL");
  await child.code;
  assertEquals(await Promise.all(calls), [1, 1]);
});

Deno.test("createKvStore(): a closed database fails no call and is reported once", async () => {
  const kv = await Deno.openKv(":memory:");
  const errors: unknown[] = [];
  const cache = createCache({
    store: createKvStore({ kv, name: "test" }),
    onError: (error) => errors.push(error),
  });
  let version = 1;
  const load = (key: string) =>
    cache.cached(key, () => version, { maxAge: 60, tags: ["a"] });
  await load("a");
  kv.close();
  version++;
  assertEquals(await load("a"), 1, "from memory");
  for (const key of ["b", "c", "d"]) assertEquals(await load(key), 2);
  assertEquals((await cache.revalidateTag("a")).success, false);
  assertEquals(await load("a"), 2);
  assertEquals(errors.length, 1);
  await cache.close();
});

Deno.test("createKvStore(): an outage between requests is reported outside any request", async () => {
  const kv = await Deno.openKv(":memory:");
  const scopes: unknown[] = [];
  const cache = createCache({
    store: createKvStore({ kv, name: "test", interval: 0.002 }),
    onError() {
      scopes.push(currentScope());
    },
  });
  const app = createApp({
    routes: [{
      path: "/",
      loader: () => cache.revalidateTag("a"),
    }],
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals((await response.json()).success, true);
  kv.close();
  while (scopes.length === 0) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(scopes, [undefined]);
  await cache.close();
});

Deno.test("createKvStore(): a value with a missing part is computed again", async () => {
  const kv = await Deno.openKv(":memory:");
  const errors: unknown[] = [];
  const load = async (value: string) => {
    // Each store starts with empty memory.
    await using store = createKvStore({ kv, name: "test" });
    const cache = createCache({
      store,
      onError: (error) => errors.push(error),
    });
    return await cache.cached("k", () => value, { maxAge: 60 });
  };
  const [first, second] = ["1", "2"].map((digit) => digit.repeat(200_000));
  assert(await load(first!) === first);
  assert(await load(second!) === first);
  const parts: Deno.KvKey[] = [];
  for await (const { key } of kv.list({ prefix: [] })) {
    if (key.includes("part")) parts.push(key);
  }
  assert(parts.length > 1, `${parts.length}`);
  await kv.delete(parts.at(-1)!);
  assert(await load(second!) === second);
  assertEquals(errors, []);
  kv.close();
});

Deno.test("createKvStore(): entries evicted from memory are counted and still found in KV", async () => {
  const kv = await Deno.openKv(":memory:");
  await using store = createKvStore({ kv, name: "test", maxEntries: 2 });
  const cache = createCache({ store });
  const load = (key: string, value: number) =>
    cache.cached(key, () => value, { maxAge: 60 });
  for (let i = 0; i < 5; i++) await load(`${i}`, i);
  const { entries, evictions } = cache.stats();
  assertEquals([entries, evictions], [2, 3]);
  for (let i = 0; i < 5; i++) assertEquals(await load(`${i}`, -1), i);
  kv.close();
});

Deno.test("createKvStore(): at most maxScopes invalidations are kept, whichever are repeated", async () => {
  const kv = await Deno.openKv(":memory:");
  await using store = createKvStore({ kv, name: "test", maxScopes: 10 });
  for (let i = 0; i < 10; i++) await store.invalidate({ tags: [`t${i}`] });
  for (let round = 0; round < 50; round++) {
    // Repeating the oldest makes it the newest, so another one is evicted.
    await store.invalidate({ tags: [`t${round}`, `t${round + 10}`] });
    let kept = 0;
    for await (const { key } of kv.list({ prefix: ["test", "cache", "log"] })) {
      kept += key.length > 3 ? 1 : 0;
    }
    assertEquals(kept, 10, `round ${round}`);
  }
  kv.close();
});

Deno.test("createKvStore(): an idle process learns of all invalidations before it trusts its memory", async () => {
  const kv = await Deno.openKv(":memory:");
  // With this interval, no store polls during the test.
  await using one = createKvStore({ kv, name: "test", interval: 3_600 });
  await using other = createKvStore({ kv, name: "test", interval: 3_600 });
  for (const store of [one, other]) await store.get!("k");
  await one.set("k", recordOf(one, "old", { tags: ["t2999"] }));
  assertEquals((await other.get!("k"))?.value, "old");
  for (let i = 0; i < 3_000; i += 500) {
    const tags = Array.from({ length: 500 }, (_, j) => `t${i + j}`);
    await one.invalidate({ tags });
  }
  const found = await other.get!("k");
  assert(found === undefined || !other.invalidations.isValid(found));
  kv.close();
});
