import { assert, assertEquals, assertRejects } from "@std/assert";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import type {
  KvSessionStoreOptions,
  KvTransaction,
} from "@quartet/kit/auth/kv";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

testSessionStore({
  name: "createKvSessionStore()",
  async make() {
    const kv = await Deno.openKv(":memory:");
    const clock = { time: START };
    return {
      clock,
      open: () => createKvSessionStore({ kv, now: () => clock.time }),
      [Symbol.asyncDispose]: () => Promise.resolve(kv.close()),
    };
  },
});

/** A store at the start of the tests' time. */
async function openStore(options: Partial<KvSessionStoreOptions> = {}) {
  const kv = await Deno.openKv(":memory:");
  const store = createKvSessionStore({ kv, now: () => START, ...options });
  return { kv, store, [Symbol.dispose]: () => kv.close() };
}

async function keysOf(kv: Deno.Kv): Promise<Deno.KvKey[]> {
  return (await Array.fromAsync(kv.list({ prefix: [] }))).map(({ key }) => key);
}

Deno.test("A KV store keeps to its prefix, and leaves nothing behind", async () => {
  using opened = await openStore({ prefix: ["app", 1] });
  const { kv, store } = opened;
  const other = createKvSessionStore({ kv, prefix: ["app"], now: () => START });
  await store.set(recordOf("a"));
  await store.set(recordOf("b"));
  assertEquals(await keysOf(kv), [
    ["app", 1, "id", "a"],
    ["app", 1, "id", "b"],
    ["app", 1, "user", "ada", "a"],
    ["app", 1, "user", "ada", "b"],
  ]);
  assertEquals(await other.get("a"), undefined);
  assertEquals(await other.deleteByUser("ada"), 0);
  await store.delete("a");
  await store.deleteByUser("ada");
  assertEquals(await keysOf(kv), []);
});

Deno.test("A KV store of many sessions of one user revokes all of them", async () => {
  using opened = await openStore();
  const ids = Array.from({ length: 150 }, (_, i) => `${i}`);
  for (const id of ids) await opened.store.set(recordOf(id));
  assertEquals((await opened.store.listByUser("ada")).length, 150);
  assertEquals(await opened.store.deleteByUser("ada"), 150);
  assertEquals(await keysOf(opened.kv), []);
});

Deno.test("KV is told for how long to keep a session and the note of it", async () => {
  using opened = await openStore();
  const { kv } = opened;
  const told: [Deno.KvKey, number][] = [];
  const store = createKvSessionStore({
    kv: {
      get: (key) => kv.get(key),
      list: (selector) => kv.list(selector),
      atomic() {
        const transaction = kv.atomic();
        const spy: KvTransaction = {
          check: (entry) => (transaction.check(entry), spy),
          delete: (key) => (transaction.delete(key), spy),
          set(key, value, options) {
            told.push([key, options.expireIn]);
            transaction.set(key, value, options);
            return spy;
          },
          commit: () => transaction.commit(),
        };
        return spy;
      },
    },
    now: () => START,
  });
  await store.set(recordOf("a", "ada", { expiresAt: START + 60_000.5 }));
  await store.touch!(recordOf("a", "ada", { expiresAt: START + 90_000 }));
  await store.set(recordOf("b", "ada", { expiresAt: START - 5 }));
  await store.set(recordOf("c", "ada", { expiresAt: Number.MAX_VALUE }));
  assertEquals(told.map(([key]) => key.length === 3 ? "record" : "note"), [
    "record",
    "note",
    "record",
    "note",
    "record",
    "note",
    "record",
    "note",
  ]);
  assertEquals(told.map(([, ms]) => ms), [
    60_001,
    60_001,
    90_000,
    90_000,
    1,
    1,
    2 ** 40,
    2 ** 40,
  ]);
  assertEquals((await store.get("c"))?.expiresAt, Number.MAX_VALUE);
});

Deno.test("A refresh that has read a session writes nothing if it is revoked before that", async () => {
  using opened = await openStore();
  const { kv, store } = opened;
  const revocations = [
    () => store.delete("a"),
    () => store.deleteByUser("ada"),
    () => store.set(recordOf("a", "bob")),
  ];
  for (const revoke of revocations) {
    await store.set(recordOf("a"));
    let reads = 0;
    const late = createKvSessionStore({
      kv: {
        async get(key) {
          const entry = await kv.get(key);
          if (reads++ === 0) await revoke();
          return entry;
        },
        list: (selector) => kv.list(selector),
        atomic: () => kv.atomic(),
      },
      now: () => START,
    });
    assertEquals(await late.touch!(recordOf("a")), false);
    assertEquals(reads, 2);
    assert((await store.get("a"))?.userId !== "ada");
    assertEquals(await idsOf(store), []);
  }
});

Deno.test("A refresh that comes between is no obstacle to another, nor to a revocation", async () => {
  using opened = await openStore();
  const { kv, store } = opened;
  for (const isRevoked of [false, true]) {
    await store.set(recordOf("a"));
    let reads = 0;
    const late = createKvSessionStore({
      kv: {
        async get(key) {
          const entry = await kv.get(key);
          if (reads++ === 0) await store.touch!(recordOf("a"));
          return entry;
        },
        list: (selector) => kv.list(selector),
        atomic: () => kv.atomic(),
      },
      now: () => START,
    });
    if (isRevoked) assertEquals(await late.deleteByUser("ada"), 1);
    else assertEquals(await late.touch!(recordOf("a")), true);
    assertEquals(await store.get("a") === undefined, isRevoked);
    assertEquals(await idsOf(store), isRevoked ? [] : ["a"]);
  }
});

Deno.test("What is in KV under a session's key and is none is nobody's session", async () => {
  using opened = await openStore();
  const { kv, store } = opened;
  await store.set(recordOf("a"));
  const { value: good } = await kv.get(["sessions", "id", "a"]);
  for (
    const value of [
      null,
      5,
      "",
      "{",
      "null",
      "[]",
      "{}",
      new Uint8Array(3),
      { id: "a", userId: "ada" },
      String(good).replace('"id":"a"', '"id":"b"'),
      String(good).replace('"userId":"ada"', '"userId":["ada"]'),
      String(good).replace('"expiresAt":', '"expiresAt":null,"x":'),
    ]
  ) {
    await kv.set(["sessions", "id", "a"], value);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await idsOf(store), []);
    assertEquals(await store.touch!(recordOf("a")), false);
    await store.delete("a");
    assertEquals(await store.deleteByUser("ada"), 0);
    await store.set(recordOf("a"));
    assert(await store.get("a") !== undefined);
  }
});

Deno.test("A KV store that can't read fails the request", async () => {
  const { kv, store } = await openStore();
  kv.close();
  await assertRejects(async () => await store.get("a"));
  await assertRejects(async () => await store.listByUser("ada"));
});
