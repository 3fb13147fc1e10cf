import { DatabaseSync } from "node:sqlite";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createTracer, type SpanData, tracedAdapter } from "@quartet/kit/trace";
import { onlyTrace, treeOf } from "../fakes.ts";

/** Returns the spans that `run` created below the root, in order. */
async function spansOf(run: () => unknown): Promise<SpanData[]> {
  const tracer = createTracer();
  await tracer.withSpan("root", "request", run);
  return [...onlyTrace(tracer).spans.values()].slice(1);
}

/** Returns name, text and number of rows of each span. */
function summary(spans: SpanData[]): unknown[] {
  return spans.map(({ name, attributes }) => [
    name,
    attributes["db.query.text"],
    attributes["db.response.returned_rows"],
  ]);
}

function sqlite(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT)");
  database.exec(
    "INSERT INTO country VALUES ('fr', 'France'), ('de', 'Germany')",
  );
  return database;
}

Deno.test("node:sqlite: every way to run a query creates a span with its text and rows", async () => {
  const database = tracedAdapter(sqlite(), {
    system: "sqlite",
    namespace: "atlas",
  });
  const spans = await spansOf(() => {
    database.exec("DELETE FROM country WHERE code = 'xx'");
    const select = database.prepare("SELECT * FROM country WHERE code = ?");
    assertEquals(select.get("fr")?.name, "France");
    assertEquals(select.all("de").length, 1);
    assertEquals(select.all("xx").length, 0);
    const insert = database.prepare("INSERT INTO country VALUES (?, ?)");
    assertEquals(insert.run("es", "Spain").changes, 1);
  });
  database.close();

  const select = "SELECT * FROM country WHERE code = ?";
  assertEquals(summary(spans), [
    ["db.execute", "DELETE FROM country WHERE code = 'xx'", undefined],
    ["db.query", select, undefined],
    ["db.query", select, 1],
    ["db.query", select, 0],
    ["db.execute", "INSERT INTO country VALUES (?, ?)", undefined],
  ]);
  for (const { layer, attributes } of spans) {
    assertEquals(layer, "database");
    assertEquals(attributes["db.system.name"], "sqlite");
    assertEquals(attributes["db.namespace"], "atlas");
    assertEquals(attributes["db.collection.name"], "country");
  }
});

Deno.test("node:sqlite: an error is recorded on the query's span and rethrown", async () => {
  const database = tracedAdapter(sqlite());
  const spans = await spansOf(() => {
    assertThrows(() => database.exec("SELECT * FROM nowhere"));
    const insert = database.prepare("INSERT INTO country VALUES (?, ?)");
    assertThrows(() => insert.run("fr", "France again"), Error, "UNIQUE");
  });
  database.close();
  assertEquals(spans.map(({ status }) => status), ["error", "error"]);
});

Deno.test("node:sqlite: the span of an iteration lasts until its end and counts the rows read", async () => {
  const database = tracedAdapter(sqlite());
  const tracer = createTracer();
  await tracer.withSpan("root", "request", (root) => {
    const statement = database.prepare("SELECT * FROM country ORDER BY code");
    const taken: unknown[] = [];
    for (const row of statement.iterate()) {
      taken.push(row.code);
      const open = [...tracer.getTrace(root.traceId)!.spans.values()].at(-1);
      assertEquals(open?.name, "db.query");
      assertEquals(open?.attributes["db.response.returned_rows"], undefined);
    }
    assertEquals(taken, ["de", "fr"]);
    for (const _ of statement.iterate()) break;
    assertThrows(
      () => {
        for (const _ of statement.iterate()) throw new Error("mine");
      },
      Error,
      "mine",
    );
    assertThrows(() => [...statement.iterate("one too many")]);
  });
  database.close();

  const spans = [...onlyTrace(tracer).spans.values()].slice(1);
  assertEquals(
    spans.map(({ status, attributes }) => [
      status,
      attributes["db.response.returned_rows"],
    ]).slice(0, 3),
    [["ok", 2], ["ok", 1], ["ok", 1]],
  );
});

