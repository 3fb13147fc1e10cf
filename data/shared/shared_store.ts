import type { MemoryStore } from "../memory_store.ts";
import type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
import type { CacheRecord, CacheStore } from "../store.ts";
import type {
  Backend,
  FoundEntry,
  News,
  Position,
  ReleaseLock,
} from "./backend.ts";
import { readRecord, writeRecord } from "./record_text.ts";
import { EVERYTHING, namesOf } from "./invalidation_names.ts";
import { SharedNumbers } from "./shared_numbers.ts";

/**
 * For how long a record is kept beyond memory at most, in ms: what nobody asks
 * for any more has to go some time, and a process may die between two writes.
 */
const MAX_KEPT = 30 * 24 * 3_600_000;

/** How many scopes wait to be told before they become everything. */
const MAX_UNTOLD = 10_000;

/** What a shared store is made of. */
export interface SharedStoreParts {
  /** In front of the backend. */
  readonly memory: MemoryStore;
  /** The time, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  /** Makes what is behind the memory. */
  readonly open: (store: SharedStore) => Backend;
}

/** The exchange of invalidations with the others. */
type Exchange = Pick<Backend, "ask" | "invalidate">;

/**
 * A store that processes share: memory in front, a backend behind.
 *
 * A record from the backend comes with all that was invalidated before it was
 * looked for, so that it can be judged. A record in memory is judged by what
 * this process has heard so far. As long as the backend can't be reached, the
 * process goes on with what it has; then it first learns all that it missed.
 */
export class SharedStore implements CacheStore {
  readonly invalidations: InvalidationLog;
  readonly #parts: SharedStoreParts;
  readonly #memory: MemoryStore;
  readonly #numbers: SharedNumbers;
  readonly #backend: Backend;
  /** What was invalidated here and the others don't know yet. */
  #untold = new Set<string>();
  /** Those that are being told. */
  readonly #telling = new Set<Promise<void>>();
  /** The asking for news that is under way, and whether it has to go on. */
  #asking: Promise<void> | undefined;
  #askAgain = false;

  /** Makes a store and opens its backend. */
  constructor(parts: SharedStoreParts) {
    this.#parts = parts;
    this.#memory = parts.memory;
    this.invalidations = parts.memory.invalidations;
    this.#numbers = new SharedNumbers(this.invalidations);
    this.#backend = parts.open(this);
  }

  get entries(): number {
    return this.#memory.entries;
  }

  get bytes(): number {
    return this.#memory.bytes;
  }

  get evictions(): number {
    return this.#memory.evictions;
  }

  peek(key: string): CacheRecord | undefined {
    return this.#memory.peek(key);
  }

  async get(key: string): Promise<CacheRecord | undefined> {
    await this.#beforeReading();
    const { news, entry } = await this.#backend.get(
      placeOf(key),
      this.#numbers.position,
    );
    this.#learn(news);
    if (news.more) await this.sync();
    // Something was invalidated here while the backend was asked.
    if (this.#untold.size > 0 || this.#telling.size > 0) return undefined;
    return entry && this.#take(key, entry);
  }

  /** A record of the backend, which is in memory from now on. */
  #take(key: string, entry: FoundEntry): CacheRecord | undefined {
    if (entry.epoch !== this.#numbers.position.epoch) return undefined;
    const record: CacheRecord = {
      ...readRecord(entry.text, this.#parts.now() - entry.age),
      began: this.#numbers.toLocal(entry.began),
    };
    // One of this process may have been kept while the backend was asked.
    const own = this.#memory.peek(key);
    if (own === undefined || own.began <= record.began) {
      this.#memory.set(key, record);
    }
    return record;
  }

  set(key: string, record: CacheRecord): void | Promise<void> {
    this.#memory.set(key, record);
    const began = this.#numbers.toShared(record.began);
    if (began === undefined) return;
    const { now, memory } = this.#parts;
    const time = now();
    const ms = Math.min(Math.ceil(record.keepUntil - time), MAX_KEPT);
    if (ms <= 0) return;
    const text = writeRecord(record, time);
    if (text.length > memory.maxEntryBytes) {
      return this.#backend.delete(placeOf(key));
    }
    const { epoch } = this.#numbers.position;
    return this.#backend.set(placeOf(key), { epoch, began, text }, ms);
  }

  async invalidate(what: Invalidation): Promise<void> {
    this.#numbers.note(what);
    if (what.all === true) this.#memory.clear();
    for (const name of namesOf(what)) this.#untold.add(name);
    await this.#tell(this.#backend);
  }

  lock(key: string): Promise<ReleaseLock | undefined> {
    return this.#backend.lock(placeOf(key));
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Learns and tells everything over a new connection. */
  async greet(
    backend: Exchange & { greet(since: Position): Promise<News> },
  ): Promise<void> {
    this.#learn(await backend.greet(this.#numbers.position));
    // Not `sync()`: one may be waiting for this connection.
    await this.#ask(backend);
  }

  /**
   * Tells the others what they don't know, and learns what this process
   * doesn't. However often it is called meanwhile, it is done once more.
   */
  sync(): Promise<void> {
    this.#askAgain = true;
    return this.#asking ??= this.#ask(this.#backend).finally(() =>
      this.#asking = undefined
    );
  }

  async #ask(backend: Exchange): Promise<void> {
    await this.#tell(backend);
    let more: boolean;
    do {
      this.#askAgain = false;
      const news = await backend.ask(this.#numbers.position);
      this.#learn(news);
      more = news.more;
    } while (more || this.#askAgain);
  }

  #learn(news: News): void {
    if (this.#numbers.learn(news)) this.#memory.clear();
  }

  /**
   * Makes both know what the other one does. What the backend holds may be older
   * than what was invalidated here, as long as it hasn't heard of that.
   */
  async #beforeReading(): Promise<void> {
    if (this.#numbers.position.number === 0) await this.sync();
    if (this.#untold.size > 0) await this.#tell(this.#backend);
    if (this.#telling.size > 0) await Promise.all(this.#telling);
  }

  async #tell(backend: Exchange): Promise<void> {
    const names = this.#untold;
    if (names.size === 0) return;
    this.#untold = new Set();
    const told = this.#publish(backend, names);
    this.#telling.add(told);
    try {
      await told;
    } finally {
      this.#telling.delete(told);
    }
  }

  async #publish(backend: Exchange, names: Set<string>): Promise<void> {
    try {
      const all = names.size > MAX_UNTOLD || names.has(EVERYTHING);
      this.#learn(
        await backend.invalidate(
          all ? [EVERYTHING] : [...names],
          this.#numbers.position,
        ),
      );
    } catch (error) {
      for (const name of names) this.#untold.add(name);
      if (this.#untold.size > MAX_UNTOLD) this.#untold = new Set([EVERYTHING]);
      throw error;
    }
  }
}

/**
 * A key as UTF-8 can say it. Lone surrogates would all become the same; no key
 * of the cache begins like the escaped ones.
 */
function placeOf(key: string): string {
  return key.isWellFormed() ? key : `\0s${JSON.stringify(key)}`;
}
