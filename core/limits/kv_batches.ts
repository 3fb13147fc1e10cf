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

import { logMessage, reportError } from "../redact/printable.ts";
import { isBusy } from "../runtime/kv_limits.ts";
import { pause, withTimeout } from "../promises.ts";
import { UnavailableError } from "../error_response.ts";
import type {
  RateLimitKv,
  RateLimitKvEntry,
  RateLimitKvKey,
} from "./rate_limit_kv.ts";

/** A window. A mark is one without a count. */
interface KvWindow {
  /** When it ends, in milliseconds since the Unix epoch. */
  readonly end: number;
  readonly count: number;
}

/** The windows that a step may read and change. */
interface KvTable {
  /** Returns the window under a key, unless it is over. */
  get(key: RateLimitKvKey): KvWindow | undefined;
  /** Sets a window. */
  set(key: RateLimitKvKey, window: KvWindow): void;
}

/**
 * Decides by the windows at a time, in milliseconds since the Unix epoch. May be
 * called several times.
 */
type Decide<T> = (table: KvTable, time: number) => T;

/** A step that waits for its turn. */
interface Step {
  readonly keys: readonly RateLimitKvKey[];
  readonly decide: Decide<unknown>;
  /** When it has to be done, by `performance.now()`. */
  readonly deadline: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The most keys that Deno KV reads at a time. */
const READ_SIZE = 10;
/** A transaction has at most 100 keys. */
const BATCH_SIZE = 90;
/** Deno KV needs a date as the end: 100 years. */
const MAX_MS = 3e12;
const MAX_PAUSE = 50;

/**
 * Creates a function that runs the steps of a process in batches.
 *
 * @param timeout The time of a step, in milliseconds.
 * @param now The clock.
 * @param onError Called once for each outage.
 */
export function createKvBatches(
  kv: RateLimitKv,
  timeout: number,
  now: () => number,
  onError: (error: Error) => unknown = logMessage,
) {
  const waiting: Step[] = [];
  let isRunning = false;
  let isReported = false;

  /**
   * Runs a step.
   *
   * @param keys The keys that it reads or changes.
   * @throws {UnavailableError} If it takes too long. It may be done later.
   */
  function run<T>(
    keys: readonly RateLimitKvKey[],
    decide: Decide<T>,
  ): Promise<T> {
    const deadline = performance.now() + timeout;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.push({ keys, decide, deadline, resolve, reject });
    if (!isRunning) void runAll();
    return promise as Promise<T>;
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      let size = 0;
      const end = waiting.findIndex(({ keys }) =>
        (size += keys.length) > BATCH_SIZE
      );
      const count = end === -1 ? waiting.length : Math.max(1, end);
      const batch = waiting.splice(0, count);
      try {
        const results = await runBatch(batch);
        isReported = false;
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  async function runBatch(batch: readonly Step[]): Promise<unknown[]> {
    const { deadline } = batch[0]!;
    const keys = new Map(
      batch.flatMap((step) => step.keys.map((key) => [idOf(key), key])),
    ).values().toArray();
    let reason: unknown = new Error("it is busy");
    for (let ms = 1; performance.now() < deadline; ms *= 2) {
      try {
        const entries = await before(deadline, read(keys));
        const time = now();
        const changes = new Map<RateLimitKvEntry, KvWindow>();
        const table: KvTable = {
          get(key) {
            const entry = entries.get(idOf(key))!;
            const window = changes.get(entry) ?? entry.value as KvWindow | null;
            return window !== null && time < window.end ? window : undefined;
          },
          set: (key, window) => changes.set(entries.get(idOf(key))!, window),
        };
        const results = batch.map(({ decide }) => decide(table, time));
        if (await before(deadline, commit(changes, time))) return results;
      } catch (error) {
        reason = error;
        if (!isBusy(error)) break;
      }
      await pause(Math.random() * Math.min(ms, MAX_PAUSE));
    }
    throw unavailable(reason);
  }

  /** Reads the entries of keys, by their ids. */
  async function read(
    keys: readonly RateLimitKvKey[],
  ): Promise<Map<string, RateLimitKvEntry>> {
    const pages: Promise<RateLimitKvEntry[]>[] = [];
    for (let i = 0; i < keys.length; i += READ_SIZE) {
      pages.push(kv.getMany(keys.slice(i, i + READ_SIZE)));
    }
    const entries = (await Promise.all(pages)).flat();
    return new Map(entries.map((entry) => [idOf(entry.key), entry]));
  }

  async function commit(
    changes: ReadonlyMap<RateLimitKvEntry, KvWindow>,
    time: number,
  ): Promise<boolean> {
    if (changes.size === 0) return true;
    let transaction = kv.atomic();
    for (const [entry, window] of changes) {
      const { versionstamp } = entry;
      const key = entry.key as RateLimitKvKey;
      const expireIn = Math.min(Math.ceil(window.end - time), MAX_MS);
      transaction = transaction.check({ key, versionstamp })
        .set(key, window, { expireIn });
    }
    return (await transaction.commit()).ok;
  }

  function unavailable(cause: unknown): UnavailableError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new UnavailableError(
      `Cannot reach rate limit store: ${reason}`,
      { cause },
    );
    if (!isReported) reportError(onError, error);
    isReported = true;
    return error;
  }

  return run;
}

function idOf(key: readonly unknown[]): string {
  return key.join("\n");
}

/** Rejects when the deadline has passed. */
function before<T>(deadline: number, work: Promise<T>): Promise<T> {
  const left = Math.max(0, deadline - performance.now());
  const late = () => new Error("Deno KV has not answered in time");
  return withTimeout(work, left, late);
}
