/**
 * Closing waits for work in progress, until a deadline.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** How long closing may take by default, in seconds. */
export const SHUTDOWN_TIMEOUT = 10;

/** Counts work in progress, and waits until there is none. */
export class WorkCounter {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  /** How much work is in progress. */
  get count(): number {
    return this.#count;
  }

  readonly begin = (): void => void this.#count++;

  readonly end = (): void => {
    if (--this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  };

  /** Resolves when there is none. Several callers may wait. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#idle ??= Promise.withResolvers()).promise;
  }
}

/** The deadline of a shutdown. */
export class Deadline {
  readonly #passed = Promise.withResolvers<true>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /**
   * Starts the timer, unless the deadline has passed. `Infinity` starts none.
   */
  start(ms: number): void {
    if (this.#isOver || ms === Infinity) return;
    this.#timer = setTimeout(() => this.pass(), ms);
  }

  /** Ends the timer early. */
  pass(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#passed.resolve(true);
  }

  /** Waits for some work. Returns whether the deadline came first. */
  async limits(work: Promise<unknown>): Promise<boolean> {
    return await Promise.race([work.then(() => false), this.#passed.promise]);
  }
}

const deadlines = new AsyncLocalStorage<Deadline>();

/** Runs `close`, whose waits all have this deadline. */
export function closeWithin<T>(deadline: Deadline, close: () => T): T {
  return deadlines.run(deadline, close);
}

/**
 * Runs `close` with the deadline of the shutdown that it's part of. Without one,
 * its own deadline begins now.
 */
export async function limitClose<T>(
  close: (deadline: Deadline) => Promise<T>,
  seconds: number = SHUTDOWN_TIMEOUT,
): Promise<T> {
  const outer = deadlines.getStore();
  if (outer !== undefined) return await close(outer);
  const deadline = new Deadline();
  deadline.start(seconds * 1_000);
  try {
    return await closeWithin(deadline, () => close(deadline));
  } finally {
    deadline.pass();
  }
}
