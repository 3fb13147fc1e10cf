/**
 * A task for many callers. Calls that come while it runs share the next run, so
 * each call sees a run that began after it.
 */
export class Group {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** Creates a group that hasn't run. */
  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Resolves, or rejects, with a run that begins now or later. */
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
