/**
 * Tests that every session store must pass. Each store's test file runs them.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import type { SessionRecord, SessionStore } from "@quartet/kit/auth";

/** A store under test, with a clock that the test advances. */
export interface StoreUnderTest extends AsyncDisposable {
  /** The time of the stores, in milliseconds. */
  readonly clock: { time: number };
  /**
   * Opens the store as one process would. Shared stores see each other's
   * sessions; otherwise each call returns the same store.
   */
  open(): SessionStore;
}

/** The settings of the tests of a store. */
export interface StoreContract {
  readonly name: string;
  readonly make: () => Promise<StoreUnderTest>;
  /** Whether the store's requirements are missing. */
  readonly ignore?: boolean;
  readonly title?: (name: string) => string;
  /** Whether the store has `onEnded`. Default: `hasConnection`. */
  readonly reportsEnds?: boolean;
  /**
   * Whether the store has `ping`, `close` and its own connection. Default:
   * `false`.
   */
  readonly hasConnection?: boolean;
  /** Registers a test. Default: `Deno.test`. */
  readonly register?: (name: string, fn: () => Promise<void>) => void;
}

const HOUR = 60 * 60 * 1000;

/** The start time of the tests. Databases use only relative times. */
export const START = 1_700_000_000_000;

/** Hostile ids of users and sessions. */
export const HOSTILE_IDS: readonly string[] = [
  "",
  " ",
  ":",
  "*",
  "?",
  "a",
  "A",
  "a:b",
  "user:a",
  "id:a",
  "sha256:",
  "sha256:a",
  "__proto__",
  "constructor",
  "toString",
  "\0",
  "a\0b",
  "a\r\nSET b 1",
  "{a}",
  "../a",
  "💥",
  "é",
  "e\u0301",
  "\ud800",
  "\ud801",
  "\udc00\ud800",
  "\ufffd",
  "x".repeat(129),
  // A possible storage form of the previous id.
  "sha256:AJZNj2fVHUI_ydZXONwuynLR2Tr10d1x-FNgRFX4G2w",
  "x".repeat(5_000),
  "y".repeat(5_000),
  "é".repeat(5_000),
];

/** Creates a record that is valid for an hour from the start. */
export function recordOf(
  id: string,
  userId = "ada",
  more: Partial<SessionRecord> = {},
): SessionRecord {
  return {
    id,
    userId,
    payload: { sub: userId, iat: START / 1000, exp: (START + HOUR) / 1000 },
    createdAt: START,
    refreshedAt: START,
    expiresAt: START + HOUR,
    ...more,
  };
}

/** Returns the ids of a user's sessions. */
export async function idsOf(
  store: SessionStore,
  userId = "ada",
): Promise<string[]> {
  return (await store.listByUser(userId)).map(({ id }) => id);
}

/** A test of a store, opened as by two processes. */
type StoreTest = (
  store: SessionStore,
  clock: { time: number },
  other: SessionStore,
) => Promise<void>;

