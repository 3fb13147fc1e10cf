/**
 * A fixed number of slots. Each has one holder at a time, in the order of
 * requests.
 */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count The number of slots. */
  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot, and takes it. */
  async acquire(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes a slot to the caller that has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
