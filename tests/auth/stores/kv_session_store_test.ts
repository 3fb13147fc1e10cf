import { assert, assertEquals, assertRejects } from "@std/assert";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import type {
  KvDatabase,
  KvSessionStoreOptions,
  KvTransaction,
  SessionStore,
} from "@quartet/kit/auth/kv";
import { startDeno, UNHURRIED } from "../../helpers.ts";
import { until } from "../../rpc/helpers.ts";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

testSessionStore({
  name: "createKvSessionStore()",
  async make() {
    const kv = await Deno.openKv(":memory:");
    const clock = { time: START };
    return {
      clock,
      open: () =>
        createKvSessionStore({
          kv,
          now: () => clock.time,
          timeout: UNHURRIED,
        }),
      [Symbol.asyncDispose]: () => Promise.resolve(kv.close()),
    };
  },
});

/** Opens a store at the start of the tests' time. */
async function openStore(options: Partial<KvSessionStoreOptions> = {}) {
  const kv = await Deno.openKv(":memory:");
  const store = createKvSessionStore({
    kv,
    now: () => START,
    timeout: UNHURRIED,
    ...options,
  });
  return { kv, store, [Symbol.dispose]: () => kv.close() };
}

/**
 * Returns the permanent keys, without notes of ended sessions, which expire.
 */
async function keysOf(kv: Deno.Kv): Promise<Deno.KvKey[]> {
  const entries = await Array.fromAsync(kv.list({ prefix: [] }));
  return entries.map(({ key }) => key).filter((key) => !key.includes("ended"));
}