Deno.test("An iteration that fails halfway is recorded as an error", async () => {
  const adapter = tracedAdapter({
    prepare: (_text: string) => ({
      *iterate() {
        yield 1;
        throw new Error("disk");
      },
    }),
  });
  const spans = await spansOf(() => {
    assertThrows(
      () => [...adapter.prepare("SELECT 1").iterate()],
      Error,
      "disk",
    );
  });
  assertEquals(spans[0]?.status, "error");
  assertEquals(spans[0]?.attributes["db.response.returned_rows"], 1);
});

Deno.test("An iterator of promises is returned unchanged", async () => {
  const adapter = tracedAdapter({
    prepare: (_text: string) => ({
      async *iterate() {
        yield await Promise.resolve(1);
      },
    }),
  });
  await spansOf(async () => {
    const taken: number[] = [];
    for await (const row of adapter.prepare("SELECT 1").iterate()) {
      taken.push(row);
    }
    assertEquals(taken, [1]);
  });
});

Deno.test("Without a trace, the driver is unchanged, iterators included", () => {
  const database = tracedAdapter(sqlite());
  const statement = database.prepare("SELECT code FROM country ORDER BY code");
  assertEquals(statement.all().map((row) => row.code), ["de", "fr"]);
  assertEquals([...statement.iterate()].length, 2);
  assertThrows(() => database.exec("nonsense"));
  database.close();
});

Deno.test("A promise driver is traced until it settles, with text or { text } or { sql }", async () => {
  const calls: unknown[][] = [];
  const adapter = tracedAdapter({
    async query(...args: unknown[]) {
      calls.push(args);
      await new Promise((resolve) => setTimeout(resolve));
      if (args[1] === "fail") throw new TypeError("bad parameter");
      return [{ n: 1 }];
    },
    execute: (query: { sql: string }) => Promise.resolve(query.sql.length),
  });
  const spans = await spansOf(async () => {
    assertEquals(await adapter.query("SELECT 1", [7]), [{ n: 1 }]);
    await adapter.query({ text: "SELECT 2", values: [8] });
    assertEquals(await adapter.execute({ sql: "DELETE FROM a" }), 13);
    await assertRejects(() => adapter.query("SELECT 3", "fail"), TypeError);
    await adapter.query(5);
  });
  assertEquals(summary(spans), [
    ["db.query", "SELECT 1", 1],
    ["db.query", "SELECT 2", 1],
    ["db.execute", "DELETE FROM a", undefined],
    ["db.query", "SELECT 3", undefined],
  ]);
  assertEquals(spans.map(({ status }) => status), ["ok", "ok", "ok", "error"]);
  assertEquals(calls[1], [{ text: "SELECT 2", values: [8] }]);
  assert(!JSON.stringify(spans).includes("fail"));
});

Deno.test("A callback driver is traced until it calls back, even if its result throws when awaited", async () => {
  // As in mysql2: the result of `query` has a `then` that throws.
  const result = {
    then() {
      throw new Error("You have tried to await a query that isn't a promise");
    },
  };
  type Callback = (error: Error | null, rows?: unknown[]) => void;
  const adapter = tracedAdapter({
    query(text: string, callback: Callback) {
      setTimeout(() =>
        text.includes("fail")
          ? callback(new Error("no such table"))
          : callback(null, [1, 2, 3])
      );
      return result;
    },
  });
  const query = (text: string) =>
    new Promise((resolve, reject) => {
      const returned = adapter.query(
        text,
        (error, rows) => error ? reject(error) : resolve(rows),
      );
      assertStrictEquals(returned, result);
    });
  const spans = await spansOf(async () => {
    assertEquals(await query("SELECT 1"), [1, 2, 3]);
    await assertRejects(() => query("SELECT fail"), Error, "no such table");
  });
  assertEquals(await query("SELECT untraced"), [1, 2, 3]);
  assertEquals(summary(spans), [
    ["db.query", "SELECT 1", 3],
    ["db.query", "SELECT fail", undefined],
  ]);
  assertEquals(spans.map(({ status }) => status), ["ok", "error"]);
});

