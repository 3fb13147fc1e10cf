/** A number of slots, each held by one at a time, given in order of asking. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count How many may be held at a time. */
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

  /** Hands a slot to the one that has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
