import type { Tables } from "../../core/postgres/tables.ts";

/** Returns the table of all channels of a schema. Its name is checked before. */
export function logTables(schema: string, name: string): Tables {
  const table = `${schema}.${name}`;
  return {
    schema,
    last: table,
    create: `
CREATE TABLE IF NOT EXISTS ${table} (
  channel text COLLATE "C" NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  tag text NOT NULL,
  value text,
  PRIMARY KEY (channel, seq)
);
`,
  };
}

/**
 * Returns the statements. Numbers commit in order, because an append holds a
 * lock until it commits. So a reader that has seen one number has seen all
 * before it.
 */
export function logSql(table: string) {
  const lock = "SELECT pg_advisory_xact_lock($2::text::bigint)";
  const added = `
  INSERT INTO ${table} (channel, tag, value)
  SELECT $1::text, $3::text, each.value
  FROM lock, json_array_elements_text($4::text::json)
    WITH ORDINALITY AS each (value, place)
  ORDER BY each.place RETURNING seq`;
  const ids = `
SELECT added.seq::text, (SELECT pg_notify($5::text, '')::text) FROM added
ORDER BY added.seq`;
  return {
    /** `$1` name, `$2` lock, `$3` tag, `$4` texts, `$5` channel. */
    append: `WITH lock AS MATERIALIZED (${lock}), added AS (${added})${ids}`,
    /** The same. `$6` rows to keep, without the newest one so far. */
    appendAndTrim: `
WITH lock AS MATERIALIZED (${lock}), added AS (${added}), trimmed AS (
  DELETE FROM ${table} USING lock
  WHERE channel = $1::text AND seq IN (
    SELECT seq FROM ${table} WHERE channel = $1::text AND seq < (
      SELECT seq FROM ${table} WHERE channel = $1::text
      ORDER BY seq DESC OFFSET $6::text::bigint LIMIT 1
    )
    ORDER BY seq LIMIT 1000
  )
)${ids}`,
    /** `$1` name, `$2` lock, `$3` tag. */
    tail: `
WITH newest AS MATERIALIZED (
  SELECT seq, tag FROM ${table} WHERE channel = $1::text
  ORDER BY seq DESC LIMIT 1
), lock AS MATERIALIZED (
  ${lock} WHERE NOT EXISTS (SELECT FROM newest)
), first AS (
  INSERT INTO ${table} (channel, tag) SELECT $1::text, $3::text FROM lock
  RETURNING seq, tag
)
SELECT seq::text, tag FROM newest UNION ALL SELECT seq::text, tag FROM first`,
    /** `$1` name, `$2` number, `$3` rows. */
    after: `
SELECT each.seq::text, tag, value FROM ${table} AS each
WHERE channel = $1::text AND seq >= $2::text::bigint
ORDER BY each.seq LIMIT $3::text::bigint`,
  };
}
