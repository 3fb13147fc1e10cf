import { CacheError } from "./error.ts";
import type { Invalidation, InvalidationLog } from "./invalidation_log.ts";
import { limitClose, WorkCounter } from "../core/closing.ts";
import { isReported } from "../core/error_response.ts";
import type { CacheRecord, CacheStore, Claim, Lock } from "./store.ts";
import { withTimeout } from "../core/promises.ts";

/** Called with errors that no caller sees. */
export type ErrorListener = (error: unknown, operation: string) => void;

/** The result of an operation that failed. */
const FAILED = Symbol();

/**
 * A store whose errors can't fail a call. If an operation throws, rejects or times
 * out, the cache continues as if nothing were found. `onError` is called once per
 * outage.
 */
export class StoreGuard {
  readonly invalidations: InvalidationLog;
  /** Whether the store has more than memory. */
  readonly isShared: boolean;
  /** Whether memory may be used only after {@linkcode StoreGuard.check}. */
  readonly isStrict: boolean;
  readonly #store: CacheStore;
  readonly #onError: ErrorListener;
  readonly #timeout: number;
  /** Operations that callers don't wait for, but `close()` does. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #refreshes = new WorkCounter();
  #isDown = false;

  /**
   * Guards a store.
   *
   * @param timeout Time limit of one operation, in milliseconds.
   */
  constructor(store: CacheStore, onError: ErrorListener, timeout: number) {
    this.#store = store;
    this.#timeout = timeout;
    this.#onError = onError;
    this.invalidations = store.invalidations;
    this.isShared = store.get !== undefined;
    this.isStrict = store.check !== undefined;
    store.onOutage?.((error) => {
      if (error === undefined) this.#isDown = false;
      else this.#report(error);
    });
  }

  /** The number of records evicted so far. */
  get evictions(): number {
    return this.#store.evictions;
  }

  peek(key: string): CacheRecord | undefined {
    try {
      return this.#store.peek(key);
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** See {@linkcode CacheStore.claim}. An empty result: compute without a lock. */
  async claim(
    key: string,
    isUsable: (record: CacheRecord) => boolean,
  ): Promise<Claim> {
    const claim = this.#claim(key, isUsable);
    // close() waits for it, so that the store knows the lock that it has to release.
    const found = await this.#inBackground(this.#try(() => claim));
    if (found !== FAILED) return found;
    // A lock that arrives late is released.
    claim.then(({ lock }) => lock && this.release(lock), () => {});
    return {};
  }

  async #claim(
    key: string,
    isUsable: (record: CacheRecord) => boolean,
  ): Promise<Claim> {
    const store = this.#store;
    if (store.claim !== undefined) return await store.claim(key, isUsable);
    const record = await store.get!(key);
    return record !== undefined && isUsable(record) ? { record } : {};
  }

  /** Releases a lock in the background. */
  release(lock: Lock): void {
    this.#inBackground(this.#try(() => lock.release()));
  }

  /**
   * Fetches all invalidations. If that fails, memory isn't valid. Returns whether
   * the store has answered.
   */
  async check(): Promise<boolean> {
    const check = () => this.#store.check!(this.#timeout);
    return await this.#try(check, Infinity) !== FAILED;
  }

  /** Stores a record: in memory at once, the rest in the background. */
  set(key: string, record: CacheRecord, lock?: Lock): void {
    try {
      const stored = this.#store.set(key, record, lock);
      if (stored !== undefined) this.#inBackground(this.#try(() => stored));
      // Success in memory doesn't mean that a shared store works.
      else if (!this.isShared) this.#isDown = false;
    } catch (error) {
      this.#report(error);
    }
  }

  /** Returns whether all processes that share the store know of it. */
  async invalidate(what: Invalidation): Promise<boolean> {
    return await this.#try(() => this.#store.invalidate(what)) !== FAILED;
  }

  /** Makes `close()` wait for a refresh, until the deadline of a shutdown. */
  addRefresh(refresh: Promise<unknown>): void {
    this.#refreshes.begin();
    refresh.finally(this.#refreshes.end);
  }

  /** Closes the store when all work in the background has ended. */
  async close(): Promise<void> {
    await limitClose((deadline) => deadline.limits(this.#refreshes.idle()));
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    await this.#store.close?.();
  }

  #inBackground<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    work.finally(() => this.#pending.delete(work));
    return work;
  }

  async #try<T>(
    run: () => T | Promise<T>,
    timeout: number = this.#timeout,
  ): Promise<T | typeof FAILED> {
    const wasDown = this.#isDown;
    try {
      const result = run();
      const value = result instanceof Promise
        ? await withTimeout(
          result,
          timeout,
          () => new Error(`the store has not answered for ${timeout} ms`),
        )
        : await result;
      // An answer to an operation from before an outage doesn't end the outage.
      if (wasDown) this.#isDown = false;
      return value;
    } catch (error) {
      if (!isReported(error)) this.#report(error);
      return FAILED;
    }
  }

  #report(error: unknown): void {
    // The value caused it, not the store.
    if (error instanceof CacheError && error.code === "NOT_DATA") {
      return this.#onError(error, "share a value");
    }
    if (this.#isDown) return;
    this.#isDown = true;
    this.#onError(error, "use the store");
  }
}
