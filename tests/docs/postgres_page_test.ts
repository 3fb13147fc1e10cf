/**
 * Tests of the SQL in `docs/postgres.md`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import {
  createPostgresChannel,
  createPostgresRateLimitStore,
} from "@quartet/kit/rpc/postgres";
import pg from "pg";
import { sessionSql } from "../../auth/stores/postgres_session_sql.ts";
import { limitTables } from "../../core/limits/postgres_limit_tables.ts";
import { logTables } from "../../rpc/channel/postgres_log_sql.ts";
import { recordOf } from "../auth/stores/store_contract.ts";
import { UNHURRIED } from "../helpers.ts";
import {
  hasPostgres,
  needsPostgres,
  startPostgres,
} from "../postgres_server.ts";
import { readPages } from "./pages.ts";

const page = (await readPages()).find(({ path }) =>
  path === "docs/postgres.md"
)!;
const [create, grant] = page.blocks
  .filter(({ language }) => language === "sql")
  .map(({ text }) => text);

Deno.test("docs/postgres.md shows the tables that stores create", () => {
  const tables = [
    sessionSql("public", "kit_sessions").tables,
    limitTables("public", "kit_limits"),
    logTables("public", "kit_messages"),
  ];
  const text = tables.map(({ create }) => create.trim()).join("\n\n");
  assertEquals(create, text);
});

Deno.test({
  name: needsPostgres(
    "With the SQL of docs/postgres.md, the app's role needs no right to create tables",
  ),
  ignore: !hasPostgres,
  async fn() {
    await using server = await startPostgres();
    const admin = new pg.Client(server.url);
    admin.on("error", () => {});
    await admin.connect();
    await admin.query(`REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    await admin.query(`CREATE ROLE app LOGIN; ${create} ${grant}`);
    await admin.end();
    const url = new URL(server.url);
    url.username = "app";
    const options = {
      connect: () => new pg.Client(url.href),
      timeout: UNHURRIED,
    };
    await using sessions = createPostgresSessionStore(options);
    await using limits = createPostgresRateLimitStore(options);
    await using channel = createPostgresChannel({ ...options, name: "c" });
    await sessions.set(recordOf("a"));
    assert(await sessions.touch(recordOf("a")) === false, "it is expired");
    await sessions.deleteByUser("ada");
    const keys = [{ rule: { name: "r", max: 1, windowMs: 1e6 }, key: "k" }];
    const { wait, windows } = await limits.take(keys);
    assertEquals(wait, 0);
    await limits.settle({ keys, windows, mark: { name: "m", ms: 1e3 } });
    const controller = new AbortController();
    const stream = channel.subscribe(controller.signal);
    const next = stream.next();
    // The first message also deletes old ones.
    await channel.publish("hello");
    assertEquals((await next).value.value, "hello");
    controller.abort();
  },
});
