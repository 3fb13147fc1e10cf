/**
 * Steps that read entries of Deno KV and change them.
 *
 * Deno KV has no scripts. A step reads, decides, and commits if the entries are
 * unchanged. If many steps changed one entry at once, only one of them would
 * succeed in each round. So the steps of a process run one after another, and
 * waiting steps form a batch. Only processes compete.
 *
 * ```
 *   step, step, step ──► read all keys ──► decide in turn ──► commit ──► results
 *                          ▲                                    │
 *                          └──── another process was first ◄────┘
 * ```
 *
 * @module
 */

import { logMessage, reportError } from "../report_error.ts";
import { pause } from "../runtime/pause.ts";
import { withTimeout } from "../runtime/timeouts.ts";
import { UnavailableError } from "../unavailable.ts";
import type {
  RateLimitKv,
  RateLimitKvEntry,
  RateLimitKvKey,
} from "./rate_limit_kv.ts";

/** The entries that a step may read and change. */
export interface KvTable<V> {
  /** Returns the value under a key. */
  get(key: RateLimitKvKey): V | undefined;
  /** Sets a value that expires after some milliseconds. */
  set(key: RateLimitKvKey, value: V, ms: number): void;
}

/** A step that waits for its turn. */
interface Step<V> {
  readonly keys: readonly RateLimitKvKey[];
  readonly decide: (table: KvTable<V>) => unknown;
  /** When it has to be done, by `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A value to set. */
interface Change<V> {
  readonly key: RateLimitKvKey;
  readonly value: V;
  readonly ms: number;
}

/** The most keys that Deno KV reads at a time. */
const READ_SIZE = 10;
/** A transaction has at most 100 keys. */
const BATCH_SIZE = 90;
/** Deno KV needs a date as the end: 100 years. */
const MAX_MS = 3e12;
const MAX_PAUSE = 50;

const never = new AbortController().signal;

/** Runs the steps of a process in batches, each within a time. */
export class KvBatches<V> {
  readonly #kv: RateLimitKv;
  readonly #timeout: number;
  readonly #onError: (error: Error) => unknown;
  #waiting: Step<V>[] = [];
  #isRunning = false;
  #isReported = false;

  /**
   * Creates an empty queue.
   *
   * @param timeout The time of a step, in milliseconds.
   * @param onError Called once for each outage.
   */
  constructor(
    kv: RateLimitKv,
    timeout: number,
    onError: (error: Error) => unknown = logMessage,
  ) {
    this.#kv = kv;
    this.#timeout = timeout;
    this.#onError = onError;
  }

  /**
   * Runs a step.
   *
   * @param keys The keys that it reads or changes.
   * @param decide Decides by the entries. May be called several times.
   * @throws {UnavailableError} If it takes too long. It may be done later.
   */
  run<T>(
    keys: readonly RateLimitKvKey[],
    decide: (table: KvTable<V>) => T,
  ): Promise<T> {
    const deadline = performance.now() + this.#timeout;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ keys, decide, deadline, resolve, reject });
    if (!this.#isRunning) void this.#runAll();
    return promise as Promise<T>;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      let size = 0;
      const end = this.#waiting.findIndex(({ keys }) =>
        (size += keys.length) > BATCH_SIZE
      );
      const count = end === -1 ? this.#waiting.length : Math.max(1, end);
      const batch = this.#waiting.splice(0, count);
      try {
        const results = await this.#runBatch(batch);
        this.#isReported = false;
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #runBatch(batch: readonly Step<V>[]): Promise<unknown[]> {
    const { deadline } = batch[0]!;
    const keys = new Map(
      batch.flatMap((step) => step.keys.map((key) => [idOf(key), key])),
    );
    let reason: unknown = new Error("it is busy");
    for (let ms = 1; performance.now() < deadline; ms *= 2) {
      try {
        const entries = await before(deadline, this.#read(keys));
        const changes = new Map<string, Change<V>>();
        const table: KvTable<V> = {
          get: (key) =>
            changes.get(idOf(key))?.value ??
              entries.get(idOf(key))?.value as V | null ?? undefined,
          set: (key, value, ms) => changes.set(idOf(key), { key, value, ms }),
        };
        const results = batch.map(({ decide }) => decide(table));
        if (await before(deadline, this.#commit(entries, changes))) {
          return results;
        }
      } catch (error) {
        reason = error;
        // Only one process at a time can write to a file.
        if (!/database is (locked|busy)/.test(String(error))) break;
      }
      await pause(Math.random() * Math.min(ms, MAX_PAUSE), never);
    }
    throw this.#unavailable(reason);
  }

  /** Reads the entries of keys, by their ids. */
  async #read(
    keys: ReadonlyMap<string, RateLimitKvKey>,
  ): Promise<Map<string, RateLimitKvEntry>> {
    const all = [...keys.values()];
    const pages: Promise<RateLimitKvEntry[]>[] = [];
    for (let i = 0; i < all.length; i += READ_SIZE) {
      pages.push(this.#kv.getMany(all.slice(i, i + READ_SIZE)));
    }
    const entries = (await Promise.all(pages)).flat();
    return new Map([...keys.keys()].map((id, i) => [id, entries[i]!]));
  }

  async #commit(
    entries: ReadonlyMap<string, RateLimitKvEntry>,
    changes: ReadonlyMap<string, Change<V>>,
  ): Promise<boolean> {
    if (changes.size === 0) return true;
    let transaction = this.#kv.atomic();
    for (const [id, { key, value, ms }] of changes) {
      const { versionstamp } = entries.get(id)!;
      const expireIn = Math.min(Math.ceil(ms), MAX_MS);
      transaction = transaction.check({ key, versionstamp })
        .set(key, value, { expireIn });
    }
    return (await transaction.commit()).ok;
  }

  #unavailable(cause: unknown): UnavailableError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new UnavailableError(
      `Cannot reach rate limit store: ${reason}`,
      { cause },
    );
    if (!this.#isReported) reportError(this.#onError, error);
    this.#isReported = true;
    return error;
  }
}

function idOf(key: RateLimitKvKey): string {
  return key.join("\n");
}

/** Rejects when the deadline has passed. */
function before<T>(deadline: number, work: Promise<T>): Promise<T> {
  const left = Math.max(0, deadline - performance.now());
  const late = () => new Error("Deno KV has not answered in time");
  return withTimeout(work, left, late);
}
