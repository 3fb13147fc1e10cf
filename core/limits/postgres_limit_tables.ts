import type { Tables } from "../postgres/tables.ts";

/**
 * Returns the table of rate limits, and the functions that count in it. Their
 * names are checked before.
 *
 * A row is a window, or a mark, which has no count. `ends` is in milliseconds
 * since the Unix epoch. An event holds the locks of its keys until the commit.
 */
export function limitTables(schema: string, name: string): Tables {
  const table = `${schema}.${name}`;
  return {
    schema,
    last: `${table}_settle(text[],float8[],text,text,float8)`,
    create: `
CREATE UNLOGGED TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  count float8 NOT NULL,
  ends float8 NOT NULL
);
CREATE INDEX IF NOT EXISTS ${name}_ends ON ${table} (ends);
CREATE OR REPLACE FUNCTION ${table}_take(
  _keys text[], _max float8[], _ms float8[], _marks text[]
) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  _now float8;
  _wait float8 := 0;
  _ends float8[] := '{}';
  _counts float8[] := '{}';
  _end float8;
  _count float8;
BEGIN
  PERFORM pg_advisory_xact_lock(each.lock) FROM (
    SELECT DISTINCT hashtextextended(key, 0) AS lock FROM unnest(_keys) AS key
    ORDER BY lock
  ) AS each;
  _now := extract(epoch FROM clock_timestamp()) * 1000;
  FOR i IN 1..cardinality(_keys) LOOP
    _ends[i] := 0;
    CONTINUE WHEN EXISTS (
      SELECT FROM ${table} WHERE key = _marks[i] AND ends > _now
    );
    SELECT ends, count INTO _end, _count FROM ${table}
    WHERE key = _keys[i] AND ends > _now;
    _ends[i] := coalesce(_end, _now + _ms[i]);
    _counts[i] := coalesce(_count, 0);
    IF _counts[i] >= _max[i] THEN
      _wait := greatest(_wait, _ends[i] - _now);
    END IF;
  END LOOP;
  IF _wait > 0 THEN
    RETURN ARRAY[_wait];
  END IF;
  FOR i IN 1..cardinality(_keys) LOOP
    CONTINUE WHEN _ends[i] = 0;
    INSERT INTO ${table} (key, count, ends)
    VALUES (_keys[i], _counts[i] + 1, _ends[i])
    ON CONFLICT (key)
    DO UPDATE SET count = excluded.count, ends = excluded.ends;
  END LOOP;
  DELETE FROM ${table} WHERE key IN (
    SELECT key FROM ${table} WHERE ends < _now
    ORDER BY ends LIMIT 3 FOR UPDATE SKIP LOCKED
  );
  RETURN array_prepend(0::float8, _ends);
END $$;
CREATE OR REPLACE FUNCTION ${table}_settle(
  _keys text[], _ends float8[], _clear text, _mark text, _ms float8
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  _now float8;
BEGIN
  PERFORM pg_advisory_xact_lock(each.lock) FROM (
    SELECT DISTINCT hashtextextended(key, 0) AS lock
    FROM unnest(_keys || _clear) AS key WHERE key IS NOT NULL
    ORDER BY lock
  ) AS each;
  _now := extract(epoch FROM clock_timestamp()) * 1000;
  FOR i IN 1..cardinality(_keys) LOOP
    UPDATE ${table} SET count = count - 1
    WHERE key = _keys[i] AND ends = _ends[i] AND ends > _now AND count > 0;
  END LOOP;
  UPDATE ${table} SET count = 0 WHERE key = _clear AND ends > _now;
  IF _mark IS NOT NULL THEN
    INSERT INTO ${table} (key, count, ends) VALUES (_mark, 0, _now + _ms)
    ON CONFLICT (key) DO UPDATE SET ends = excluded.ends;
  END IF;
END $$;
`,
  };
}
