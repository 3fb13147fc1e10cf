import { MAX_DELAY } from "../../core/check/rules.ts";
import { pause } from "../../core/runtime/pause.ts";
import type { ReleaseLock } from "../shared/backend.ts";
import type { Run } from "./redis_link.ts";
import { LOCK, type RedisKeys, RELEASE } from "./redis_scripts.ts";

/** Maximum locks to remember that couldn't be released. */
const MAX_LEFT = 10_000;

/** The locks that this process holds, and those that it waits for. */
export class RedisLocks {
  readonly #keys: RedisKeys;
  readonly #lockTime: number;
  readonly #run: Run;
  /** Calls that wait for a lock, by key. Aborting one wakes it. */
  readonly #waiting = new Map<string, Set<AbortController>>();
  /** Locks that may be held, because Redis was away at their release. */
  #left: { readonly key: string; readonly token: string }[] = [];

  /**
   * Creates an empty list of locks.
   *
   * @param lockTime How long a lock is held at most, in milliseconds.
   */
  constructor(keys: RedisKeys, lockTime: number, run: Run) {
    this.#keys = keys;
    this.#lockTime = lockTime;
    this.#run = run;
  }

  /** See {@linkcode CacheStore.lock}. */
  async lock(key: string): Promise<ReleaseLock | undefined> {
    const { lock, meta } = this.#keys;
    const token = crypto.randomUUID();
    // Listens before it asks: the lock may be released before the answer comes.
    const waiter = new AbortController();
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
    try {
      const left = await this.#run(
        LOCK,
        [lock(key), meta],
        [token, `${this.#lockTime}`],
      ) as number;
      if (left === -1) return () => this.#release(key, token);
      await pause(Math.min(left + 1, MAX_DELAY), waiter.signal);
      return undefined;
    } catch (error) {
      this.#leave(key, token);
      throw error;
    } finally {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiting.delete(key);
    }
  }

  /** Handles a message. Returns whether it was about a lock. */
  hear(message: string): boolean {
    if (message[0] !== "u") return false;
    for (const waiter of this.#waiting.get(message.slice(1)) ?? []) {
      waiter.abort();
    }
    return true;
  }

  /** Ends all waiting: no more messages come. */
  wakeAll(): void {
    for (const waiters of this.#waiting.values()) {
      for (const waiter of waiters) waiter.abort();
    }
  }

  /** Releases what couldn't be released while Redis was away. */
  async releaseLeft(): Promise<void> {
    const left = this.#left;
    this.#left = [];
    await Promise.all(left.map(({ key, token }) => this.#release(key, token)));
  }

  async #release(key: string, token: string): Promise<void> {
    const { channel, lock } = this.#keys;
    try {
      await this.#run(RELEASE, [lock(key)], [token, channel, `u${key}`]);
    } catch (error) {
      this.#leave(key, token);
      throw error;
    }
  }

  #leave(key: string, token: string): void {
    if (this.#left.length < MAX_LEFT) this.#left.push({ key, token });
  }
}
