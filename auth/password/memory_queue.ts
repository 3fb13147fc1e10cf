/**
 * A fair queue for work that takes much memory.
 *
 * Each caller has its own line, and the lines take turns (round-robin). If the
 * queue is full, the longest line loses its last entry:
 *
 * ```
 * a: 1 2 3 4 5 ✗     runs a1 b1 c1 a2 a3 …
 * b: 1               c1 comes last and finds the queue full: a5 is dropped
 * c: 1
 * ```
 *
 * @module
 */

/** Work that waits for its turn, and what it needs. */
interface Waiter {
  readonly bytes: number;
  readonly start: () => void;
  readonly refuse: (error: QueueFullError) => void;
}

/** Thrown instead of running work if the queue is full. */
export class QueueFullError extends Error {}

/**
 * Runs work that takes much memory: so much of it at once as there is room for,
 * the rest in turns of the callers.
 */
export class MemoryQueue {
  readonly #maxBytes: number;
  readonly #maxWaiting: number;
  /** The non-empty lines. The first one has the next turn. */
  readonly #lines = new Map<string, Waiter[]>();
  #waiting = 0;
  #bytes = 0;

  /**
   * Makes an empty one.
   *
   * @param maxBytes How much memory all work may take together.
   * @param maxWaiting How much work may wait.
   */
  constructor(maxBytes: number, maxWaiting: number) {
    this.#maxBytes = maxBytes;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs the work when there is room. What needs more than there ever is runs
   * alone.
   *
   * @param caller The caller that the work is for.
   * @throws {QueueFullError} If the queue is full, and no other caller has a
   * longer line.
   */
  async run<T>(
    bytes: number,
    work: () => Promise<T>,
    caller = "",
  ): Promise<T> {
    // Nobody overtakes: small work would keep large work waiting for ever.
    if (this.#waiting > 0 || !this.#hasRoom(bytes)) {
      await this.#wait(bytes, caller);
    } else this.#bytes += bytes;
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
      this.#next();
    }
  }

  #wait(bytes: number, caller: string): Promise<void> {
    if (this.#waiting >= this.#maxWaiting) this.#makePlace(caller);
    return new Promise((start, refuse) => {
      const line = this.#lines.get(caller) ?? [];
      line.push({ bytes, start, refuse });
      this.#lines.set(caller, line);
      this.#waiting++;
    });
  }

  /** Drops the last entry of the longest line, or refuses the caller. */
  #makePlace(caller: string): void {
    const length = this.#lines.get(caller)?.length ?? 0;
    const longest = [...this.#lines.values()].reduce(
      (a, b) => b.length > a.length ? b : a,
      [],
    );
    // Lines that differ by one are equal enough.
    if (longest.length <= length + 1) throw new QueueFullError();
    this.#waiting--;
    longest.pop()!.refuse(new QueueFullError());
  }

  #next(): void {
    for (;;) {
      const [first] = this.#lines;
      if (first === undefined) return;
      const [caller, line] = first;
      const { bytes, start } = line[0]!;
      if (!this.#hasRoom(bytes)) return;
      line.shift();
      this.#waiting--;
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      // Taken here: whoever comes before it gets to run must see it.
      this.#bytes += bytes;
      start();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#maxBytes;
  }
}
