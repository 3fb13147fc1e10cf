import { type Rule, rule } from "../check/rules.ts";
import type { PostgresConnection } from "./connection.ts";

/** Tables and functions that a store needs. */
export interface Tables {
  /** The schema, which is created if it doesn't exist. */
  readonly schema: string;
  /** The last one that `create` creates: a table, or a function with types. */
  readonly last: string;
  /** Statements that create what doesn't exist yet. */
  readonly create: string;
}

/** Runs statements. See `PostgresConnection.query()`. */
export type Query = PostgresConnection["query"];

/**
 * A name of a schema or table. Short enough for names that are made of it, as
 * Postgres cuts names after 63 bytes.
 */
export const anIdentifier: Rule = rule(
  "1 to 40 lower-case letters, digits and underscores, the first not a digit",
  (value) => typeof value === "string" && /^[a-z_][a-z0-9_]{0,39}$/.test(value),
);

/** Held by all processes that create tables, so that they take turns. */
const LOCK = "5713048627418603";

/** Creates the tables, unless they exist. Then no rights are needed for that. */
export async function createTables(
  query: Query,
  { schema, last, create }: Tables,
): Promise<void> {
  const name = last.endsWith(")") ? "to_regprocedure" : "to_regclass";
  const [row] = await query(
    `SELECT ${name}($1::text)::text, to_regnamespace($2::text)::text`,
    [last, schema],
  );
  const [found, existing] = row!;
  if (found !== null) return;
  try {
    await query(`
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(${LOCK});
${existing === null ? `CREATE SCHEMA IF NOT EXISTS ${schema};` : ""}
${create}`);
  } catch (error) {
    const { message } = error as Error;
    const reason = `its tables can't be created: ${message}`;
    throw Object.assign(new Error(reason), { cause: error });
  }
}
