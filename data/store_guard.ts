import type { CacheRecord, CacheStore, ReleaseLock } from "./store.ts";
import { CacheError } from "./error.ts";
import type { CacheScopes, ScopeTable } from "./scope_table.ts";
import { withTimeout } from "./timing.ts";

/** Gets what failed behind the callers' backs. */
export type ErrorListener = (error: unknown, operation: string) => void;

/** The lock on a key, or `none` where there are none. */
export type Lock = ReleaseLock | "none";

/**
 * A store that can't fail a call: what it throws, rejects with, or keeps to
 * itself for too long is told to `onError`, once until it works again, and
 * taken for nothing found or nothing done.
 */
export class StoreGuard {
  readonly scopes: ScopeTable;
  /** Whether there is anything beyond memory. */
  readonly isShared: boolean;
  readonly #store: CacheStore;
  readonly #onError: ErrorListener;
  readonly #timeout: number;
  /** What callers don't wait for, but `close()` does. */
  readonly #pending = new Set<Promise<unknown>>();
  #isDown = false;

  /** `timeout` is how long the store may take to answer, in milliseconds. */
  constructor(store: CacheStore, onError: ErrorListener, timeout: number) {
    this.#store = store;
    this.#timeout = timeout;
    this.#onError = onError;
    this.scopes = store.scopes;
    this.isShared = store.get !== undefined;
  }

  peek(key: string): CacheRecord | undefined {
    try {
      return this.#store.peek(key);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  async get(key: string): Promise<CacheRecord | undefined> {
    const result = await this.#ask(() => this.#store.get!(key));
    return result.value;
  }

  /** Gives a promise only if the store does. */
  set(key: string, record: CacheRecord): void | Promise<unknown> {
    return this.#do(() => this.#store.set(key, record));
  }

  /** Whether it is known wherever it has to be. */
  async invalidate(scopes: CacheScopes): Promise<boolean> {
    const result = await this.#ask(() => this.#store.invalidate(scopes));
    return !result.failed;
  }

  /** The store sees to it that this doesn't take too long. */
  async lock(key: string): Promise<Lock | undefined> {
    if (this.#store.lock === undefined) return "none";
    const result = await this.#ask(() => this.#store.lock!(key), Infinity);
    return result.failed ? "none" : result.value;
  }

  async release(release: ReleaseLock): Promise<void> {
    await this.#inBackground(this.#ask(release));
  }

  /** Closes the store when what is under way behind the callers is done. */
  async close(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    await this.#store.close?.();
  }

  #inBackground<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    work.finally(() => this.#pending.delete(work));
    return work;
  }

  #do(run: () => void | Promise<void>): void | Promise<unknown> {
    try {
      const result = run();
      if (result !== undefined) {
        return this.#inBackground(this.#ask(() => result));
      }
      // What is done at once says nothing about what is beyond memory.
      if (!this.isShared) this.#isDown = false;
    } catch (error) {
      this.#failed(error);
    }
  }

  async #ask<T>(
    run: () => T | Promise<T>,
    timeout: number = this.#timeout,
  ): Promise<{ value?: T; failed: boolean }> {
    try {
      const result = run();
      const value = result instanceof Promise && timeout !== Infinity
        ? await withTimeout(
          result,
          timeout,
          () => new Error(`The store has not answered for ${timeout} ms`),
        )
        : await result;
      this.#isDown = false;
      return { value, failed: false };
    } catch (error) {
      this.#failed(error);
      return { failed: true };
    }
  }

  #failed(error: unknown): void {
    // The value is at fault, not the store.
    if (error instanceof CacheError && error.code === "NOT_DATA") {
      return this.#onError(error, "share a value");
    }
    if (this.#isDown) return;
    this.#isDown = true;
    this.#onError(error, "use the store");
  }
}