Deno.test("A KV store writes only below its prefix and leaves nothing behind", async () => {
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

Deno.test("A KV store revokes all of one user's many sessions", async () => {
  using opened = await openStore();
  const ids = Array.from({ length: 150 }, (_, i) => `${i}`);
  for (const id of ids) await opened.store.set(recordOf(id));
  assertEquals((await opened.store.listByUser("ada")).length, 150);
  assertEquals(await opened.store.deleteByUser("ada"), 150);
  assertEquals(await keysOf(opened.kv), []);
});

Deno.test("A KV store sets an expiry for each session and each note of its end", async () => {
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
          check: (...entries) => (transaction.check(...entries), spy),
          delete: (key) => (transaction.delete(key), spy),
          set(key, value, options) {
            if (!key.includes("ended")) told.push([key, options!.expireIn!]);
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

Deno.test("A refresh writes nothing if the session is revoked after its read", async () => {
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

Deno.test("A concurrent refresh blocks neither another refresh nor a revocation", async () => {
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

Deno.test("An invalid entry under a session's key in KV is ignored", async () => {
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

Deno.test("A request fails if the KV store can't be read", async () => {
  const { kv, store } = await openStore();
  kv.close();
  await assertRejects(async () => await store.get("a"));
  await assertRejects(async () => await store.listByUser("ada"));
});

/** Records a listener's notifications. `undefined`: some may be missing. */
function listenTo(store: SessionStore) {
  const told: (readonly string[] | undefined)[] = [];
  const stop = store.onEnded!((ids) => void told.push(ids));
  return { told, has: (id: string) => told.flat().includes(id), stop };
}

Deno.test("A KV store reports sessions that end or change through another handle", async () => {
  const path = await Deno.makeTempFile();
  const [here, there] = await Promise.all(
    [0, 1].map(async () => {
      const kv = await Deno.openKv(path);
      return { kv, store: createKvSessionStore({ kv, interval: 0.01 }) };
    }),
  );
  const expiresAt = Date.now() + 60_000;
  for (const id of ["a", "b", "c", "d"]) {
    await here!.store.set(recordOf(id, id === "d" ? "bob" : "ada", {
      expiresAt,
    }));
  }
  const { told, has, stop } = listenTo(here!.store);
  await until(() => told.length === 1);
  assertEquals(told, [undefined]);

  const { store } = there!;
  assertEquals(await store.touch!(recordOf("a", "ada", { expiresAt })), true);
  await until(() => has("a"));
  assertEquals(told, [undefined, ["a"]]);
  await store.delete("b");
  await until(() => has("b"));
  assertEquals(await store.deleteByUser("ada"), 2);
  await until(() => has("c"));
  // Unknown ids and new sessions aren't reported.
  await store.delete("x");
  await store.set(recordOf("e", "ada", { expiresAt }));
  await store.delete("d");
  await until(() => has("d"));
  assertEquals(told.flat().toSorted(), ["a", "a", "b", "c", "d", undefined]);

  // No listener sees this, so afterwards anything may have changed.
  stop();
  const reports = told.length;
  await store.delete("e");
  const again = listenTo(here!.store);
  await until(() => again.told.length === 1);
  assertEquals(again.told, [undefined]);
  assertEquals(told.length, reports);
  again.stop();
  for (const { kv } of [here!, there!]) kv.close();
  await Deno.remove(path);
});

/**
 * Opens a store of `database` whose next look at the ended sessions stops before
 * it reads them, until `resume()` is called.
 */
function holdLooks(database: Deno.Kv) {
  let held: PromiseWithResolvers<void> | undefined;
  let reached = Promise.withResolvers<void>();
  const kv: KvDatabase = {
    get: (key) => database.get(key),
    atomic: () => database.atomic() as KvTransaction,
    async *list(selector) {
      reached.resolve();
      await held?.promise;
      yield* database.list(selector as Deno.KvListSelector);
    },
  };
  return {
    store: createKvSessionStore({ kv, now: () => START, interval: 0.01 }),
    /** Holds the next look. The returned promise resolves when it has begun. */
    hold() {
      held = Promise.withResolvers();
      reached = Promise.withResolvers();
      return reached.promise;
    },
    resume: () => held!.resolve(),
  };
}

Deno.test("A KV store reports sessions that end after the clock was put back", async () => {
  using kv = await Deno.openKv(":memory:");
  let now = Date.now();
  const store = createKvSessionStore({ kv, interval: 0.01, now: () => now });
  for (const back of [20_000, 3_600_000]) {
    const expiresAt = now + 7_200_000;
    await store.set(recordOf("a", "ada", { expiresAt }));
    const { told, has, stop } = listenTo(store);
    await until(() => told.length === 1);
    now -= back;
    await store.delete("a");
    await store.set(recordOf("b", "ada", { expiresAt }));
    await until(() => has("a"));
    stop();
  }
});

Deno.test("A session that ends while a KV store polls is reported once", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, hold, resume } = holdLooks(kv);
  const other = createKvSessionStore({ kv, now: () => START });
  for (const id of ["a", "b", "c"]) await store.set(recordOf(id));
  const { told, has, stop } = listenTo(store);
  await until(() => told.length === 1);
  const polling = hold();
  await other.delete("a");
  await polling;
  await other.delete("b");
  resume();
  await until(() => has("b"));
  await other.delete("c");
  await until(() => has("c"));
  assertEquals(told, [undefined, ["a"], ["b"], ["c"]]);
  stop();
});

Deno.test("A listener that is added while a KV store polls learns that notifications may be missing", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store, hold, resume } = holdLooks(kv);
  const other = createKvSessionStore({ kv, now: () => START });
  await store.set(recordOf("a"));
  const first = listenTo(store);
  await until(() => first.told.length === 1);
  const polling = hold();
  await other.delete("a");
  await polling;
  first.stop();
  const second = listenTo(store);
  resume();
  await until(() => second.told.length > 0);
  assertEquals(second.told, [undefined]);
  assertEquals(first.told, [undefined]);
  second.stop();
});

Deno.test("A KV store reports a session that another process has ended", async () => {
  const path = await Deno.makeTempFile();
  using kv = await Deno.openKv(path);
  const store = createKvSessionStore({ kv, interval: 0.01 });
  const expiresAt = Date.now() + 60_000;
  await store.set(recordOf("a", "ada", { expiresAt }));
  await store.set(recordOf("b", "ada", { expiresAt }));
  const { told, has, stop } = listenTo(store);
  await until(() => told.length === 1);
  const script = new URL("end_kv_session.ts", import.meta.url).pathname;
  await using child = startDeno(["run", "-A", script, path, "a"]);
  assertEquals(await child.code, 0, child.stderr);
  await until(() => has("a"));
  assertEquals(told, [undefined, ["a"]]);
  stop();
});

Deno.test("A KV store that couldn't poll for long reports that notifications may be missing", async () => {
  const clock = { time: START };
  using opened = await openStore({ now: () => clock.time, interval: 0.01 });
  const { store } = opened;
  for (const id of ["a", "b"]) await store.set(recordOf(id));
  const { told, stop } = listenTo(store);
  await until(() => told.length === 1);
  clock.time += 20_000;
  await store.delete("a");
  await until(() => told.length === 2);
  clock.time += 40_000;
  await until(() => told.length === 3);
  assertEquals(told, [undefined, ["a"], undefined]);
  stop();
});

Deno.test("Processes that write to a KV file at the same time wait for each other", async () => {
  const path = await Deno.makeTempFile();
  const script = new URL("write_kv_sessions.ts", import.meta.url).pathname;
  const children = ["a", "b", "c"].map((name) =>
    startDeno(["run", "-A", script, path, name])
  );
  for (const child of children) {
    assertEquals([await child.code, child.stderr], [0, ""]);
  }
  await Deno.remove(path);
});

Deno.test("A KV store times out if the database doesn't answer", async () => {
  using kv = await Deno.openKv(":memory:");
  const never = new Promise<never>(() => {});
  const silent = new Proxy(kv, {
    get(target, name) {
      if (name === "get") return () => never;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const store = createKvSessionStore({ kv: silent, timeout: 0.02 });
  for (const call of [store.get("a"), store.delete("a"), store.ping!()]) {
    const error = await assertRejects(() => Promise.resolve(call));
    assertEquals(
      String(error),
      "UnavailableError: Cannot reach session store: Deno KV has not answered for 0.02 s",
    );
  }
});
