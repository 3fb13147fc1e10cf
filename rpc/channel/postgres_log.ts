/**
 * The messages of a channel in a table.
 *
 * ```
 *   seq  tag     value
 *    7   3f…e1   NULL       first row, so that there always is one to start from
 *    8   92…0c   "hello"
 *   11   92…0c   "world"    the same statement as 8; 9 and 10 are other channels'
 * ```
 *
 * An id is `<tag>-<seq>`. The tag is random: after a restore from a backup, or a
 * failover that lost messages, numbers are given again, but not ids.
 *
 * @module
 */

import { toHex } from "../../core/bytes/hex.ts";
import type { PostgresLink } from "../../core/postgres/link.ts";
import type { Tables } from "../../core/postgres/tables.ts";

/** A row: a message, or the first row, which holds none. */
export interface Entry {
  /** Its id. */
  readonly id: string;
  /** The message. */
  readonly text: string | null;
}

/** Settings of a {@linkcode PostgresLog}. */
export interface PostgresLogOptions {
  /** The connections. Statements run in the order of the calls. */
  readonly link: PostgresLink;
  /** The table, with its schema. */
  readonly table: string;
  /** The channel's name. */
  readonly name: string;
  /** The channel of notifications. */
  readonly channel: string;
  /** The key of the advisory lock. */
  readonly lock: string;
  /** How many messages are kept at least. */
  readonly history: number;
  /** Where randomness comes from. */
  readonly random: (bytes: Uint8Array<ArrayBuffer>) => void;
}

/** Messages that the next statement appends. */
interface Batch {
  readonly texts: string[];
  length: number;
  ids?: Promise<readonly string[]>;
}

/** Maximum rows that are fetched at a time. */
const MAX_PAGE = 128;
/** Maximum messages, and characters before the last, that a statement appends. */
const MAX_BATCH = 1_024;
const MAX_BATCH_LENGTH = 2 ** 18;
/** After so many messages of this process, or a part of the history, it trims. */
const MIN_TRIM_INTERVAL = 64;
const TRIM_PART = 1 / 16;

/** Appends and reads messages. */
export class PostgresLog {
  /** How many rows a page holds beside the one that it starts from. */
  readonly pageSize: number;
  readonly #options: PostgresLogOptions;
  readonly #sql: ReturnType<typeof logSql>;
  #batch: Batch | undefined;
  #tail: Promise<string> | undefined;
  readonly #trimInterval: number;
  #untilTrim = 0;

  /** Creates a log. */
  constructor(options: PostgresLogOptions) {
    const { history } = options;
    this.#trimInterval = Math.max(MIN_TRIM_INTERVAL, TRIM_PART * history);
    this.#options = options;
    this.#sql = logSql(options.table);
    this.pageSize = Math.min(MAX_PAGE, history);
  }

  /**
   * Appends a message and gives its id. Calls that wait for the connection share
   * a statement: Postgres writes to disk once for all of them.
   */
  async append(text: string): Promise<string> {
    const open = this.#batch;
    const isFull = open === undefined || open.texts.length === MAX_BATCH ||
      open.length > MAX_BATCH_LENGTH;
    const batch: Batch = isFull ? { texts: [], length: 0 } : open;
    batch.length += text.length;
    const index = batch.texts.push(text) - 1;
    if (isFull) {
      this.#batch = batch;
      batch.ids = this.#send(batch);
    }
    return (await batch.ids!)[index]!;
  }

  /** Gives the id of the newest row. */
  tail(): Promise<string> {
    if (this.#tail !== undefined) return this.#tail;
    const { link, name, lock } = this.#options;
    let isOver = false;
    const close = () => {
      isOver = true;
      this.#tail = undefined;
    };
    const tail: Promise<string> = link.query(this.#sql.tail, () => {
      // Calls from here on may follow messages that this doesn't see.
      close();
      return [name, lock, this.#newTag()];
    }).finally(close).then(([row]) => `${row![1]}-${row![0]}`);
    if (!isOver) this.#tail = tail;
    return tail;
  }

  /**
   * Gives the rows after `id`, up to a page of them. Nothing if the row `id` is
   * gone: the oldest are deleted first, so as long as it is there, all that came
   * after it is there as well.
   */
  async after(id: string): Promise<readonly Entry[] | undefined> {
    const { link, name } = this.#options;
    const rows = await link.query(this.#sql.after, [
      name,
      `${seqOf(id)}`,
      `${this.pageSize + 1}`,
    ]);
    const [first, ...rest] = rows.map(([seq, tag, text]) => ({
      id: `${tag}-${seq}`,
      text: text!,
    }));
    return first?.id === id ? rest : undefined;
  }

  async #send(batch: Batch): Promise<readonly string[]> {
    const { link, name, channel, lock, history } = this.#options;
    const tag = this.#newTag();
    const isTrimming = this.#untilTrim <= 0;
    const { append, appendAndTrim } = this.#sql;
    const close = () => {
      if (this.#batch === batch) this.#batch = undefined;
    };
    try {
      const rows = await link.query(isTrimming ? appendAndTrim : append, () => {
        close();
        if (isTrimming) this.#untilTrim = this.#trimInterval;
        this.#untilTrim -= batch.texts.length;
        const values = [name, lock, tag, JSON.stringify(batch.texts), channel];
        return isTrimming ? [...values, `${history}`] : values;
      });
      return rows.map(([seq]) => `${tag}-${seq}`);
    } finally {
      close();
    }
  }

  #newTag(): string {
    const bytes = new Uint8Array(8);
    this.#options.random(bytes);
    return toHex(bytes);
  }
}

/** An id in its one spelling, as far as a number can hold its end. */
const ID = /^[0-9a-f]{16}-[1-9]\d{0,14}$/;

/** Whether a text could be an id. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Returns the number of an id's row. */
export function seqOf(id: string): number {
  return Number(id.slice(17));
}

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
 * Numbers commit in their order, because who appends holds a lock until then:
 * a reader that has seen one has seen all before it.
 */
function logSql(table: string) {
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
    /** The same. `$6` history. */
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
