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

import { toHex } from "../../core/bytes/bytes.ts";
import { createPostgresLink } from "../../core/postgres/link.ts";
import {
  DEFAULT_SCHEMA,
  type PostgresOptions,
  sharedNames,
} from "../../core/postgres/options.ts";
import { Slots } from "../../core/promises.ts";
import type { LogFollower, MessageLog, Page } from "./message_log.ts";
import { logSql, logTables } from "./postgres_log_sql.ts";

/** Settings of a {@linkcode createPostgresLog}. */
interface PostgresLogOptions extends PostgresOptions {
  /** The table. Default `kit_messages`. */
  readonly table?: string;
  /** The channel's name. */
  readonly name: string;
  /** The source of randomness. Default: `crypto.getRandomValues`. */
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
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

/**
 * Creates a log that connects at its first use. Statements run in the order of
 * the calls.
 *
 * @param history The minimum number of messages kept.
 * @throws {TypeError} If `connect` doesn't create a supported client.
 */
export function createPostgresLog(
  options: PostgresLogOptions,
  history: number,
): MessageLog {
  const { name } = options;
  const { schema = DEFAULT_SCHEMA, table = "kit_messages" } = options;
  const { random = (bytes) => crypto.getRandomValues(bytes) } = options;
  const { channel, lock } = sharedNames("channel", schema, table, name);
  const sql = logSql(`${schema}.${table}`);
  const pageSize = Math.min(MAX_PAGE, history);
  // A statement can't delete what it appends.
  const maxBatch = Math.min(MAX_BATCH, history);
  const trimInterval = Math.max(MIN_TRIM_INTERVAL, TRIM_PART * history);
  let untilTrim = 0;
  let unsent: Batch | undefined;
  let newest: Promise<string> | undefined;
  /** Unsent queries of subscribers, by id. */
  const catchUps = new Map<string, Promise<Page>>();
  const readSlots = new Slots(MAX_READS);
  /** Resolves when there may be new rows. */
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const link = createPostgresLink({
    ...options,
    operation: "create channel",
    what: `channel ${JSON.stringify(name)}`,
    // A single connection, so that statements run in the order of the calls.
    maxConnections: 1,
    tables: logTables(schema, table),
    listen: { channel, onMessage: wake, onListen: wake },
  });

  /**
   * Appends a message and returns its id. Calls that wait for the connection share
   * a statement: Postgres writes to disk once for all of them.
   */
  async function append(text: string): Promise<string> {
    if (!isStorable(text)) {
      throw new TypeError(
        "Cannot publish: Postgres can't store U+0000 or unpaired surrogates; the transformer must escape them",
      );
    }
    const open = unsent;
    const isFull = open === undefined || open.texts.length === maxBatch ||
      open.length > MAX_BATCH_LENGTH;
    const batch: Batch = isFull ? { texts: [], length: 0 } : open;
    batch.length += text.length;
    const index = batch.texts.push(text) - 1;
    if (isFull) {
      unsent = batch;
      batch.ids = send(batch);
    }
    return (await batch.ids!)[index]!;
  }

  async function send(batch: Batch): Promise<readonly string[]> {
    const tag = newTag();
    const close = () => {
      if (unsent === batch) unsent = undefined;
    };
    try {
      const rows = await link.run(() => {
        close();
        const { texts: { length } } = batch;
        const texts = JSON.stringify(batch.texts);
        const values = [name, lock, tag, texts, channel];
        untilTrim -= length;
        if (untilTrim > 0) return [sql.append, values];
        untilTrim = trimInterval;
        // In addition to the appended ones.
        const kept = `${Math.max(0, history - length)}`;
        return [sql.appendAndTrim, [...values, kept]];
      });
      return rows.map(([seq]) => `${tag}-${seq}`);
    } finally {
      close();
    }
  }

  function tail(): Promise<string> {
    // Callers follow the log next, and connecting takes a while.
    link.listen();
    if (newest !== undefined) return newest;
    let isOver = false;
    const close = () => {
      isOver = true;
      newest = undefined;
    };
    const tail = link.run(() => {
      // Calls from here on may follow messages that this doesn't see.
      close();
      return [sql.tail, [name, lock, newTag()]];
    }).finally(close).then(([row]) => `${row![1]}-${row![0]}`);
    if (!isOver) newest = tail;
    return tail;
  }

  /**
   * Returns the next rows. Many subscribers may return at once: calls with the
   * same id share a query, and the others take turns.
   */
  function after(id: string): Promise<Page> {
    const shared = catchUps.get(id);
    if (shared !== undefined) return shared;
    const close = () => void catchUps.delete(id);
    // Deferred, so that others can share it before it is sent.
    const page = Promise.resolve()
      .then(() => readInTurn(id, close)).finally(close);
    catchUps.set(id, page);
    return page;
  }

  async function readInTurn(id: string, onSend: () => void): Promise<Page> {
    await readSlots.acquire();
    try {
      return await read(id, onSend);
    } finally {
      readSlots.release();
    }
  }

  /**
   * Returns the next rows. The oldest are deleted first, so if the row `id`
   * exists, so do all later ones.
   */
  async function read(id: string, onSend = () => {}): Promise<Page> {
    const rows = await link.run(() => {
      onSend();
      return [sql.after, [name, `${seqOf(id)}`, `${pageSize + 1}`]];
    });
    const [first, ...rest] = rows.map(([seq, tag, text]) => ({
      id: `${tag}-${seq}`,
      text: text ?? undefined,
    }));
    return first?.id === id ? rest : undefined;
  }

  /** Waits for notifications. All followers share their connection. */
  function follow(signal: AbortSignal): LogFollower {
    signal.addEventListener("abort", wake);
    return {
      tail,
      after: (id) => read(id),
      next: async (id) => {
        await news.promise;
        // The next follower may be waiting already.
        if (signal.aborted) return [];
        news = Promise.withResolvers();
        return await read(id);
      },
      close: () => Promise.resolve(),
    };
  }

  function newTag(): string {
    const bytes = new Uint8Array(8);
    random(bytes);
    return toHex(bytes);
  }

  return {
    pageSize,
    get isOpen() {
      return link.isOpen;
    },
    isId: (text) => ID.test(text),
    compareIds: (a, b) => seqOf(a) - seqOf(b),
    append,
    tail,
    after,
    follow,
    ping: () => link.query("SELECT 1"),
    close: () => link.close(),
  };
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
