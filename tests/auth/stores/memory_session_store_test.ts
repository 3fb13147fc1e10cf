import { assert, assertEquals, assertThrows } from "@std/assert";
import { createMemorySessionStore } from "@quartet/kit/auth";
import type { MemorySessionStoreOptions } from "@quartet/kit/auth";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

testSessionStore({
  name: "createMemorySessionStore()",
  reportsEnds: true,
  make() {
    const { store, clock } = timed();
    return Promise.resolve({
      clock,
      open: () => store,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  },
});

/** Creates a store with a clock that the test advances. */
function timed(options: MemorySessionStoreOptions = {}) {
  const clock = { time: START };
  const now = () => clock.time;
  return { store: createMemorySessionStore({ now, ...options }), clock };
}

Deno.test("A memory store answers synchronously", () => {
  const { store } = timed();
  assertEquals(store.set(recordOf("a")), undefined);
  assertEquals(store.get("a"), recordOf("a"));
  assertEquals(store.touch(recordOf("a")), true);
  assertEquals(store.listByUser("ada"), [recordOf("a")]);
  assertEquals(store.deleteByUser("ada"), 1);
  assertEquals(store.delete("a"), undefined);
});

Deno.test("10,001 sign-ins of one user evict no other user's session", () => {
  const { store } = timed();
  for (let i = 0; i < 9_900; i++) store.set(recordOf(`${i}`, `user ${i}`));
  for (let i = 0; i < 10_001; i++) store.set(recordOf(`ada ${i}`));
  for (let i = 0; i < 9_900; i++) assert(store.get(`${i}`) !== undefined);
  assertEquals(store.size, 10_000);
  assertEquals(store.listByUser("ada").length, 100);
  assert(store.get("ada 10000") !== undefined);
  assertEquals(store.get("ada 9900"), undefined);
});

Deno.test("maxSessionsPerUser evicts the user's least recently used session", async () => {
  const { store } = timed({ maxSessionsPerUser: 3 });
  for (const id of ["a", "b", "c"]) store.set(recordOf(id));
  store.get("a");
  store.touch(recordOf("b"));
  store.set(recordOf("d"));
  assertEquals(await idsOf(store), ["a", "b", "d"]);
  store.set(recordOf("e"));
  assertEquals(await idsOf(store), ["b", "d", "e"]);
});

Deno.test("Replacing a session evicts no other one", async () => {
  const { store } = timed({ maxSessions: 2, maxSessionsPerUser: 2 });
  for (const id of ["a", "b", "b", "a", "b"]) store.set(recordOf(id));
  assertEquals((await idsOf(store)).toSorted(), ["a", "b"]);
});

Deno.test("A full store evicts the least recently used session", () => {
  const { store } = timed({ maxSessions: 100 });
  for (let i = 0; i < 1_000; i++) {
    store.set(recordOf(`${i}`, `user ${i}`));
    assert(store.get("0") !== undefined);
    assertEquals(store.size, Math.min(100, i + 1));
  }
  for (let i = 0; i < 1_000; i++) {
    const isKept = i === 0 || i > 900;
    assertEquals(store.listByUser(`user ${i}`).length, isKept ? 1 : 0);
    assertEquals(store.get(`${i}`) !== undefined, isKept);
  }
});

Deno.test("listByUser() doesn't count as a use", () => {
  const { store } = timed({ maxSessions: 2 });
  for (const id of ["a", "b"]) store.set(recordOf(id, id));
  store.listByUser("a");
  store.set(recordOf("c", "c"));
  assertEquals(store.get("a"), undefined);
});

Deno.test("Expired sessions are evicted first", async () => {
  const { store, clock } = timed({ maxSessions: 3, maxSessionsPerUser: 3 });
  store.set(recordOf("a"));
  const expiresAt = START + 1;
  store.set(recordOf("b", "ada", { expiresAt }));
  store.set(recordOf("c", "ada", { expiresAt }));
  clock.time = expiresAt;
  store.set(recordOf("d"));
  assertEquals(await idsOf(store), ["a", "d"]);
  assertEquals(store.size, 2);
});

Deno.test("New sessions remove expired ones, even if those are never read", () => {
  const { store, clock } = timed();
  for (let i = 0; i < 1_000; i++) {
    store.set(recordOf(`${i}`, `user ${i}`, { expiresAt: START + 1 + i }));
  }
  clock.time = START + 500;
  store.set(recordOf("new"));
  assertEquals(store.size, 501);
  clock.time = START + 5_000;
  store.set(recordOf("newer"));
  assertEquals(store.size, 2);
});

Deno.test("A memory store keeps the LRU order over random calls", () => {
  const { store } = timed({ maxSessions: 20, maxSessionsPerUser: 20 });
  let order: string[] = [];
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let step = 0; step < 20_000; step++) {
    const id = `${random(40)}`;
    const kept = order.includes(id);
    const rest = order.filter((other) => other !== id);
    switch (random(4)) {
      case 0:
        store.set(recordOf(id, `user ${id}`));
        order = [...rest, id].slice(-20);
        break;
      case 1:
        assertEquals(store.get(id) !== undefined, kept);
        if (kept) order = [...rest, id];
        break;
      case 2:
        assertEquals(store.touch(recordOf(id, `user ${id}`)), kept);
        if (kept) order = [...rest, id];
        break;
      default:
        if (random(2) === 0) store.delete(id);
        else assertEquals(store.deleteByUser(`user ${id}`), kept ? 1 : 0);
        order = rest;
    }
    assertEquals(store.size, order.length);
  }
});

Deno.test("A memory store reports sessions that end or change at once", () => {
  const { store, clock } = timed({ maxSessions: 4, maxSessionsPerUser: 3 });
  const told: string[] = [];
  const listener = (ids: readonly string[] | undefined) => {
    // The change is already visible.
    told.push(...ids!.map((id) => `${id} ${store.get(id)?.refreshedAt}`));
  };
  const stop = store.onEnded(listener);
  const stopTwin = store.onEnded(listener);
  stopTwin();
  store.set(recordOf("a"));
  store.touch(recordOf("a", "ada", { refreshedAt: START + 5 }));
  store.touch(recordOf("b"));
  store.delete("b");
  assertEquals(told.splice(0), [`a ${START + 5}`]);
  store.set(recordOf("b"));
  store.set(recordOf("c"));
  store.get("a");
  store.set(recordOf("d"));
  assertEquals(told.splice(0), ["b undefined"]);
  store.set(recordOf("e", "bob"));
  store.set(recordOf("f", "eve"));
  assertEquals(told.splice(0), ["c undefined"]);
  store.delete("e");
  store.deleteByUser("ada");
  store.deleteByUser("ada");
  assertEquals(told.splice(0), ["e undefined", "a undefined", "d undefined"]);
  store.set(recordOf("f", "ada", { refreshedAt: 7 }));
  assertEquals(told.splice(0), ["f 7"]);
  // Expiry isn't reported, because listeners know `expiresAt`.
  clock.time = recordOf("f").expiresAt;
  assertEquals(store.get("f"), undefined);
  stop();
  store.set(recordOf("g", "ada", { expiresAt: clock.time + 1 }));
  store.delete("g");
  assertEquals(told, []);
});

Deno.test("createMemorySessionStore() rejects limits that aren't positive integers", () => {
  for (const name of ["maxSessions", "maxSessionsPerUser"]) {
    for (const value of [0, -1, 1.5, NaN, Infinity]) {
      assertThrows(
        () => createMemorySessionStore({ [name]: value }),
        TypeError,
        `Cannot create session store: ${name} must be a positive integer, received ${value}`,
      );
    }
    assertThrows(
      () => createMemorySessionStore({ [name]: "12" as never }),
      TypeError,
      `${name} must be a positive integer, received "12"`,
    );
  }
});
