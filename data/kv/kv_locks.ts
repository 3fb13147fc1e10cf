import { pause } from "../../core/runtime/pause.ts";
import type { KvEntry, KvKey } from "./kv.ts";
import type { KvSpace } from "./kv_space.ts";

/** The holder of a lock, and when the lock expires. */
interface Held {
  readonly token: string;
  readonly until: number;
}

/** A key and the entry that was read. */
export interface Read extends KvEntry {
  readonly key: KvKey;
}

/** Settings of {@linkcode KvLocks}. Times are in milliseconds. */
export interface KvLocksOptions {
  /** Maximum time that a lock is held. */
  readonly lockTime: number;
  /** Time between checks whether a lock was released. */
  readonly interval: number;
  /** The clock. */
  readonly now: () => number;
}

/**
 * The locks of a store in Deno KV.
 *
 * ```
 *   [name, "cache", "lock", key]    token, until
 * ```
 */
export class KvLocks {
  readonly #space: KvSpace;
  readonly #options: KvLocksOptions;
  readonly #signal: AbortSignal;

  /** Creates locks. Aborting the signal ends all waiting. */
  constructor(space: KvSpace, options: KvLocksOptions, signal: AbortSignal) {
    this.#space = space;
    this.#options = options;
    this.#signal = signal;
  }

  /** Returns the key of a lock. */
  keyOf(key: string): Promise<KvKey> {
    return this.#space.keyOf("lock", key);
  }

  /** Whether another process holds a lock. */
  isHeld({ value }: KvEntry): boolean {
    return value !== null && (value as Held).until > this.#options.now();
  }

  /**
   * Takes a free lock, unless the lock or the value changed since they were read.
   * Then another process may have computed. Returns whether it took the lock.
   */
  take(lock: Read, value: Read, token: string): Promise<boolean> {
    const { lockTime, now } = this.#options;
    const held: Held = { token, until: now() + lockTime };
    const change = this.#space.change().check(lock, value)
      .set(lock.key, held, { expireIn: lockTime });
    return this.#space.commit(change);
  }

  /** Waits until a lock is released or expires. */
  async released({ key, value }: Read): Promise<void> {
    const { interval, now } = this.#options;
    const { token, until } = value as Held;
    for (let left = until - now(); left > 0; left = until - now()) {
      await pause(Math.min(interval, left), this.#signal);
      if (this.#signal.aborted) return;
      const entry = await this.#space.readOne(key);
      if ((entry.value as Held | null)?.token !== token) return;
    }
  }

  /** Releases a lock. */
  async release(key: string, token: string): Promise<void> {
    const lock = await this.keyOf(key);
    const { value, versionstamp } = await this.#space.readOne(lock);
    if ((value as Held | null)?.token !== token) return;
    const change = this.#space.change().check({ key: lock, versionstamp });
    await this.#space.commit(change.delete(lock));
  }
}