Deno.test("Queries of a client from a pool are traced, and its other members work", async () => {
  class Client {
    #released = false;
    query(_text: string) {
      return Promise.resolve([]);
    }
    release() {
      this.#released = true;
    }
    get released() {
      return this.#released;
    }
  }
  const pool = tracedAdapter({
    connect: () => Promise.resolve(new Client()),
    getConnection: () => new Client(),
  });
  const spans = await spansOf(async () => {
    for (const client of [await pool.connect(), pool.getConnection()]) {
      await client.query("BEGIN");
      client.release();
      assertEquals(client.released, true);
      assert(client instanceof Client);
    }
  });
  assertEquals(summary(spans), [
    ["db.execute", "BEGIN", 0],
    ["db.execute", "BEGIN", 0],
  ]);
});

Deno.test("A transaction with a function is a span around the queries of its client", async () => {
  const client = { query: (_text: string) => Promise.resolve([1]) };
  const adapter = tracedAdapter({
    async transaction<T>(fn: (tx: typeof client) => Promise<T>): Promise<T> {
      return await fn(client);
    },
  }, { system: "postgresql" });
  const tracer = createTracer();
  const rows = await tracer.withSpan(
    "root",
    "request",
    () =>
      adapter.transaction(async (tx) => {
        await tx.query("UPDATE a SET b = 1");
        return await tx.query("SELECT 1");
      }),
  );
  assertEquals(rows, [1]);
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "root(db.transaction(db.execute, db.query))",
  );
});

Deno.test("better-sqlite3: a transaction runs when its function is called, also for its variants", async () => {
  // deno-lint-ignore no-explicit-any -- as in the driver's own types
  type Fn = (...args: any[]) => unknown;
  const adapter = tracedAdapter({
    prepare: (_text: string) => ({ run: (..._values: unknown[]) => 1 }),
    transaction(fn: Fn) {
      const run = (...args: unknown[]) => fn(...args);
      return Object.assign(run, {
        immediate: (...args: unknown[]) => fn(...args),
      });
    },
  });
  const insert = adapter.prepare("INSERT INTO a VALUES (?)");
  const insertAll = adapter.transaction((values: number[]) => {
    for (const value of values) insert.run(value);
    return values.length;
  });
  const tracer = createTracer();
  tracer.withSpan("root", "request", () => {
    assertEquals(insertAll([1, 2]), 2);
    assertEquals(insertAll.immediate([3]), 1);
  });
  assertEquals(insertAll([4]), 1);
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "root(db.transaction(db.execute, db.execute), db.transaction(db.execute))",
  );
  await Promise.resolve();
});

Deno.test("A returned transaction, as in libSQL, is traced", async () => {
  const adapter = tracedAdapter({
    transaction: (_mode: string) =>
      Promise.resolve({
        execute: (_text: string) => Promise.resolve([]),
        commit: () => Promise.resolve("done"),
      }),
  });
  const spans = await spansOf(async () => {
    const transaction = await adapter.transaction("write");
    await transaction.execute("DELETE FROM a");
    assertEquals(await transaction.commit(), "done");
  });
  assertEquals(summary(spans), [["db.execute", "DELETE FROM a", 0]]);
});

Deno.test("Arguments that aren't queries are passed on", async () => {
  const compiled = { handle: 1 };
  const driver = {
    prepare: (query: unknown) => typeof query === "string" ? null : query,
    transaction: (options: unknown, run: (value: unknown) => unknown) =>
      [options, run(5)] as const,
    connect: () => 7,
    query: (query: unknown) => query,
  };
  const traced = tracedAdapter(driver);
  const settings = { mode: "immediate" };
  const spans = await spansOf(() => {
    assertStrictEquals(traced.prepare(compiled), compiled);
    assertStrictEquals(traced.prepare("SELECT 1"), null);
    assertStrictEquals(traced.query(compiled), compiled);
    assertEquals(traced.connect(), 7);
    const [options, result] = traced.transaction(settings, (value) => value);
    assertStrictEquals(options, settings);
    assertEquals(result, 5);
  });
  assertEquals(spans.map(({ name }) => name), ["db.transaction"]);
});

