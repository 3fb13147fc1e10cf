import { matching, type Rule } from "../check/rules.ts";
import type { createPool } from "./pool.ts";

/** The tables and functions of a store. */
export interface Tables {
  /** The schema. It is created if it doesn't exist. */
  readonly schema: string;
  /** The last thing that `create` creates: a table, or a function with types. */
  readonly last: string;
  /** Statements that create missing tables and functions. */
  readonly create: string;
}

/**
 * A name of a schema or table. It leaves room for suffixes, because Postgres cuts
 * names after 63 bytes.
 */
export const anIdentifier: Rule = matching(
  "1 to 40 lower-case letters, digits and underscores, the first not a digit",
  /^[a-z_][a-z0-9_]{0,39}$/,
);

/** The lock that processes hold to create tables one at a time. */
const LOCK = "5713048627418603";

/** Ends statements that wait for a lock although nobody waits for them. */
const CANCEL = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND starts_with(query, $3::text)
  AND query_start < clock_timestamp() - $4::text::float8 * interval '1 ms'`;

/**
 * Creates the tables if they don't exist. Existing tables need no rights.
 *
 * Postgres doesn't notice that a connection was closed while its statement waits
 * for a lock. Without `CANCEL`, a long lock would use up all connections.
 *
 * @param tag Begins each statement.
 * @param timeout How long a statement may take, in milliseconds.
 */
export async function prepareTables(
  run: ReturnType<typeof createPool>["run"],
  { schema, last, create }: Tables,
  tag: string,
  timeout: number,
): Promise<void> {
  const name = last.endsWith(")") ? "to_regprocedure" : "to_regclass";
  const text =
    `SELECT ${name}($1::text)::text, to_regnamespace($2::text)::text, (${CANCEL})::text`;
  const [row] = await run(() => [text, [last, schema, tag, `${timeout}`]]);
  const [found, existing] = row!;
  if (found !== null) return;
  try {
    await run(() => [`
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(${LOCK});
${existing === null ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ""}
${create}`]);
  } catch (error) {
    const { message } = error as Error;
    const reason = `its tables can't be created: ${message}`;
    throw Object.assign(new Error(reason), { cause: error });
  }
}
