/** One who waits. */
export interface UnlockWaiter extends Disposable {
  /** Waits for the lock to be let go of, or so many milliseconds. */
  wait(ms: number): Promise<void>;
}

/** Who waits in this process for locks that others have. */
export class UnlockWaiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** What is sent when a key is unlocked. */
  message(key: string): string {
    return `u${key}`;
  }

  /** Takes such a message; says whether it was one. */
  hear(message: string): boolean {
    if (message[0] !== "u") return false;
    for (const wake of this.#waiting.get(message.slice(1)) ?? []) wake();
    return true;
  }

  /** Nothing will be heard any more: nobody waits. */
  wakeAll(): void {
    for (const set of this.#waiting.values()) for (const wake of set) wake();
  }

  /** Listens for a key from now on. */
  add(key: string): UnlockWaiter {
    const { promise, resolve } = Promise.withResolvers<void>();
    const set = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, set.add(resolve));
    return {
      async wait(ms) {
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
      },
      [Symbol.dispose]: () => {
        set.delete(resolve);
        if (set.size === 0) this.#waiting.delete(key);
      },
    };
  }
}
