import { runOutside } from "../../core/request_scope.ts";
import type { Invalidation } from "../invalidation_log.ts";
import { MemoryStore } from "../memory_store.ts";
import type { CacheRecord, Claim, Lock } from "../store.ts";
import type { Backend, LockRequest, Reading } from "./backend.ts";
import { Exchange } from "./exchange.ts";
import type { SharedStoreOptions } from "./shared_options.ts";

type RecordText = typeof import("./record_text.ts");

/**
 * Loaded by the first read. Each computation begins with a read. The npm package
 * inside makes Deno load `node:process`, which takes 15 ms of a cold start.
 */
let recordText: RecordText | undefined;

const loadRecordText = (): Promise<RecordText> =>
  runOutside(() => import("./record_text.ts"));

/** A lock in a backend. */
interface SharedLock extends Lock {
  readonly token: string;
  release(): Promise<void>;
  /** Its release, or the storing of a value, which releases it too. */
  released?: Promise<void>;
}

/**
 * A store that processes share: memory in front, a backend behind.
 *
 * A record from the backend comes with all invalidations before it was read. A
 * record in memory is checked against the invalidations that this process knows.
 * After `maxStaleness` without contact to the backend, records in memory aren't
 * valid. Once the backend can be reached again, the process first fetches the
 * invalidations that it missed. Then memory is valid again.
 */
export class SharedStore extends MemoryStore {
  readonly #now: () => number;
  readonly #exchange: Exchange;
  /** The locks of computations in progress. */
  readonly #held = new Set<SharedLock>();
  /** See {@linkcode CacheStore}. */
  readonly check?: (timeout: number) => Promise<void>;

  /**
   * Creates a store.
   *
   * @param interval How often to ask for invalidations, in milliseconds.
   * @param open Creates its backend.
   */
  constructor(
    options: SharedStoreOptions,
    interval: number,
    open: (exchange: Exchange) => Backend,
  ) {
    super(options);
    const { now = Date.now, maxStaleness = 3, strict = false } = options;
    this.#now = now;
    this.#exchange = new Exchange({
      log: this.invalidations,
      interval,
      maxStaleness: maxStaleness * 1_000,
      now,
      onAll: () => this.clear(),
      open,
    });
    if (strict) this.check = (timeout) => this.#exchange.check(timeout);
  }

  override peek(key: string): CacheRecord | undefined {
    this.#exchange.checkTrust();
    return super.peek(key);
  }

  async get(key: string): Promise<CacheRecord | undefined> {
    return (await this.#read(key)).record;
  }

  async claim(
    key: string,
    isUsable: (record: CacheRecord) => boolean,
  ): Promise<Claim> {
    for (let outdated = this.#outdated(key);;) {
      const backend = this.#exchange.use();
      const token = crypto.randomUUID();
      const lock: SharedLock = {
        token,
        release: () => {
          this.#held.delete(lock);
          return lock.released ??= backend.release(placeOf(key), token);
        },
      };
      const request = { token, outdated };
      const { reading, record } = await this.#read(key, request);
      const { entry, isLocked = false, released } = reading;
      if (record !== undefined && isUsable(record)) {
        if (isLocked) lock.release().catch(() => {});
        return { record };
      }
      if (isLocked) {
        this.#held.add(lock);
        return { lock };
      }
      if (released !== undefined) return { released };
      // The backend considered this record usable.
      outdated = entry!.began;
    }
  }

  override set(
    key: string,
    record: CacheRecord,
    lock?: Lock,
  ): void | Promise<void> {
    super.set(key, record);
    const { numbers, position: { epoch } } = this.#exchange;
    const began = numbers.toShared(record.began);
    const time = this.#now();
    const keepFor = record.keepUntil - time;
    if (began === undefined || keepFor <= 0 || !recordText) return;
    const text = recordText.writeRecord(key, record);
    const freshFor = Math.max(0, record.freshUntil - time);
    const entry = { epoch, began, freshFor, keepFor, text };
    const own = lock as SharedLock | undefined;
    const stored = this.#exchange.use().set(
      placeOf(key),
      text.length > this.maxEntryBytes ? undefined : entry,
      own?.token,
    );
    if (own !== undefined) {
      this.#held.delete(own);
      own.released = stored;
    }
    return stored;
  }

  override invalidate(what: Invalidation): Promise<void> {
    if (what.all === true) this.clear();
    return this.#exchange.invalidate(what);
  }

  ping(): Promise<void> {
    return this.#exchange.sync();
  }

  onOutage(listener: (error: unknown) => void): void {
    this.#exchange.onOutage(listener);
  }

  /** Closes the store. Other processes may then compute what this one computes. */
  async close(): Promise<void> {
    const released = Array.from(this.#held, (lock) => lock.release());
    await Promise.allSettled(released);
    await this.#exchange.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the highest number that is known to be invalid for a key. */
  #outdated(key: string): number {
    const { numbers } = this.#exchange;
    const own = super.peek(key);
    return own === undefined || !numbers.isInvalid(own)
      ? 0
      : numbers.toShared(own.began) ?? 0;
  }

  /**
   * Reads from the backend, records the invalidations that it reports, and copies
   * the record to memory. If that fails, nobody will release the lock.
   */
  async #read(key: string, request?: LockRequest): Promise<{
    readonly reading: Reading;
    readonly record: CacheRecord | undefined;
  }> {
    const exchange = this.#exchange;
    recordText ??= await loadRecordText();
    await exchange.beforeReading();
    const since = this.#now();
    const backend = exchange.use();
    const place = placeOf(key);
    const reading = await backend.get(place, exchange.position, request);
    try {
      exchange.learn(reading.changes, since);
      if (reading.changes.more) await exchange.sync();
      return { reading, record: this.#take(key, reading) };
    } catch (error) {
      if (reading.isLocked) {
        backend.release(place, request!.token).catch(() => {});
      }
      throw error;
    }
  }

  /** Copies a record from the backend to memory. */
  #take(key: string, { entry }: Reading): CacheRecord | undefined {
    const { isAhead, numbers, position: { epoch } } = this.#exchange;
    // Something was invalidated here while the backend was asked.
    if (isAhead || entry?.epoch !== epoch) return undefined;
    const kept = this.#now() - entry.age;
    const record: CacheRecord = {
      ...recordText!.readRecord(key, entry.text),
      began: numbers.toLocal(entry.began),
      freshUntil: kept + entry.freshFor,
      keepUntil: kept + entry.keepFor,
      checked: -1,
    };
    // This process may have stored one while the backend was asked.
    const own = super.peek(key);
    if (own === undefined || own.began <= record.began) super.set(key, record);
    return record;
  }
}

/**
 * Returns a key that UTF-8 can represent, because all lone surrogates become the
 * same there. No other key of the cache begins like the escaped ones.
 */
function placeOf(key: string): string {
  return key.isWellFormed() ? key : `\0s${JSON.stringify(key)}`;
}
