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
 * An id is `<tag>-<seq>`. The tag is random: after a restore from a backup, or
 * a failover that lost messages, numbers repeat, but ids don't.
 *
 * @module
 */

import { toHex } from "../../core/bytes/hex.ts";
import { PostgresLink } from "../../core/postgres/link.ts";
import {
  type MeetingPoint,
  meetingPoint,
  type PostgresOptions,
} from "../../core/postgres/options.ts";
import { Slots } from "../../core/slots.ts";
import type { LogFollower, MessageLog, Page } from "./message_log.ts";
import { logSql, logTables } from "./postgres_log_sql.ts";

/** Settings of a {@linkcode PostgresLog}. */
export interface PostgresLogOptions extends PostgresOptions {
  readonly schema: string;
  /** The operation in error messages. */
  readonly operation: string;
  /** The table. */
  readonly table: string;
  /** The channel's name. */
  readonly name: string;
  /** The minimum number of messages kept. */
  readonly history: number;
  /** The source of randomness. */
  readonly random: (bytes: Uint8Array<ArrayBuffer>) => void;
}

/** Messages that the next statement appends. */
interface Batch {
  readonly texts: string[];
  length: number;
  ids?: Promise<readonly string[]>;
}

/** Maximum rows per query. */
const MAX_PAGE = 128;
/** Maximum concurrent queries of returning subscribers. */
const MAX_READS = 8;
/** Maximum messages, and characters before the last, that a statement appends. */
const MAX_BATCH = 1_024;
const MAX_BATCH_LENGTH = 2 ** 18;
/** Trims after this many messages of this process, or a part of the history. */
const MIN_TRIM_INTERVAL = 64;
const TRIM_PART = 1 / 16;

/** Appends and reads messages. Statements run in the order of the calls. */
export class PostgresLog implements MessageLog {
  readonly pageSize: number;
  readonly #link: PostgresLink;
  readonly #options: PostgresLogOptions;
  readonly #place: MeetingPoint;
  readonly #sql: ReturnType<typeof logSql>;
  #batch: Batch | undefined;
  #tail: Promise<string> | undefined;
  /** Unsent queries of subscribers, by id. */
  readonly #catchUps = new Map<string, Promise<Page>>();
  readonly #readSlots = new Slots(MAX_READS);
  readonly #maxBatch: number;
  readonly #trimInterval: number;
  #untilTrim = 0;
  /** Resolves when there may be new rows. */
  #news = Promise.withResolvers<void>();

  /**
   * Creates a log that connects at its first use.
   *
   * @throws {TypeError} If `connect` doesn't create a supported client.
   */
  constructor(options: PostgresLogOptions) {
    const { name, schema, table, history } = options;
    this.#place = meetingPoint("channel", schema, table, name);
    const { channel } = this.#place;
    const wake = () => this.#news.resolve();
    this.#link = new PostgresLink({
      ...options,
      what: `channel ${JSON.stringify(name)}`,
      // A single connection, so that statements run in the order of the calls.
      maxConnections: 1,
      tables: logTables(schema, table),
      listen: { channel, onMessage: wake, onListen: wake },
    });
    this.#options = options;
    // A statement can't delete what it appends.
    this.#maxBatch = Math.min(MAX_BATCH, history);
    this.#trimInterval = Math.max(MIN_TRIM_INTERVAL, TRIM_PART * history);
    this.#sql = logSql(`${schema}.${table}`);
    this.pageSize = Math.min(MAX_PAGE, history);
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  isId(text: string): boolean {
    return ID.test(text);
  }

  compareIds(a: string, b: string): number {
    return seqOf(a) - seqOf(b);
  }

  /**
   * Appends a message and returns its id. Calls that wait for the connection share
   * a statement: Postgres writes to disk once for all of them.
   */
  async append(text: string): Promise<string> {
    if (!isStorable(text)) {
      throw new TypeError(
        "Cannot publish: Postgres can't store U+0000 or unpaired surrogates; the transformer must escape them",
      );
    }
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

  tail(): Promise<string> {
    // Callers follow the log next, and connecting takes a while.
    this.#link.listen();
    if (this.#tail !== undefined) return this.#tail;
    let isOver = false;
    const close = () => {
      isOver = true;
      this.#tail = undefined;
    };
    const tail: Promise<string> = this.#link.run(() => {
      // Calls from here on may follow messages that this doesn't see.
      close();
      const { name } = this.#options;
      return [this.#sql.tail, [name, this.#place.lock, this.#newTag()]];
    }).finally(close).then(([row]) => `${row![1]}-${row![0]}`);
    if (!isOver) this.#tail = tail;
    return tail;
  }

  /**
   * Returns the next rows. Many subscribers may return at once: calls with the
   * same id share a query, and the others take turns.
   */
  after(id: string): Promise<Page> {
    const shared = this.#catchUps.get(id);
    if (shared !== undefined) return shared;
    const close = () => void this.#catchUps.delete(id);
    const read = () => this.#readInTurn(id, close);
    // Deferred, so that others can share it before it is sent.
    const page = Promise.resolve().then(read).finally(close);
    this.#catchUps.set(id, page);
    return page;
  }

  /** Waits for notifications. All followers share their connection. */
  follow(signal: AbortSignal): LogFollower {
    signal.addEventListener("abort", () => this.#news.resolve());
    return {
      tail: () => this.tail(),
      after: (id) => this.#read(id),
      next: async (id) => {
        await this.#news.promise;
        // The next follower may be waiting already.
        if (signal.aborted) return [];
        this.#news = Promise.withResolvers();
        return await this.#read(id);
      },
      close: () => Promise.resolve(),
    };
  }

  ping(): Promise<unknown> {
    return this.#link.query("SELECT 1");
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /**
   * Returns the next rows. The oldest are deleted first, so if the row `id`
   * exists, so do all later ones.
   */
  async #read(id: string, onSend = () => {}): Promise<Page> {
    const rows = await this.#link.run(() => {
      onSend();
      const { name } = this.#options;
      const values = [name, `${seqOf(id)}`, `${this.pageSize + 1}`];
      return [this.#sql.after, values];
    });
    const [first, ...rest] = rows.map(([seq, tag, text]) => ({
      id: `${tag}-${seq}`,
      text: text ?? undefined,
    }));
    return first?.id === id ? rest : undefined;
  }

  async #readInTurn(id: string, onSend: () => void): Promise<Page> {
    await this.#readSlots.acquire();
    try {
      return await this.#read(id, onSend);
    } finally {
      this.#readSlots.release();
    }
  }

  async #send(batch: Batch): Promise<readonly string[]> {
    const tag = this.#newTag();
    const { name, history } = this.#options;
    const { channel, lock } = this.#place;
    const close = () => {
      if (this.#batch === batch) this.#batch = undefined;
    };
    try {
      const rows = await this.#link.run(() => {
        close();
        const { texts: { length } } = batch;
        const texts = JSON.stringify(batch.texts);
        const values = [name, lock, tag, texts, channel];
        this.#untilTrim -= length;
        if (this.#untilTrim > 0) return [this.#sql.append, values];
        this.#untilTrim = this.#trimInterval;
        // In addition to the appended ones.
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

/** A canonical id, whose number is a safe integer. */
const ID = /^[0-9a-f]{16}-[1-9]\d{0,14}$/;

/** Returns the number of an id's row. */
function seqOf(id: string): number {
  return Number(id.slice(17));
}

/** Whether Postgres can store a text. */
export function isStorable(text: unknown): boolean {
  return typeof text === "string" && !text.includes("\0") &&
    text.isWellFormed();
}
