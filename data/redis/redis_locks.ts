import { MAX_DELAY } from "../../core/check/duration.ts";
import type { ReleaseLock } from "../store.ts";
import type { Run } from "./redis_link.ts";
import { LOCK, RELEASE } from "./redis_scripts.ts";

/** What locks are made of. */
export interface RedisLocksParts {
  /** What all keys begin with. */
  readonly name: string;
  /** Where the epoch is. */
  readonly meta: string;
  /** Where it is said that a lock is free. */
  readonly channel: string;
  /** How long a lock is held at most, in ms. */
  readonly lockTime: number;
  /** Runs scripts. */
  readonly run: Run;
}

/** How many locks are remembered that could not be let go of. */
const MAX_LEFT = 10_000;

/** The locks that this process holds, and those that it waits for. */
export class RedisLocks {
  readonly #parts: RedisLocksParts;
  readonly #waiting = new Map<string, Set<() => void>>();
  /** What is held, or may be, because Redis was away when it was let go of. */
  #left: { readonly key: string; readonly token: string }[] = [];

  /** Begins with none. */
  constructor(parts: RedisLocksParts) {
    this.#parts = parts;
  }

  /** As the store's. */
  async lock(key: string): Promise<ReleaseLock | undefined> {
    const { meta, lockTime, run } = this.#parts;
    const token = crypto.randomUUID();
    // Before it is asked for: it may be free again before the answer is here.
    const waiter = this.#listen(key);
    const keys = [this.#place(key), meta];
    try {
      const left = await run(LOCK, keys, [token, `${lockTime}`]) as number;
      if (left === -1) return () => this.#release(key, token, run);
      await waiter.wait(Math.min(left + 1, MAX_DELAY));
      return undefined;
    } catch (error) {
      this.#leave(key, token);
      throw error;
    } finally {
      waiter.stop();
    }
  }

  /** Takes a message; says whether it was one about a lock. */
  hear(message: string): boolean {
    if (message[0] !== "u") return false;
    for (const wake of this.#waiting.get(message.slice(1)) ?? []) wake();
    return true;
  }

  /** Nothing will be heard any more: nobody waits. */
  wakeAll(): void {
    for (const set of this.#waiting.values()) for (const wake of set) wake();
  }

  /** Lets go of what could not be let go of while Redis was away. */
  async releaseLeft(run: Run): Promise<void> {
    const left = this.#left;
    this.#left = [];
    await Promise.all(
      left.map(({ key, token }) => this.#release(key, token, run)),
    );
  }

  async #release(key: string, token: string, run: Run): Promise<void> {
    const { channel } = this.#parts;
    try {
      await run(RELEASE, [this.#place(key)], [token, channel, `u${key}`]);
    } catch (error) {
      this.#leave(key, token);
      throw error;
    }
  }

  #leave(key: string, token: string): void {
    if (this.#left.length < MAX_LEFT) this.#left.push({ key, token });
  }

  #place(key: string): string {
    return `${this.#parts.name}:lock:${key}`;
  }

  #listen(key: string): { wait(ms: number): Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const set = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, set.add(resolve));
    return {
      async wait(ms) {
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
      },
      stop: () => {
        set.delete(resolve);
        if (set.size === 0) this.#waiting.delete(key);
      },
    };
  }
}
