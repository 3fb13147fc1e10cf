/** Work that waits for its turn, and what it needs. */
interface Waiter {
  readonly bytes: number;
  readonly start: () => void;
}

/**
 * Runs work that takes much memory: so much of it at once as there is room for,
 * the rest in the order in which it came.
 */
export class MemoryQueue {
  readonly #maxBytes: number;
  readonly #maxWaiting: number;
  #waiting: Waiter[] = [];
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

  /** Whether {@linkcode MemoryQueue.run} has no place for more. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /**
   * Runs the work when there is room. What needs more than there ever is runs
   * alone.
   */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    // Nobody overtakes: small work would keep large work waiting for ever.
    if (this.#waiting.length > 0 || !this.#hasRoom(bytes)) {
      await new Promise<void>((start) => this.#waiting.push({ bytes, start }));
    } else this.#bytes += bytes;
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
      this.#next();
    }
  }

  #next(): void {
    for (;;) {
      const first = this.#waiting[0];
      if (first === undefined || !this.#hasRoom(first.bytes)) return;
      this.#waiting.shift();
      // Taken here: whoever comes before it gets to run must see it.
      this.#bytes += first.bytes;
      first.start();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#maxBytes;
  }
}