Deno.test("A query run through a chained statement is traced", async () => {
  class Statement {
    plucked = false;
    pluck(): this {
      this.plucked = true;
      return this;
    }
    raw(): this {
      return this;
    }
    bind(): Statement {
      return new Statement();
    }
    all(): unknown[] {
      return [this.plucked];
    }
  }
  class Database {
    exec(_text: string): this {
      return this;
    }
    prepare(_text: string): Statement {
      return new Statement();
    }
  }
  const database = tracedAdapter(new Database());
  const spans = await spansOf(() => {
    const statement = database.exec("DELETE FROM a").prepare("SELECT 1");
    assertEquals(statement.pluck().raw().all(), [true]);
    assertEquals(statement.bind().all(), [false]);
  });
  assertEquals(summary(spans), [
    ["db.execute", "DELETE FROM a", undefined],
    ["db.query", "SELECT 1", 1],
    ["db.query", "SELECT 1", 1],
  ]);
});

Deno.test("A statement from a promise is traced", async () => {
  const adapter = tracedAdapter({
    prepare: (_text: string) =>
      Promise.resolve({ all: () => Promise.resolve([1, 2]) }),
  });
  const spans = await spansOf(async () => {
    const statement = await adapter.prepare("SELECT 1");
    assertEquals(await statement.all(), [1, 2]);
  });
  assertEquals(summary(spans), [["db.query", "SELECT 1", 2]]);
});

Deno.test("A query of Bun's SQLite, which only prepares it, is traced when it runs", async () => {
  const statement = {
    all: () => [1, 2],
    run: () => {
      throw new Error("UNIQUE constraint failed");
    },
  };
  const database = tracedAdapter({
    query: (_text: string) => statement,
    loadExtension() {},
  });
  const spans = await spansOf(() => {
    database.query("SELECT 1").all();
    database.query("SELECT 2");
    assertThrows(() => database.query("INSERT INTO note VALUES (3)").run());
  });
  assertEquals(summary(spans), [
    ["db.query", "SELECT 1", 2],
    ["db.execute", "INSERT INTO note VALUES (3)", undefined],
  ]);
  assertEquals(spans.map(({ status }) => status), ["ok", "error"]);
});

Deno.test("A query as a template is traced without its values", async () => {
  const client = tracedAdapter({
    queryObject: (query: TemplateStringsArray, ...values: unknown[]) =>
      Promise.resolve({ rows: [query.join("$1"), ...values] }),
  });
  const spans = await spansOf(async () => {
    const { rows } = await client.queryObject`SELECT ${"secret"} AS a`;
    assertEquals(rows, ["SELECT $1 AS a", "secret"]);
  });
  assertEquals(summary(spans), [["db.query", "SELECT ? AS a", 2]]);
});

