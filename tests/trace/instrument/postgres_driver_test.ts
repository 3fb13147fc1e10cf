import { assertEquals } from "@std/assert";
import { createTracer, tracedAdapter } from "@quartet/kit/trace";
import pg from "pg";
import postgres from "postgres";
import {
  hasPostgres,
  needsPostgres,
  sharedPostgres,
} from "../../postgres_server.ts";
import { onlyTrace, treeOf } from "../fakes.ts";

const url = sharedPostgres();
const THREE_ROWS = "SELECT generate_series(1, 3) AS n";

Deno.test({
  name: needsPostgres("The spans of npm:pg and npm:postgres count rows"),
  ignore: !hasPostgres,
  async fn() {
    const pool = tracedAdapter(new pg.Pool({ connectionString: url() }));
    const sql = tracedAdapter(postgres(url(), { max: 1, max_lifetime: 0 }));
    const tracer = createTracer();
    try {
      await tracer.withSpan("root", "request", async () => {
        assertEquals((await pool.query(THREE_ROWS)).rows.length, 3);
        assertEquals((await sql.unsafe(THREE_ROWS)).length, 3);
      });
    } finally {
      await Promise.all([pool.end(), sql.end()]);
    }
    const [, ...queries] = onlyTrace(tracer).spans.values();
    assertEquals(
      queries.map(({ attributes }) => attributes["db.response.returned_rows"]),
      [3, 3],
    );
  },
});

Deno.test({
  name: needsPostgres(
    "Queries of npm:postgres keep their methods, and are traced in transactions",
  ),
  ignore: !hasPostgres,
  async fn() {
    const sql = tracedAdapter(postgres(url(), { max: 2, max_lifetime: 0 }));
    const tracer = createTracer();
    try {
      await tracer.withSpan("root", "request", async () => {
        // As Drizzle does.
        assertEquals([...await sql.unsafe("SELECT 1").values()], [[1]]);
        // A part of another query isn't a query.
        const [sum] = await sql`SELECT ${sql.unsafe("1 + 1")} AS two`;
        assertEquals(sum!.two, 2);
        const query = sql.unsafe("SELECT 3 AS n");
        const [{ n }, again] = [(await query)[0]!, await query];
        assertEquals([n, again[0]!.n], [3, 3]);
        await sql.begin(async (transaction) => {
          await transaction.unsafe("SELECT 4").simple();
          await transaction.savepoint((inner) => inner.unsafe("SELECT 5"));
        });
        const client = await sql.reserve();
        await client.unsafe("SELECT nothing").catch(() => {});
        client.release();
      });
    } finally {
      await sql.end();
    }
    assertEquals(
      treeOf(onlyTrace(tracer)),
      "root(db.query, db.query, db.query, db.transaction(db.query, db.transaction(db.query)), db.query)",
    );
    const queries = [...onlyTrace(tracer).spans.values()]
      .filter(({ name }) => name === "db.query");
    assertEquals(
      queries.map(({ attributes, status }) => [
        attributes["db.query.text"],
        status,
      ]),
      [
        ["SELECT 1", "ok"],
        ["SELECT ? AS two", "ok"],
        ["SELECT 3 AS n", "ok"],
        ["SELECT 4", "ok"],
        ["SELECT 5", "ok"],
        ["SELECT nothing", "error"],
      ],
    );
  },
});

Deno.test({
  name: needsPostgres(
    "Templates of npm:postgres are traced, and may have parts",
  ),
  ignore: !hasPostgres,
  async fn() {
    const sql = tracedAdapter(postgres(url(), { max: 2, max_lifetime: 0 }));
    const tracer = createTracer();
    const run = async () => {
      const one = sql`n > ${0}`;
      const two = [sql`AND n < ${3}`, sql`AND n <> ${9}`];
      const rows = await sql`
        SELECT n FROM generate_series(1, 9) AS n WHERE ${one} ${two}`;
      assertEquals([...rows], [{ n: 1 }, { n: 2 }]);
      assertEquals([...await sql`SELECT ${4}::int`.values()], [[4]]);
      const { n } = (await sql`SELECT 5 AS ${sql("n")}`)[0]!;
      assertEquals(n, 5);
      const [[first], [second]] = await sql.begin((transaction) => [
        transaction`SELECT 6 AS n`,
        transaction`SELECT 7 AS n`,
      ]);
      assertEquals([first!.n, second!.n], [6, 7]);
      const [row] = await sql`SELECT * FROM ${sql([[8, 9]])}`.catch(() =>
        sql`SELECT * FROM (VALUES ${sql([[8, 9]])}) AS pairs (a, b)`
      );
      assertEquals([row!.a, row!.b].map(Number), [8, 9]);
      for await (const rows of sql`SELECT 10 AS m`.cursor()) {
        assertEquals([...rows], [{ m: 10 }]);
      }
    };
    try {
      await run();
      await tracer.withSpan("root", "request", run);
    } finally {
      await sql.end();
    }
    const queries = [...onlyTrace(tracer).spans.values()]
      .filter(({ name }) => name === "db.query");
    assertEquals(
      queries.map(({ attributes, status }) => [
        String(attributes["db.query.text"]).trim(),
        attributes["db.response.returned_rows"],
        status,
      ]),
      [
        ["SELECT n FROM generate_series(1, 9) AS n WHERE ? ?", 2, "ok"],
        ["SELECT ?::int", 1, "ok"],
        ["SELECT 5 AS ?", 1, "ok"],
        ["SELECT 6 AS n", 1, "ok"],
        ["SELECT 7 AS n", 1, "ok"],
        ["SELECT * FROM ?", undefined, "error"],
        ["SELECT * FROM (VALUES ?) AS pairs (a, b)", 1, "ok"],
      ],
    );
  },
});
