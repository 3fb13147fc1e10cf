/**
 * The sessions in Deno KV that have ended or changed lately.
 *
 * ```
 *   [...prefix, "ended"]               changes with each of them
 *   [...prefix, "ended", time, uuid]   the id of one, for a minute
 * ```
 *
 * `watch()` of a file sees only the writes of its own process. So a listener
 * reads the first key at intervals, and the others when it has changed.
 *
 * @module
 */

import type { KvDatabase, KvKey, KvTransaction } from "./kv_database.ts";

/** How long an id is kept, in milliseconds. */
const KEPT = 60_000;
/** How far the clocks of writers may be behind the reader's, in milliseconds. */
const SKEW = 10_000;

type Listener = (ids: readonly string[] | undefined) => void;

/** Settings of {@linkcode KvEndings}. */
export interface KvEndingsOptions {
  readonly kv: KvDatabase;
  readonly prefix: KvKey;
  /** Time between two looks, in milliseconds. */
  readonly interval: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Notes which sessions end, and notifies listeners in all processes. */
export class KvEndings {
  readonly #options: KvEndingsOptions;
  readonly #key: KvKey;
  readonly #listeners = new Set<Listener>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isLooking = false;
  /** The latest version of the first key that listeners know of. */
  #known: string | undefined;
  /** When that was, in milliseconds. */
  #time = 0;

  /** Creates one that reads nothing until there is a listener. */
  constructor(options: KvEndingsOptions) {
    this.#options = options;
    this.#key = [...options.prefix, "ended"];
  }

  /** Adds the id of a session to the transaction that ends or changes it. */
  note(transaction: KvTransaction, id: string): KvTransaction {
    const options = { expireIn: KEPT };
    const key = [...this.#key, this.#options.now(), crypto.randomUUID()];
    return transaction.set(key, id, options).set(this.#key, 1, options);
  }

  /** Calls a listener until the returned function is called. */
  listen(listener: Listener): () => void {
    const own: Listener = (ids) => listener(ids);
    this.#listeners.add(own);
    this.#known = undefined;
    this.#timer ??= setInterval(() => this.#look(), this.#options.interval);
    this.#look();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const ids = await this.#read();
      if (ids?.length === 0) return;
      for (const listener of this.#listeners) listener(ids);
    } catch {
      // The next look finds what this one has missed.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Returns the ids since the last look. `undefined`: some may be lost. */
  async #read(): Promise<string[] | undefined> {
    const { kv, now } = this.#options;
    const known = this.#known;
    const since = this.#time;
    const time = now();
    const { versionstamp } = await kv.get(this.#key);
    // Later commits have a higher version.
    const ids: string[] = [];
    const isLate = known === undefined || time - since > KEPT / 2;
    if (!isLate && versionstamp !== null && versionstamp > known) {
      // The clock may have moved backwards.
      const start = [...this.#key, Math.min(since, time) - SKEW];
      for await (const entry of kv.list({ prefix: this.#key, start })) {
        const { versionstamp: version, value } = entry;
        // Commits after `get` belong to the next look.
        if (version > known && version <= versionstamp) ids.push(String(value));
      }
    }
    // A listener that was added meanwhile may have missed some.
    const isLost = isLate || this.#known === undefined;
    this.#known = versionstamp ?? known ?? "";
    this.#time = time;
    return isLost ? undefined : ids;
  }
}