export function testSessionStore(
  {
    name,
    make,
    ignore = false,
    title = (text) => text,
    hasConnection = false,
    reportsEnds = hasConnection,
    register,
  }: StoreContract,
): void {
  async function withStores(fn: StoreTest): Promise<void> {
    await using subject = await make();
    await fn(subject.open(), subject.clock, subject.open());
  }

  const test = (what: string, fn: StoreTest) => {
    const text = title(`${name}: ${what}`);
    if (register !== undefined) return register(text, () => withStores(fn));
    Deno.test({
      name: text,
      ignore,
      fn: () => withStores((...stores) => fn(...stores)),
    });
  };

  test("get() returns exactly what was set", async (store, _, other) => {
    assertEquals(await store.get("a"), undefined);
    assertEquals(await store.listByUser("ada"), []);
    const record = recordOf("a");
    await store.set(record);
    assertEquals(await store.get("a"), record);
    assertEquals(await other.get("a"), record);
    assertEquals(await other.listByUser("ada"), [record]);
    for (const id of HOSTILE_IDS.filter((id) => id !== "a")) {
      assertEquals(await store.get(id), undefined, JSON.stringify(id));
    }
    for (const id of HOSTILE_IDS) {
      assertEquals(await store.listByUser(id), [], JSON.stringify(id));
    }
  });

  test("set() keeps everything that JSON represents, and nothing else", async (store) => {
    const payload = JSON.parse(
      `{"sub":"ada","iat":1,"exp":2,"__proto__":{"a":1},"constructor":null,
        "texts":["","\\u0000","💥","\\ud800","é"],"deep":[[[{"a":[]}]]],
        "numbers":[0,-1,1e300,0.1],"no":false}`,
    );
    await store.set(recordOf("a", "ada", { payload }));
    const found = await store.get("a");
    assertEquals(JSON.stringify(found?.payload), JSON.stringify(payload));
    assertEquals(Object.getPrototypeOf(found?.payload), Object.prototype);
    const date = {
      sub: "ada",
      iat: 1,
      exp: 2,
      date: new Date(0),
      no: undefined,
    };
    await store.set(recordOf("b", "ada", { payload: date }));
    assertEquals(
      JSON.stringify((await store.get("b"))?.payload),
      JSON.stringify(date),
    );
    const more = { ...recordOf("c"), more: 1 };
    await store.set(more);
    assertEquals(await store.get("c"), recordOf("c"));
  });

  test("Changing a record doesn't change the store", async (store) => {
    const payload = { sub: "ada", iat: 1, exp: 2, roles: ["user"] };
    await store.set(recordOf("a", "ada", { payload }));
    payload.roles.push("admin");
    const found = [await store.get("a"), ...await store.listByUser("ada")];
    for (const record of found) {
      assertEquals(record?.payload["roles"], ["user"]);
      try {
        (record?.payload["roles"] as string[]).push("admin");
        record!.payload.sub = "root";
        Object.assign(record!, { userId: "root" });
      } catch (error) {
        assert(error instanceof TypeError);
      }
    }
    const record = await store.get("a");
    assertEquals(record?.payload["roles"], ["user"]);
    assertEquals([record?.payload.sub, record?.userId], ["ada", "ada"]);
  });

  test("All session ids and user ids are accepted and kept apart", async (store) => {
    for (const [i, id] of HOSTILE_IDS.entries()) {
      await store.set(recordOf(id, "ada", { createdAt: START + i }));
    }
    for (const [i, userId] of HOSTILE_IDS.entries()) {
      await store.set(recordOf(`session ${i}`, userId));
    }
    assertEquals(await idsOf(store), HOSTILE_IDS);
    for (const [i, id] of HOSTILE_IDS.entries()) {
      assertEquals((await store.get(id))?.id, id);
      assertEquals(await idsOf(store, id), [`session ${i}`]);
    }
    for (const [i, id] of HOSTILE_IDS.entries()) {
      assertEquals(await store.deleteByUser(id), 1, JSON.stringify(id));
      assertEquals(await store.deleteByUser(id), 0);
      assertEquals(await store.get(`session ${i}`), undefined);
      await store.delete(id);
      assertEquals(await store.get(id), undefined);
      assertEquals(await idsOf(store), HOSTILE_IDS.slice(i + 1));
    }
  });

  test(
    "delete() removes a session, also when called twice",
    async (store, _, other) => {
      for (const id of ["a", "b"]) await store.set(recordOf(id));
      await other.delete("a");
      await store.delete("a");
      await store.delete("never");
      assertEquals(await store.get("a"), undefined);
      assertEquals(await idsOf(store), ["b"]);
      assertEquals(await store.touch!(recordOf("a")), false);
      assertEquals(await store.get("a"), undefined);
    },
  );

  test("listByUser() returns a user's sessions, the oldest first", async (store) => {
    const ages = [5, 3, 9, 1, 7];
    for (const age of ages) {
      const createdAt = START - age;
      await store.set(recordOf(`age ${age}`, "ada", { createdAt }));
    }
    await store.set(recordOf("other", "bob"));
    assertEquals(
      await idsOf(store),
      [9, 7, 5, 3, 1].map((age) => `age ${age}`),
    );
    assertEquals(await idsOf(store, "bob"), ["other"]);
  });

  test(
    "deleteByUser() removes only that user's sessions",
    async (store, _, other) => {
      const ids = Array.from({ length: 40 }, (_, i) => `ada ${i}`);
      for (const id of ids) await store.set(recordOf(id));
      await store.set(recordOf("bob", "bob"));
      assertEquals(await other.deleteByUser("ada"), 40);
      for (const id of ids) assertEquals(await store.get(id), undefined);
      assertEquals(await store.listByUser("ada"), []);
      assertEquals(await idsOf(store, "bob"), ["bob"]);
      await store.set(recordOf("again"));
      assertEquals(await idsOf(store), ["again"]);
      assertEquals(await store.deleteByUser("ada"), 1);
    },
  );

  test("An expired session isn't returned", async (store, clock) => {
    const expiresAt = START + HOUR / 2;
    await store.set(recordOf("a", "ada", { expiresAt }));
    await store.set(recordOf("b"));
    clock.time = expiresAt - 1;
    assertEquals((await store.get("a"))?.expiresAt, expiresAt);
    assertEquals(await idsOf(store), ["a", "b"]);
    clock.time = expiresAt;
    assertEquals(await idsOf(store), ["b"]);
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await store.deleteByUser("ada"), 1);
    clock.time = START;
    assertEquals(await store.get("a"), undefined);
  });

  test(
    "A session that was already expired is never returned",
    async (store, clock) => {
      await store.set(recordOf("a"));
      for (const expiresAt of [START, START - 1, 0, -1e15]) {
        await store.set(recordOf("a", "ada", { expiresAt }));
        assertEquals(await store.get("a"), undefined);
        assertEquals(await store.listByUser("ada"), []);
      }
      clock.time = START - 1;
      await store.set(recordOf("a", "ada", { expiresAt: START + HOUR + 0.5 }));
      assertEquals(await idsOf(store), ["a"]);
      assertEquals(
        await store.touch!(recordOf("a", "ada", { expiresAt: 1 })),
        true,
      );
      assertEquals(await store.get("a"), undefined);
    },
  );

  test("set() replaces a session with the same id, even another user's", async (store) => {
    await store.set(recordOf("a"));
    await store.set(recordOf("a", "ada", { refreshedAt: START + 1 }));
    assertEquals((await store.get("a"))?.refreshedAt, START + 1);
    assertEquals(await idsOf(store), ["a"]);
    await store.set(recordOf("a", "bob"));
    assertEquals(await idsOf(store), []);
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals(await store.deleteByUser("ada"), 0);
    assertEquals((await store.get("a"))?.userId, "bob");
    assertEquals(await store.deleteByUser("bob"), 1);
  });

  test(
    "touch() extends an existing session beyond its original end",
    async (store, clock, other) => {
      await store.set(recordOf("a"));
      const payload = { sub: "ada", iat: 1, exp: 2, more: true };
      const longer = recordOf("a", "ada", {
        payload,
        refreshedAt: START + 1,
        expiresAt: START + 3 * HOUR,
      });
      assertEquals(await other.touch!(longer), true);
      clock.time = START + 2 * HOUR;
      assertEquals(await store.get("a"), longer);
      assertEquals(await store.listByUser("ada"), [longer]);
      assertEquals(await store.deleteByUser("ada"), 1);
    },
  );

  test("touch() ignores a missing session and another user's", async (store) => {
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await store.listByUser("ada"), []);
    await store.set(recordOf("a", "bob"));
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals((await store.get("a"))?.userId, "bob");
    assertEquals(await store.listByUser("ada"), []);
  });

  test(
    "touch() keeps a record that was refreshed later",
    async (store, _, other) => {
      // Claims and ids may look like fields of the record, or be hard to read.
      const tail = '"refreshedAt":1,"expiresAt":1}';
      const claims = {
        refreshedAt: START + HOUR,
        expiresAt: 1,
        text: `\0\ud800${tail}`,
        last: { refreshedAt: START + HOUR, expiresAt: 1 },
      };
      const recordAt = (id: string, time: number, roles: string[]) => {
        const { payload } = recordOf(id);
        return recordOf(id, "ada", {
          payload: { ...payload, roles, ...claims },
          refreshedAt: START + time,
        });
      };
      for (const id of ["a", tail, "\0", "\ud800", "x".repeat(5_000)]) {
        await store.set(recordAt(id, 0, ["admin"]));
        assertEquals(await other.touch!(recordAt(id, 0.5, [])), true);
        const demoted = recordAt(id, 2_000.25, []);
        assertEquals(await other.touch!(demoted), true);
        for (const time of [-1e13, 0, 1, 2_000, 2_000.125]) {
          const late = recordAt(id, time, ["admin"]);
          assertEquals(await store.touch!(late), false, `${id} ${time}`);
          assertEquals(await store.get(id), demoted);
        }
        const same = recordAt(id, 2_000.25, ["reader"]);
        assertEquals(await store.touch!(same), true);
        const next = recordAt(id, 10_000, ["editor"]);
        assertEquals(await store.touch!(next), true);
        assertEquals(await other.get(id), next);
        // A new session of the same id replaces it.
        await store.set(recordAt(id, 0, []));
        assertEquals((await other.get(id))?.refreshedAt, START);
      }
    },
  );

  test(
    "Of parallel touch() calls, the record refreshed last stays",
    async (store, _, other) => {
      for (let round = 0; round < 20; round++) {
        await store.set(recordOf("a"));
        const times = [3, 9, 1, 7, 5].map((time) => START + 1 + time);
        await Promise.all(
          times.map((refreshedAt, i) =>
            (i % 2 === 0 ? store : other).touch!(
              recordOf("a", "ada", { refreshedAt }),
            )
          ),
        );
        assertEquals((await store.get("a"))?.refreshedAt, START + 10);
      }
    },
  );

  test(
    "touch() doesn't revive a session that is revoked meanwhile",
    async (store, _, other) => {
      for (let round = 0; round < 30; round++) {
        const ids = [`a ${round}`, `b ${round}`, `c ${round}`];
        for (const id of ids) await store.set(recordOf(id));
        const refresh = ids.map((id) => () => store.touch!(recordOf(id)));
        const all: (() => unknown)[] = [...refresh, ...refresh, ...refresh];
        const revoke = round % 2 === 0
          ? () => other.deleteByUser("ada")
          : () => Promise.all(ids.map((id) => other.delete(id)));
        all.splice(round % all.length, 0, revoke);
        await Promise.all(all.map((run) => run()));
        for (const id of ids) assertEquals(await store.get(id), undefined);
        assertEquals(await store.listByUser("ada"), []);
      }
    },
  );

  test(
    "A session created during deleteByUser() is listed or absent, never half stored",
    async (store, _, other) => {
      for (let round = 0; round < 30; round++) {
        await store.set(recordOf("old"));
        const ids = [`a ${round}`, `b ${round}`];
        await Promise.all([
          store.set(recordOf(ids[0]!)),
          other.deleteByUser("ada"),
          store.set(recordOf(ids[1]!)),
        ]);
        const listed = await idsOf(store);
        for (const id of ids) {
          assertEquals(await store.get(id) !== undefined, listed.includes(id));
        }
        assertEquals(await store.get("old"), undefined);
        await store.deleteByUser("ada");
        for (const id of ids) assertEquals(await store.get(id), undefined);
      }
    },
  );

  test("Many sessions can be set at once", async (store) => {
    const ids = Array.from({ length: 90 }, (_, i) => `${i}`);
    await Promise.all(
      ids.map((id, i) =>
        store.set(recordOf(id, "ada", { createdAt: START + i }))
      ),
    );
    assertEquals(await idsOf(store), ids);
    assertEquals(await store.deleteByUser("ada"), 90);
  });

  test("set() rejects oversized records and keeps existing ones", async (store) => {
    const text = (length: number) => "é".repeat(length);
    const payload = { sub: "ada", iat: 1, exp: 2 };
    const large = recordOf("a", "ada", {
      payload: { ...payload, text: text(16_000) },
    });
    await store.set(large);
    assertEquals(await store.get("a"), large);
    const tooLarge = recordOf("a", "ada", {
      payload: { ...payload, text: text(16_384) },
    });
    for (
      const keep of [() => store.set(tooLarge), () => store.touch!(tooLarge)]
    ) {
      await assertRejects(
        async () => await keep(),
        TypeError,
        "Cannot keep session: its JSON must be at most 16384 characters long, received 16",
      );
    }
    assertEquals(await store.get("a"), large);
  });

  test("set() rejects an invalid record and names the expected fields", async (store) => {
    for (
      const wrong of [
        { expiresAt: NaN },
        { expiresAt: Infinity },
        { createdAt: "now" },
        { userId: 5 },
        { id: undefined },
        { payload: null },
      ]
    ) {
      await assertRejects(
        async () => await store.set({ ...recordOf("a"), ...wrong as object }),
        TypeError,
        "Cannot keep session: a record must have id, userId, payload",
      );
    }
    assertEquals(await store.get("a"), undefined);
    assertEquals(await store.listByUser("ada"), []);
  });

  if (!reportsEnds) return;

  test(
    "onEnded() notifies every process of sessions that end or change",
    async (store, _, other) => {
      await using here = await listen(store, other);
      await using there = await listen(other, store);
      for (const id of ["a", "b", "c", "d"]) await store.set(recordOf(id));
      await store.get("a");
      await store.delete("a");
      await store.delete("a");
      assertEquals(await other.touch!(recordOf("b")), true);
      assertEquals(await other.touch!(recordOf("b", "bob")), false);
      assertEquals(await other.touch!(recordOf("a")), false);
      assertEquals(await store.deleteByUser("ada"), 3);
      await store.set(recordOf("last"));
      await store.delete("last");
      for (const { heard } of [here, there]) {
        await until(() => heard.includes("last"));
        assertEquals(heard.slice(0, 2), ["a", "b"]);
        assertEquals(heard.slice(2, -1).toSorted(), ["b", "c", "d"]);
      }
    },
  );

  test(
    "onEnded() notifies no stopped listener",
    async (store, _, other) => {
      const stopped = await listen(store, other);
      await using here = await listen(store, other);
      await stopped[Symbol.asyncDispose]();
      for (const id of ["a", "b"]) await other.set(recordOf(id));
      await other.delete("a");
      await until(() => here.heard.includes("a"));
      await here[Symbol.asyncDispose]();
      await using again = await listen(store, other);
      await other.delete("b");
      await until(() => again.heard.includes("b"));
      assertEquals([stopped.heard, here.heard, again.heard], [[], ["a"], [
        "b",
      ]]);
    },
  );

  test(
    "onEnded() reports each id, or that some may be missing",
    async (store, _, other) => {
      await using listener = await listen(store, other);
      const { heard } = listener;
      for (const id of HOSTILE_IDS) {
        heard.length = 0;
        await other.set(recordOf(id));
        await other.delete(id);
        await until(() => heard.length > 0);
        assert(
          heard[0] === id || heard[0] === undefined,
          JSON.stringify(heard),
        );
        if (/^[\w-]{1,43}$/.test(id)) assertEquals(heard, [id]);
      }
    },
  );

  if (!hasConnection) return;

  test(
    "ping() answers until close(), which closes only this store",
    async (store, _, other) => {
      await store.set(recordOf("a"));
      await store.ping!();
      await other.ping!();
      let told = 0;
      store.onEnded!(() => told++);
      await until(() => told > 0);
      told = 0;
      await store.close!();
      await store.close!();
      for (
        const call of [
          () => store.ping!(),
          () => store.get("a"),
          () => store.set(recordOf("b")),
          () => store.touch!(recordOf("a")),
          () => store.delete("a"),
          () => store.deleteByUser("ada"),
          () => store.listByUser("ada"),
        ]
      ) await assertRejects(async () => await call(), UnavailableError);
      store.onEnded!(() => told++);
      await other.ping!();
      assertEquals(await idsOf(other), ["a"]);
      await other.delete("a");
      assertEquals(told, 0);
    },
  );
}

/** A listener of a store, and the ids it received. */
interface TestListener extends AsyncDisposable {
  readonly heard: (string | undefined)[];
}

/** Listens to a store. Resolves once it receives events of another process. */
async function listen(
  store: SessionStore,
  other: SessionStore,
): Promise<TestListener> {
  const heard: (string | undefined)[] = [];
  const marks = new Set<string>();
  const stop = store.onEnded!((ids) => {
    for (const id of ids ?? [undefined]) {
      if (id?.startsWith("mark_")) marks.add(id);
      else heard.push(id);
    }
  });
  const isHeard = async (mark: string) => {
    await other.set(recordOf(mark, "nobody"));
    await other.delete(mark);
    await new Promise((resolve) => setTimeout(resolve, 10));
    return marks.has(mark);
  };
  const mark = `mark_${crypto.randomUUID()}`;
  while (!await isHeard(mark));
  heard.length = 0;
  return {
    heard,
    [Symbol.asyncDispose]() {
      stop();
      return Promise.resolve();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
