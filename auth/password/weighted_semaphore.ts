/** Work that waits for its turn. */
interface Waiter {
  readonly weight: number;
  readonly start: () => void;
  readonly refuse: (error: QueueFullError) => void;
}

/** Thrown instead of running work if the queue is full. */
export class QueueFullError extends Error {}

/**
 * A weighted semaphore: runs as much work at once as its capacity allows. The
 * rest waits in one queue for each caller, and the queues take turns
 * (round-robin). When too much is waiting, the longest queue loses its last
 * entry:
 *
 * ```
 * a: 1 2 3 4 5 ✗     runs a1 b1 c1 a2 a3 …
 * b: 1               c1 comes last and finds no room: a5 is dropped
 * c: 1
 * ```
 */
export class WeightedSemaphore {
  readonly #capacity: number;
  readonly #maxWaiting: number;
  /** The non-empty queues by caller. The first one has the next turn. */
  readonly #queues = new Map<string, Waiter[]>();
  #waiting = 0;
  #used = 0;

  /**
   * Creates an idle semaphore.
   *
   * @param capacity Maximum weight of the running work.
   * @param maxWaiting Maximum number of waiting work.
   */
  constructor(capacity: number, maxWaiting: number) {
    this.#capacity = capacity;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs work when there is room. Work that is heavier than the capacity runs
   * alone.
   *
   * @param caller The caller that the work is for.
   * @throws {QueueFullError} If too much is waiting, and no other caller has a
   * longer queue.
   */
  async run<T>(
    weight: number,
    work: () => Promise<T>,
    caller = "",
  ): Promise<T> {
    // Nobody overtakes. Otherwise light work could delay heavy work forever.
    if (this.#waiting === 0 && this.#hasRoom(weight)) this.#used += weight;
    else await this.#wait(weight, caller);
    try {
      return await work();
    } finally {
      this.#used -= weight;
      this.#startWaiting();
    }
  }

  #wait(weight: number, caller: string): Promise<void> {
    if (this.#waiting >= this.#maxWaiting) this.#makeRoom(caller);
    this.#waiting++;
    return new Promise((start, refuse) => {
      const queue = this.#queues.get(caller) ?? [];
      queue.push({ weight, start, refuse });
      this.#queues.set(caller, queue);
    });
  }

  /** Drops the last entry of the longest queue, or refuses the caller. */
  #makeRoom(caller: string): void {
    const length = this.#queues.get(caller)?.length ?? 0;
    const longest = [...this.#queues.values()].reduce(
      (a, b) => b.length > a.length ? b : a,
      [],
    );
    // Queues that differ by one count as equal.
    if (longest.length <= length + 1) throw new QueueFullError();
    this.#waiting--;
    longest.pop()!.refuse(new QueueFullError());
  }

  #startWaiting(): void {
    for (;;) {
      const [first] = this.#queues;
      if (first === undefined || !this.#hasRoom(first[1][0]!.weight)) return;
      const [caller, queue] = first;
      const { weight, start } = queue.shift()!;
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue);
      this.#waiting--;
      // Counted before it runs, so that a new caller sees it.
      this.#used += weight;
      start();
    }
  }

  #hasRoom(weight: number): boolean {
    return this.#used === 0 || this.#used + weight <= this.#capacity;
  }
}
