import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  createPostgresSessionStore,
  type PostgresSessionStoreOptions,
} from "@quartet/kit/auth/postgres";
import pg from "pg";
import postgres from "postgres";
import { UNHURRIED } from "../../helpers.ts";
import { openSchema } from "../../postgres_schema.ts";
import {
  type Driver,
  driverNames,
  hasPostgres,
  needsPostgres,
  sharedPostgres,
} from "../../postgres_server.ts";
import { until } from "../../rpc/helpers.ts";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

const url = sharedPostgres();

for (const driver of driverNames) {
  testSessionStore({
    name: `createPostgresSessionStore() with ${driver}`,
    title: needsPostgres,
    ignore: !hasPostgres,
    hasConnection: true,
    async make() {
      const world = await openWorld(driver);
      return { ...world, open: world.store };
    },
  });
}

/** Creates a schema, and opens stores in it as several processes would. */
async function openWorld(driver: Driver) {
  const world = await openSchema(url(), driver);
  const { schema, connect } = world;
  const clock = { time: START };
  const now = () => clock.time;
  return {
    ...world,
    clock,
    store: (options: Partial<PostgresSessionStoreOptions> = {}) =>
      world.use(
        createPostgresSessionStore({
          connect,
          schema,
          now,
          timeout: UNHURRIED,
          ...options,
        }),
      ),
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

function test(
  name: string,
  fn: (world: World) => Promise<void>,
  drivers = driverNames,
): void {
  for (const driver of drivers) {
    Deno.test({
      name: needsPostgres(`${name} (${driver})`),
      ignore: !hasPostgres,
      async fn() {
        await using world = await openWorld(driver);
        await fn(world);
      },
    });
  }
}

test("A Postgres store uses only its table", async (world) => {
  const store = world.store();
  const other = world.store({ name: "other_sessions" });
  await store.set(recordOf("a"));
  assertEquals(await other.get("a"), undefined);
  await other.set(recordOf("b"));
  assertEquals(await idsOf(store), ["a"]);
  assertEquals(await other.deleteByUser("ada"), 1);
  assertEquals(await idsOf(store), ["a"]);
});

test("Many processes can create a Postgres store at once", async (world) => {
  const stores = Array.from({ length: 8 }, () => world.store());
  await Promise.all(
    stores.map((store, i) => store.set(recordOf(`session ${i}`))),
  );
  assertEquals((await idsOf(stores[0]!)).length, 8);
});

test("New sessions remove expired ones, a few at a time", async (world) => {
  const store = world.store();
  const count = async () => {
    const [row] = await world.run(
      `SELECT count(*)::int FROM ${world.schema}.kit_sessions`,
    );
    return row![0];
  };
  for (let i = 0; i < 15; i++) await store.set(recordOf(`old ${i}`));
  await world.run(
    `UPDATE ${world.schema}.kit_sessions SET expires_at = now() - interval '1 s'`,
  );
  await store.set(recordOf("new 1"));
  assertEquals(await count(), 6);
  await store.set(recordOf("new 2"));
  assertEquals(await count(), 2);
  assertEquals(await idsOf(store), ["new 1", "new 2"]);
});

test("A process with a fast clock removes no valid session", async (world) => {
  const store = world.store();
  await store.set(recordOf("a"));
  world.clock.time += 1e12;
  assertEquals(await store.get("a"), undefined);
  await store.set(recordOf("b", "ada", { expiresAt: START + 2e12 }));
  world.clock.time = START;
  assertEquals(await idsOf(store), ["a", "b"]);
});

test("onEnded() reports ends and changes in other processes", async (world) => {
  const here = world.store();
  const there = world.store();
  const told: (readonly string[] | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  const stop = here.onEnded!((ids) => {
    told.push(ids);
    next.resolve();
  });
  const wait = async () => {
    await next.promise;
    next = Promise.withResolvers();
    return told.splice(0);
  };
  // Reported on start: sessions may have ended before.
  assertEquals(await wait(), [undefined]);
  for (const id of ["a", "b", "c"]) await there.set(recordOf(id));
  await there.touch(recordOf("a"));
  assertEquals(await wait(), [["a"]]);
  await there.delete("b");
  assertEquals(await wait(), [["b"]]);
  await there.delete("b");
  await there.touch(recordOf("b"));
  await there.deleteByUser("ada");
  assertEquals((await wait()).map((ids) => ids?.toSorted()), [["a", "c"]]);

  // More than a notification can hold.
  const ids = Array.from({ length: 250 }, (_, i) => `s${i}`.padEnd(43, "_"));
  await Promise.all(ids.map((id) => there.set(recordOf(id, "bob"))));
  assertEquals(await here.deleteByUser("bob"), 250);
  const found: string[] = [];
  while (found.length < 250) {
    for (const part of await wait()) found.push(...part!);
  }
  assertEquals(found.toSorted(), ids.toSorted());

  // Ids that a notification can't hold.
  await there.set(recordOf("a b"));
  await there.delete("a b");
  assertEquals(await wait(), [undefined]);
  stop();
  await there.set(recordOf("d"));
  await there.delete("d");
  await here.ping();
  assertEquals(told, []);
});

test("onEnded() first reports that sessions may have ended before", async (world) => {
  const there = world.store();
  let isOver = false;
  const ending = (async () => {
    for (let i = 0; !isOver; i++) {
      await there.set(recordOf(`${i}`));
      await there.delete(`${i}`);
    }
  })();
  try {
    for (let round = 0; round < 10; round++) {
      await using here = world.store();
      const told: (readonly string[] | undefined)[] = [];
      here.onEnded!((ids) => told.push(ids));
      await until(() => told.length > 0);
      assertEquals(told[0], undefined);
    }
  } finally {
    isOver = true;
    await ending;
  }
});

test(
  "A Postgres store needs no CREATE privilege if its tables exist",
  async (world) => {
    const { schema } = world;
    await world.store().ping();
    const role = `role_${schema.slice(-12)}`;
    await world.run(`CREATE ROLE ${role} LOGIN`);
    try {
      await world.run(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
      const limited = new URL(url());
      limited.username = role;
      const errors: Error[] = [];
      const store = world.store({
        connect: () => new pg.Client(limited.href),
        onError: (error) => errors.push(error),
      });
      await assertRejects(
        async () => await store.set(recordOf("a")),
        Error,
        "permission denied for table kit_sessions",
      );
      await world.run(
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.kit_sessions TO ${role}`,
      );
      await store.set(recordOf("a"));
      assertEquals(await idsOf(store), ["a"]);
      assertEquals(errors, []);

      const none = world.store({
        connect: () => new pg.Client(limited.href),
        name: "another",
        onError: (error) => errors.push(error),
      });
      const message =
        `Cannot reach session store: its tables can't be created: permission denied for schema ${schema}`;
      await assertRejects(
        async () => await none.set(recordOf("a")),
        Error,
        message,
      );
      assertEquals(errors.map((error) => error.message), [message]);
      await none.close();
      await store.close();
    } finally {
      await world.run(`DROP OWNED BY ${role}`);
      await world.run(`DROP ROLE ${role}`);
    }
  },
  ["npm:pg"],
);

test("A Postgres store recreates a dropped table", async (world) => {
  const store = world.store({ onError: () => {} });
  await store.set(recordOf("a"));
  await world.run(`DROP SCHEMA ${world.schema} CASCADE`);
  await assertRejects(
    async () => await store.get("a"),
    Error,
    "does not exist",
  );
  assertEquals(await store.get("a"), undefined);
  await store.set(recordOf("a"));
  assertEquals(await idsOf(store), ["a"]);
});

test("A Postgres store opens at most maxConnections connections", async (world) => {
  const store = world.store({ maxConnections: 2 });
  await store.set(recordOf("a"));
  await using admin = await openSchema(url(), "npm:pg");
  const connections = async () => {
    const [row] = await admin.run(
      `SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE '/*%${world.schema}%'`,
    );
    return row![0];
  };
  // So that the first connection can't answer all calls before the second opens.
  await world.run("BEGIN");
  await world.run(`LOCK TABLE ${world.schema}.kit_sessions`);
  const gets = Array.from({ length: 200 }, () => store.get("a"));
  while (await connections() !== 2);
  await world.run("COMMIT");
  for (const record of await Promise.all(gets)) assert(record !== undefined);
  assertEquals(await connections(), 2);
});

test(
  "connect() must return a new client each time",
  async (world) => {
    const client = new pg.Client(url());
    client.on("error", () => {});
    const errors: string[] = [];
    const store = world.store({
      connect: () => client,
      onError: ({ message }) => errors.push(message),
    });
    await store.set(recordOf("a"));
    const message =
      "Cannot create session store: connect() must create a client each time, received the same again";
    // A second connection isn't possible, so the store continues with one.
    const gets = await Promise.all([store.get("a"), store.get("a")]);
    assertEquals(gets.map((record) => record?.id), ["a", "a"]);
    await client.end();
    let last = "";
    while (!last.includes(message)) {
      const get = async () => await store.get("a");
      last = (await assertRejects(get, Error)).message;
    }
    assertEquals(errors.length, 1);
  },
  ["npm:pg"],
);

Deno.test("createPostgresSessionStore() rejects objects that aren't clients of pg or postgres", async () => {
  const pool = new pg.Pool();
  const expected =
    "Cannot create session store: the result of connect() must be a new client of npm:pg or npm:postgres, as in () => new pg.Client(url) or () => postgres(url, { max: 1 }), received ";
  const wrong: [unknown, string][] = [
    [pool, "a pool"],
    [{ query: () => {} }, "an object"],
    [Promise.resolve(new pg.Client()), "a promise"],
    [undefined, "undefined"],
  ];
  for (const [client, kind] of wrong) {
    assertThrows(
      () => createPostgresSessionStore({ connect: () => client as never }),
      TypeError,
      expected + kind,
    );
  }
  await pool.end();
  for (const connect of [new pg.Client(), undefined]) {
    assertThrows(
      () => createPostgresSessionStore({ connect: connect as never }),
      TypeError,
      "connect must be a function",
    );
  }
  assertThrows(
    () => createPostgresSessionStore({ connect: postgres() as never }),
    TypeError,
    "the result of connect() must be a new client",
  );
  for (const name of ["", "a-b", "A", "a; DROP TABLE users", "x".repeat(41)]) {
    for (const options of [{ name }, { schema: name }]) {
      const connect = () => new pg.Client();
      assertThrows(
        () => createPostgresSessionStore({ connect, ...options }),
        TypeError,
        `${Object.keys(options)[0]} must be 1 to 40 lower-case letters`,
      );
    }
  }
});

test(
  "The report of an outage contains no password",
  async (world) => {
    const reports: string[] = [];
    let isBroken = false;
    const store = world.store({
      connect() {
        if (!isBroken) return world.connect();
        throw new TypeError("Invalid URL: 'postgres://app:hunter2@[db/app'");
      },
      onError: (error) => reports.push(error.message),
      // So that no health check runs when the connection is cut.
      timeout: 60,
    });
    await store.set(recordOf("a"));
    isBroken = true;
    await world.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%${world.schema}%' AND pid <> pg_backend_pid()`,
    );
    await until(() => reports.length === 1);
    const error = await assertRejects(async () => await store.get("a"), Error);
    assertEquals(reports, [error.message]);
    assertMatch(error.message, /^Cannot reach session store: Invalid URL/);
    assertEquals(error.message.includes("hunter2"), false);
  },
  // It notices that a connection was cut. npm:postgres does so at the next query.
  ["npm:pg"],
);
