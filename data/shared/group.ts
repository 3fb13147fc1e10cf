/**
 * Coalesces calls of a task. Calls during a run share the next run, so each call
 * gets a run that started after it.
 */
export class Group {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** Creates a group. */
  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Settles with a run that starts now or later. */
  run(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    return this.#next = this.#running.catch(() => {}).then(() => this.#start());
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const running = this.#task().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return this.#running = running;
  }
}
