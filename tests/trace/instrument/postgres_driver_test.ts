import { assertEquals } from "@std/assert";
import { createTracer, tracedAdapter } from "@quartet/kit/trace";
import pg from "pg";
import postgres from "postgres";
import {
  hasPostgres,
  needsPostgres,
  sharedPostgres,
} from "../../postgres_server.ts";
import { onlyTrace } from "../fakes.ts";

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