Deno.test("Properties can be read and set, and methods keep their this", () => {
  class Driver {
    #secret = 7;
    open = true;
    query(_text: string) {
      return [this.#secret];
    }
    get secret() {
      return this.#secret;
    }
    set secret(value: number) {
      this.#secret = value;
    }
    whoAmI() {
      return this;
    }
  }
  const original = new Driver();
  const driver = tracedAdapter(original);
  assert(driver instanceof Driver);
  assertStrictEquals(driver.constructor, Driver);
  assertEquals(driver.query("SELECT 1"), [7]);
  driver.secret = 8;
  assertEquals([driver.secret, original.secret], [8, 8]);
  driver.open = false;
  assertEquals(original.open, false);
  assert("query" in driver);
  assertStrictEquals(driver.whoAmI(), driver);
  assertStrictEquals(driver.query, driver.query);
  const { query } = driver;
  assertEquals(query("SELECT 1"), [8]);
});

Deno.test("A method replaced on the driver or on the proxy is the one that runs", () => {
  const original = { query: (_text: string) => 1 };
  const adapter = tracedAdapter(original);
  assertEquals(adapter.query("SELECT 1"), 1);
  adapter.query = () => 2;
  assertEquals(adapter.query("SELECT 1"), 2);
  original.query = () => 3;
  assertEquals(adapter.query("SELECT 1"), 3);
});

Deno.test("Frozen drivers work, but can't be traced", async () => {
  const adapter = tracedAdapter(
    Object.freeze({ query: (_text: string) => [1] }),
  );
  const spans = await spansOf(() => {
    assertEquals(adapter.query("SELECT 1"), [1]);
  });
  assertEquals(spans, []);
});

Deno.test("Functions with members, as in postgres.js, keep them", async () => {
  const sql = Object.assign(
    (parts: TemplateStringsArray, ...values: unknown[]) =>
      Promise.resolve([parts.join("?"), ...values]),
    {
      unsafe: (text: string) => Promise.resolve([text]),
      options: { host: "localhost" },
    },
  );
  const holder = tracedAdapter({ sql, query: sql.unsafe });
  assertEquals(await holder.sql`SELECT ${1}`, ["SELECT ?", 1]);
  assertEquals(holder.sql.options.host, "localhost");

  const traced = tracedAdapter(sql);
  const spans = await spansOf(async () => {
    assertEquals(await traced`SELECT ${2}`, ["SELECT ?", 2]);
    assertEquals(await traced.unsafe("SELECT 3"), ["SELECT 3"]);
  });
  assertEquals(summary(spans), [
    ["db.query", "SELECT ?", 2],
    ["db.query", "SELECT 3", 1],
  ]);
});

Deno.test("A query builder that is called with a table's name gets no span for it", async () => {
  const knex = Object.assign(
    (table: string) => Promise.resolve([`SELECT * FROM ${table}`]),
    { raw: (sql: string) => Promise.resolve([sql]) },
  );
  const traced = tracedAdapter(knex);

  const spans = await spansOf(async () => {
    assertEquals(await traced("users"), ["SELECT * FROM users"]);
    assertEquals(await traced.raw("SELECT 1"), ["SELECT 1"]);
  });
  assertEquals(summary(spans), [["db.query", "SELECT 1", 1]]);
});

Deno.test("Classes that are members of a driver can be instantiated", () => {
  class Pool {
    size: number;
    constructor(size: number) {
      this.size = size;
    }
  }
  const driver = tracedAdapter({ Pool, connect: () => new Pool(1) });
  const pool = new driver.Pool(3);
  assert(pool instanceof Pool);
  assertEquals(pool.size, 3);
});

Deno.test("node:sqlite: a query that can't be prepared is a failed span with its text", async () => {
  const database = tracedAdapter(sqlite(), { system: "sqlite" });
  const text = "SELECT * FROM nowhere";
  const [span, ...others] = await spansOf(() => {
    assertThrows(() => database.prepare(text), Error, "nowhere");
  });
  database.close();
  assertEquals(others, []);
  assertEquals(span!.status, "error");
  assertEquals(span!.attributes["db.query.text"], text);
});

Deno.test("tracedAdapter() rejects an object without the methods of a driver", () => {
  const redis = { hget: () => Promise.resolve("1") };
  for (
    const [adapter, kind] of [
      [null, "null"],
      ["sqlite", '"sqlite"'],
      [redis, "an object"],
      // As in ioredis and node-redis, whose keys may contain session ids.
      [{ ...redis, get() {}, set() {}, exec() {}, connect() {} }, "an object"],
      [new Map(), "an object"],
      // Not awaited.
      [Promise.resolve({ query: () => [] }), "a promise"],
    ]
  ) {
    assertThrows(
      () => tracedAdapter(adapter as never),
      TypeError,
      `Cannot trace a database: adapter must be a database, pool or client with a method such as query, execute or prepare (for others, use traceQuery()), received ${kind}`,
    );
  }
});
