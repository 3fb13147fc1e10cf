import { pause } from "../../core/promises.ts";
import type { BackendSettings } from "../shared/shared_options.ts";
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

/**
 * Creates the locks of a store in Deno KV.
 *
 * ```
 *   [name, "cache", "lock", key]    token, until
 * ```
 *
 * @param interval Time between checks whether a lock was released, in milliseconds.
 * @param signal Ends all waiting.
 */
export function createKvLocks(
  space: KvSpace,
  { lockTime, now }: BackendSettings,
  interval: number,
  signal: AbortSignal,
) {
  /** Returns the key of a lock. */
  const keyOf = (key: string) => space.keyOf("lock", key);

  /** Whether another process holds a lock. */
  function isHeld({ value }: KvEntry): boolean {
    return value !== null && (value as Held).until > now();
  }

  /**
   * Takes a free lock, unless the lock or the value changed since they were read.
   * Then another process may have computed. Returns whether it took the lock.
   */
  function take(lock: Read, value: Read, token: string): Promise<boolean> {
    const held: Held = { token, until: now() + lockTime };
    const change = space.change().check(lock, value)
      .set(lock.key, held, { expireIn: lockTime });
    return space.commit(change);
  }

  /** Waits until a lock is released or expires. */
  async function released({ key, value }: Read): Promise<void> {
    const { token, until } = value as Held;
    for (let left = until - now(); left > 0; left = until - now()) {
      await pause(Math.min(interval, left), signal);
      if (signal.aborted) return;
      const entry = await space.readOne(key);
      if ((entry.value as Held | null)?.token !== token) return;
    }
  }

  /** Releases a lock. */
  async function release(key: string, token: string): Promise<void> {
    const lock = await keyOf(key);
    const { value, versionstamp } = await space.readOne(lock);
    if ((value as Held | null)?.token !== token) return;
    const change = space.change().check({ key: lock, versionstamp });
    await space.commit(change.delete(lock));
  }

  return { keyOf, isHeld, take, released, release };
}
