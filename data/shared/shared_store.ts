import type { Rules } from "../../core/check/check_options.ts";
import {
  aFunction,
  aNonEmptyString,
  aTimeout,
} from "../../core/check/rules.ts";
import type { Invalidation } from "../invalidation_log.ts";
import {
  MEMORY_STORE,
  MemoryStore,
  type MemoryStoreOptions,
} from "../memory_store.ts";
import type { CacheRecord } from "../store.ts";
import type {
  Backend,
  Changes,
  FoundEntry,
  Position,
  ReleaseLock,
} from "./backend.ts";
import { readRecord, writeRecord } from "./record_text.ts";
import { EVERYTHING, namesOf } from "./invalidation_names.ts";
import { SharedNumbers } from "./shared_numbers.ts";

/**
 * How long a record is stored behind memory at most, in milliseconds. Records
 * that nobody reads have to go some time.
 */
const MAX_KEPT = 30 * 24 * 3_600_000;

/** Maximum scopes to send. More become everything. */
const MAX_UNSENT = 10_000;

/** The rules of the options that all shared stores have. */
export const SHARED_STORE = {
  ...MEMORY_STORE,
  name: aNonEmptyString,
  lockTime: aTimeout("seconds"),
  now: aFunction,
} satisfies Rules;

/**
 * A store that processes share: memory in front, a backend behind.
 *
 * A record from the backend comes with all that was invalidated before it was
 * looked for, so that it can be judged. A record in memory is judged by what
 * this process has heard so far. As long as the backend can't be reached, the
 * process goes on with what it has; then it first learns all that it missed.
 */
export class SharedStore extends MemoryStore {
  readonly #now: () => number;
  readonly #numbers: SharedNumbers;
  readonly #backend: Backend;
  /** Invalidated scopes that the others don't know of yet. */
  #unsent = new Set<string>();
  readonly #sending = new Set<Promise<void>>();
  #syncing: Promise<void> | undefined;
  #syncAgain = false;

  /**
   * Creates a store.
   *
   * @param options The limits of its memory.
   * @param open Creates its backend.
   */
  constructor(
    options: MemoryStoreOptions & { readonly now?: () => number },
    open: (store: SharedStore) => Backend,
  ) {
    super(options);
    this.#now = options.now ?? Date.now;
    this.#numbers = new SharedNumbers(this.invalidations);
    this.#backend = open(this);
  }

  /** How much of what the others did is known here. */
  get position(): Position {
    return this.#numbers.position;
  }

  async get(key: string): Promise<CacheRecord | undefined> {
    await this.#beforeReading();
    const { changes, entry } = await this.#backend.get(
      placeOf(key),
      this.position,
    );
    this.learn(changes);
    if (changes.more) await this.sync();
    // Something was invalidated here while the backend was asked.
    if (this.#unsent.size > 0 || this.#sending.size > 0) return undefined;
    return entry && this.#take(key, entry);
  }

  /** Moves a record of the backend to memory. */
  #take(key: string, entry: FoundEntry): CacheRecord | undefined {
    if (entry.epoch !== this.position.epoch) return undefined;
    const record: CacheRecord = {
      ...readRecord(entry.text, this.#now() - entry.age),
      began: this.#numbers.toLocal(entry.began),
    };
    // One of this process may have been kept while the backend was asked.
    const own = this.peek(key);
    if (own === undefined || own.began <= record.began) {
      super.set(key, record);
    }
    return record;
  }

  override set(key: string, record: CacheRecord): void | Promise<void> {
    super.set(key, record);
    const began = this.#numbers.toShared(record.began);
    if (began === undefined) return;
    const time = this.#now();
    const ms = Math.min(Math.ceil(record.keepUntil - time), MAX_KEPT);
    if (ms <= 0) return;
    const text = writeRecord(record, time);
    if (text.length > this.maxEntryBytes) {
      return this.#backend.delete(placeOf(key));
    }
    const { epoch } = this.position;
    return this.#backend.set(placeOf(key), { epoch, began, text }, ms);
  }

  override async invalidate(what: Invalidation): Promise<void> {
    this.#numbers.note(what);
    if (what.all === true) this.clear();
    for (const name of namesOf(what)) this.#unsent.add(name);
    await this.#send();
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

  /**
   * Exchanges invalidations with the others. Calls during an exchange share one
   * more.
   */
  sync(): Promise<void> {
    this.#syncAgain = true;
    return this.#syncing ??= this.#exchange().finally(() =>
      this.#syncing = undefined
    );
  }

  async #exchange(): Promise<void> {
    await this.#send();
    let more: boolean;
    do {
      this.#syncAgain = false;
      const changes = await this.#backend.ask(this.position);
      this.learn(changes);
      more = changes.more;
    } while (more || this.#syncAgain);
  }

  /** Notes what the others have invalidated. */
  learn(changes: Changes): void {
    if (this.#numbers.learn(changes)) this.clear();
  }

  /**
   * Exchanges invalidations if either side may lack some. Otherwise the backend
   * may hold records from before an invalidation of this process.
   */
  async #beforeReading(): Promise<void> {
    if (this.position.number === 0) await this.sync();
    if (this.#unsent.size > 0) await this.#send();
    if (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  async #send(): Promise<void> {
    const names = this.#unsent;
    if (names.size === 0) return;
    this.#unsent = new Set();
    const isAll = names.size > MAX_UNSENT || names.has(EVERYTHING);
    const scopes = isAll ? [EVERYTHING] : [...names];
    const sent = this.#backend.invalidate(scopes, this.position)
      .then((changes) => this.learn(changes));
    this.#sending.add(sent);
    try {
      await sent;
    } catch (error) {
      for (const name of names) this.#unsent.add(name);
      if (this.#unsent.size > MAX_UNSENT) this.#unsent = new Set([EVERYTHING]);
      throw error;
    } finally {
      this.#sending.delete(sent);
    }
  }
}

/**
 * Returns a key that UTF-8 can represent. Lone surrogates would all become the
 * same; no key of the cache begins like the escaped ones.
 */
function placeOf(key: string): string {
  return key.isWellFormed() ? key : `\0s${JSON.stringify(key)}`;
}
