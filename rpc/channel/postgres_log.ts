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
import { logSql } from "./postgres_log_sql.ts";

/** A row: a message, or the first row, which holds none. */
export interface Entry {
  /** Its id. */
  readonly id: string;
  /** The message. */
  readonly text: string | null;
}

/** Some rows. Nothing if rows before them are gone. */
export type Page = readonly Entry[] | undefined;

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
/** Maximum queries of subscribers that come back. The others wait. */
const MAX_READS = 8;
/** Maximum messages, and characters before the last, that a statement appends. */
const MAX_BATCH = 1_024;
const MAX_BATCH_LENGTH = 2 ** 18;
/** After so many messages of this process, or a part of the history, it trims. */
const MIN_TRIM_INTERVAL = 64;
const TRIM_PART = 1 / 16;

/** Appends and reads messages. */
export class PostgresLog {
  /** Maximum rows of a page, without the one that it starts from. */
  readonly pageSize: number;
  readonly #options: PostgresLogOptions;
  readonly #sql: ReturnType<typeof logSql>;
  #batch: Batch | undefined;
  #tail: Promise<string> | undefined;
  /** Queries of subscribers that weren't sent yet, by id. */
  readonly #catchUps = new Map<string, Promise<Page>>();
  readonly #waiting: (() => void)[] = [];
  #reads = 0;
  readonly #maxBatch: number;
  readonly #trimInterval: number;
  #untilTrim = 0;

  /** Creates a log. */
  constructor(options: PostgresLogOptions) {
    const { history } = options;
    // A statement can't delete what it appends.
    this.#maxBatch = Math.min(MAX_BATCH, history);
    this.#trimInterval = Math.max(MIN_TRIM_INTERVAL, TRIM_PART * history);
    this.#options = options;
    this.#sql = logSql(options.table);
    this.pageSize = Math.min(MAX_PAGE, history);
  }

  /**
   * Appends a message and returns its id. Calls that wait for the connection share
   * a statement: Postgres writes to disk once for all of them.
   */
  async append(text: string): Promise<string> {
    const open = this.#batch;
    const isFull = open === undefined || open.texts.length === this.#maxBatch ||
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

  /** Returns the id of the newest row. */
  tail(): Promise<string> {
    if (this.#tail !== undefined) return this.#tail;
    const { link, name, lock } = this.#options;
    let isOver = false;
    const close = () => {
      isOver = true;
      this.#tail = undefined;
    };
    const tail: Promise<string> = link.run(() => {
      // Calls from here on may follow messages that this doesn't see.
      close();
      return [this.#sql.tail, [name, lock, this.#newTag()]];
    }).finally(close).then(([row]) => `${row![1]}-${row![0]}`);
    if (!isOver) this.#tail = tail;
    return tail;
  }

  /**
   * Returns the rows after `id`, up to a page of them. Nothing if the row `id` is
   * gone: the oldest are deleted first, so as long as it is there, all that came
   * after it is there as well.
   */
  async after(id: string, onSend = () => {}): Promise<Page> {
    const { link, name } = this.#options;
    const rows = await link.run(() => {
      onSend();
      const values = [name, `${seqOf(id)}`, `${this.pageSize + 1}`];
      return [this.#sql.after, values];
    });
    const [first, ...rest] = rows.map(([seq, tag, text]) => ({
      id: `${tag}-${seq}`,
      text: text!,
    }));
    return first?.id === id ? rest : undefined;
  }

  /**
   * The same, for a subscriber that comes back. Very many may come at once: calls
   * with the same id share a query, and the others take turns.
   */
  catchUp(id: string): Promise<Page> {
    const shared = this.#catchUps.get(id);
    if (shared !== undefined) return shared;
    const close = () => void this.#catchUps.delete(id);
    const read = () => this.#takeTurn(() => this.after(id, close));
    // Later, so that it isn't sent before it can be shared.
    const page = Promise.resolve().then(read).finally(close);
    this.#catchUps.set(id, page);
    return page;
  }

  async #takeTurn<R>(read: () => Promise<R>): Promise<R> {
    if (this.#reads === MAX_READS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#reads++;
    try {
      return await read();
    } finally {
      // The turn passes on, so nobody else can take it meanwhile.
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else this.#reads--;
    }
  }

  async #send(batch: Batch): Promise<readonly string[]> {
    const { link, name, channel, lock, history } = this.#options;
    const tag = this.#newTag();
    const close = () => {
      if (this.#batch === batch) this.#batch = undefined;
    };
    try {
      const rows = await link.run(() => {
        close();
        const { texts: { length } } = batch;
        const values = [name, lock, tag, JSON.stringify(batch.texts), channel];
        this.#untilTrim -= length;
        if (this.#untilTrim > 0) return [this.#sql.append, values];
        this.#untilTrim = this.#trimInterval;
        // Beside those that it appends.
        const kept = `${Math.max(0, history - length)}`;
        return [this.#sql.appendAndTrim, [...values, kept]];
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
