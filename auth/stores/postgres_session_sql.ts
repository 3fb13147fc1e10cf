/**
 * Returns the statements of a session store for a table. Names are checked
 * before.
 *
 * There are two times. `expires_ms` is by the clock of the processes, as in the
 * record. `expires_at` is by the clock of Postgres, which decides when a row is
 * removed: a process with a fast clock must not remove valid sessions.
 */
export function sessionSql(schema: string, name: string) {
  const table = `${schema}.${name}`;
  const expiry = "now() + $5::text::float8 * interval '1 millisecond'";
  return {
    /** The table and its indexes. */
    tables: {
      schema,
      last: `${schema}.${name}_expires_at`,
      create: `
CREATE TABLE IF NOT EXISTS ${table} (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL,
  record text NOT NULL,
  expires_ms float8 NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS ${name}_user_id ON ${table} (user_id);
CREATE INDEX IF NOT EXISTS ${name}_expires_at ON ${table} (expires_at);
`,
    },
    /** `$1` id. */
    get:
      `SELECT record FROM ${table} WHERE id = $1::text AND expires_at > now()`,
    /** `$1` id, `$2` user, `$3` record, `$4` expiresAt, `$5` time left in ms. */
    set: `
WITH expired AS (
  DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE expires_at < now() AND id <> $1::text
    ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED
  )
)
INSERT INTO ${table} (id, user_id, record, expires_ms, expires_at)
VALUES ($1::text, $2::text, $3::text, $4::text::float8, ${expiry})
ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id,
  record = excluded.record, expires_ms = excluded.expires_ms,
  expires_at = excluded.expires_at`,
    /** As `set`. `$6` now, `$7` channel, `$8` refreshedAt. */
    touch: `
WITH kept AS (
  UPDATE ${table} SET record = $3::text, expires_ms = $4::text::float8,
    expires_at = ${expiry}
  WHERE id = $1::text AND user_id = $2::text
    AND expires_ms > $6::text::float8 AND expires_at > now()
    AND coalesce(${REFRESHED_MS}, 0) <= $8::text::float8
  RETURNING id
)
SELECT pg_notify($7::text, ${payload("id", `id ${PLAIN}`)})::text FROM kept`,
    /** `$1` id, `$2` channel, `$3` now. */
    delete: drop(table, "SELECT $1::text"),
    /**
     * `$1` user, `$2` channel, `$3` now. In one order, so that concurrent calls
     * don't block each other for ever.
     */
    deleteByUser: drop(
      table,
      `SELECT id FROM ${table} WHERE user_id = $1::text ORDER BY id FOR UPDATE`,
    ),
    /** `$1` user. */
    list: `
SELECT id, record FROM ${table} WHERE user_id = $1::text AND expires_at > now()`,
  };
}

/**
 * When a record was refreshed. Claims come before the last two fields. Postgres
 * can't read all JSON: it refuses U+0000.
 */
const REFRESHED_MS =
  `substring(record from '"refreshedAt":([0-9]+([.][0-9]+)?),"expiresAt":[^,]+}$')::float8`;

/** Ids that a notification can carry. All that the kit makes are such. */
const PLAIN = "~ '^[A-Za-z0-9_-]{1,64}$'";

/** Returns the text of a notification: ids, or nothing for "look at all". */
function payload(ids: string, isPlain: string): string {
  return `CASE WHEN ${isPlain} THEN ${ids} ELSE '' END`;
}

/**
 * Returns a statement that drops sessions and sends notifications. A notification may have
 * 8,000 bytes, so it has at most 100 ids.
 */
function drop(table: string, ids: string): string {
  return `
WITH gone AS (
  DELETE FROM ${table} WHERE id IN (${ids}) RETURNING id, expires_ms
), numbered AS (
  SELECT id, (row_number() OVER () - 1) / 100 AS part FROM gone
), told AS (
  SELECT pg_notify(
    $2::text,
    ${payload("string_agg(id, ' ')", `bool_and(id ${PLAIN})`)}
  )::text AS done FROM numbered GROUP BY part
)
SELECT (SELECT count(*) FROM gone WHERE expires_ms > $3::text::float8)::text,
  (SELECT count(done) FROM told)::text`;
}
