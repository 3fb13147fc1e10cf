import { MAX_DELAY } from "../../core/check/rules.ts";
import type { RedisLink } from "../../core/redis/link.ts";
import { pause } from "../../core/promises.ts";
import { type RedisKeys, RELEASE } from "./redis_scripts.ts";

/** Maximum locks to remember that couldn't be released. */
const MAX_LEFT = 10_000;

/** Creates the locks that this process releases or waits for. */
export function createRedisLocks(keys: RedisKeys, link: RedisLink) {
  /** Calls that wait for a lock, by key. Aborting one wakes it. */
  const waiting = new Map<string, Set<AbortController>>();
  /** Locks that may still be held, because Redis was away at their release. */
  let left: { readonly key: string; readonly token: string }[] = [];

  /** Starts listening for the release of a lock. */
  function wait(key: string) {
    const waiter = new AbortController();
    const waiters = waiting.get(key) ?? new Set();
    waiting.set(key, waiters.add(waiter));
    const end = () => {
      waiters.delete(waiter);
      if (waiters.size === 0) waiting.delete(key);
    };
    return {
      /** Stops waiting. */
      end,
      /** Resolves when it is released, or after a number of milliseconds. */
      released: (ms: number) =>
        pause(Math.min(ms + 1, MAX_DELAY), waiter.signal).finally(end),
    };
  }

  /** Handles a message. Returns whether it was about a lock. */
  function hear(message: string): boolean {
    if (message[0] !== "u") return false;
    for (const waiter of waiting.get(message.slice(1)) ?? []) waiter.abort();
    return true;
  }

  /** Ends all waiting, because no more messages will come. */
  function wakeAll(): void {
    for (const waiters of waiting.values()) {
      for (const waiter of waiters) waiter.abort();
    }
  }

  /** Releases a lock. */
  const release = (key: string, token: string): Promise<void> =>
    releaseWith(key, token, async (args) => {
      await link.run(RELEASE, [keys.lock(key)], args);
    });

  /** Runs a script that also releases a lock; `args` are the first ones. */
  async function releaseWith(
    key: string,
    token: string,
    run: (args: readonly string[]) => Promise<void>,
  ): Promise<void> {
    try {
      await run([token, keys.channel, `u${key}`]);
    } catch (error) {
      if (token !== "") leave(key, token);
      throw error;
    }
  }

  /** Remembers a lock to release later. */
  function leave(key: string, token: string): void {
    if (left.length < MAX_LEFT) left.push({ key, token });
  }

  /** Releases locks that couldn't be released while Redis was away. */
  async function releaseLeft(): Promise<void> {
    const locks = left;
    left = [];
    await Promise.all(locks.map(({ key, token }) => release(key, token)));
  }

  return { wait, hear, wakeAll, release, releaseWith, leave, releaseLeft };
}
