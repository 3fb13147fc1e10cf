import { MAX_DELAY } from "../../core/check/rules.ts";
import type { RedisLink } from "../../core/redis/link.ts";
import { pause } from "../../core/runtime/pause.ts";
import { type RedisKeys, RELEASE } from "./redis_scripts.ts";

/** Maximum locks to remember that couldn't be released. */
const MAX_LEFT = 10_000;

/** Waits until a lock is released. */
export interface Waiter {
  /** Resolves when it is released, or after a number of milliseconds. */
  released(ms: number): Promise<void>;
  /** Stops waiting. */
  end(): void;
}

/** The locks that this process releases or waits for. */
export class RedisLocks {
  readonly #keys: RedisKeys;
  readonly #link: RedisLink;
  /** Calls that wait for a lock, by key. Aborting one wakes it. */
  readonly #waiting = new Map<string, Set<AbortController>>();
  /** Locks that may still be held, because Redis was away at their release. */
  #left: { readonly key: string; readonly token: string }[] = [];

  /** Creates an empty list of locks. */
  constructor(keys: RedisKeys, link: RedisLink) {
    this.#keys = keys;
    this.#link = link;
  }

  /** Starts listening for the release of a lock. */
  wait(key: string): Waiter {
    const waiter = new AbortController();
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
    const end = () => {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiting.delete(key);
    };
    return {
      end,
      released: (ms) =>
        pause(Math.min(ms + 1, MAX_DELAY), waiter.signal).finally(end),
    };
  }

  /** Handles a message. Returns whether it was about a lock. */
  hear(message: string): boolean {
    if (message[0] !== "u") return false;
    for (const waiter of this.#waiting.get(message.slice(1)) ?? []) {
      waiter.abort();
    }
    return true;
  }

  /** Ends all waiting, because no more messages will come. */
  wakeAll(): void {
    for (const waiters of this.#waiting.values()) {
      for (const waiter of waiters) waiter.abort();
    }
  }

  /** Releases a lock. */
  release(key: string, token: string): Promise<void> {
    return this.releaseWith(key, token, async (args) => {
      await this.#link.run(RELEASE, [this.#keys.lock(key)], args);
    });
  }

  /** Runs a script that also releases a lock; `args` are the first ones. */
  async releaseWith(
    key: string,
    token: string,
    run: (args: readonly string[]) => Promise<void>,
  ): Promise<void> {
    try {
      await run([token, this.#keys.channel, `u${key}`]);
    } catch (error) {
      if (token !== "") this.leave(key, token);
      throw error;
    }
  }

  /** Remembers a lock to release later. */
  leave(key: string, token: string): void {
    if (this.#left.length < MAX_LEFT) this.#left.push({ key, token });
  }

  /** Releases locks that couldn't be released while Redis was away. */
  async releaseLeft(): Promise<void> {
    const left = this.#left;
    this.#left = [];
    await Promise.all(left.map(({ key, token }) => this.release(key, token)));
  }
}
