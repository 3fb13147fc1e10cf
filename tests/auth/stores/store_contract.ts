/**
 * What every session store has to do, as tests. Each store's test file runs
 * them.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import type { SessionRecord, SessionStore } from "@quartet/kit/auth";

/** A store under test, on a clock that only moves when it is told to. */
export interface StoreUnderTest extends AsyncDisposable {
  /** The time of the stores, in milliseconds. */
  readonly clock: { time: number };
  /**
   * Opens the store as one process would. If it is shared, all that are opened
   * share their sessions; else it is the same one.
   */
  open(): SessionStore;
}

/** How a store is tested. */
export interface StoreContract {
  /** Names the store. */
  readonly name: string;
  /** Makes one that is empty. */
  readonly make: () => Promise<StoreUnderTest>;
  /** Whether what it needs is missing. */
  readonly ignore?: boolean;
  /** The title of a test. */
  readonly title?: (name: string) => string;
  /** Whether it has `onEnded`. Default: `hasConnection`. */
  readonly tellsEnds?: boolean;
  /**
   * Whether it has `ping` and `close` of a connection of its own. Default:
   * `false`.
   */
  readonly hasConnection?: boolean;
  /** Registers a test. Default: `Deno.test`. */
  readonly register?: (name: string, fn: () => Promise<void>) => void;
}

const HOUR = 60 * 60 * 1000;

/** Where the clocks of tests begin: what a database counts itself is relative. */
export const START = 1_700_000_000_000;

/** Ids of users, and of sessions, as nobody would choose them. */
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
  // What the one before may be kept under.
  "sha256:AJZNj2fVHUI_ydZXONwuynLR2Tr10d1x-FNgRFX4G2w",
  "x".repeat(5_000),
  "y".repeat(5_000),
  "é".repeat(5_000),
];

/** Makes a record that is valid for an hour from the start on. */
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

/** The ids of the sessions that a user has. */
export async function idsOf(
  store: SessionStore,
  userId = "ada",
): Promise<string[]> {
  return (await store.listByUser(userId)).map(({ id }) => id);
}

/** A test of a store, as two processes open it. */
type StoreTest = (
  store: SessionStore,
  clock: { time: number },
  other: SessionStore,
) => Promise<void>;

/** Registers the tests of a store. */
export function testSessionStore(
  {
    name,
    make,
    ignore = false,
    title = (text) => text,
    hasConnection = false,
    tellsEnds = hasConnection,
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

  test("gives back what was set, and nothing else", async (store, _, other) => {
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

  test("keeps all that JSON carries, and only that", async (store) => {
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

  test("is not changed with what it was given or has given", async (store) => {
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

  test("takes every id and every user's id, and tells them apart", async (store) => {
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

  test("drops a session, once or twice", async (store, _, other) => {
    for (const id of ["a", "b"]) await store.set(recordOf(id));
    await other.delete("a");
    await store.delete("a");
    await store.delete("never");
    assertEquals(await store.get("a"), undefined);
    assertEquals(await idsOf(store), ["b"]);
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals(await store.get("a"), undefined);
  });

  test("lists a user's sessions, the oldest first", async (store) => {
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
    "drops all sessions of a user, and no others",
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

  test("knows no session from its end on", async (store, clock) => {
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

  test("gives no session that was over when it came", async (store, clock) => {
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
  });

  test("replaces a session of the same id, whoever's it was", async (store) => {
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
    "refreshes a session that it has, beyond its first end",
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

  test("refreshes no session that it hasn't, nor another user's", async (store) => {
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await store.listByUser("ada"), []);
    await store.set(recordOf("a", "bob"));
    assertEquals(await store.touch!(recordOf("a")), false);
    assertEquals((await store.get("a"))?.userId, "bob");
    assertEquals(await store.listByUser("ada"), []);
  });

  test(
    "lets no refresh bring back what was revoked meanwhile",
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
    "has a session listed that begins while all are revoked, or not at all",
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

  test("takes many sessions at once", async (store) => {
    const ids = Array.from({ length: 90 }, (_, i) => `${i}`);
    await Promise.all(
      ids.map((id, i) =>
        store.set(recordOf(id, "ada", { createdAt: START + i }))
      ),
    );
    assertEquals(await idsOf(store), ids);
    assertEquals(await store.deleteByUser("ada"), 90);
  });

  test("refuses what is too long, and keeps what it has", async (store) => {
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

  test("refuses what is no record, naming what one is", async (store) => {
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

  if (!tellsEnds) return;

  test(
    "tells every process which sessions end or change",
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
    "tells nothing to a listener that was stopped",
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
    "tells the end of each id, or that some may be missed",
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
    "answers ping() until it is closed, and closes alone",
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

/** A listener of a store, and the ids that it has heard. */
interface TestListener extends AsyncDisposable {
  readonly heard: (string | undefined)[];
}

/** Listens to a store. Resolves once it hears what another process does. */
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
