import { runOutside } from "../core/request_scope.ts";

/** Calls a function once, some time after the first of several starts. */
export class Delay {
  readonly #run: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param run Called when the time is over. It may start the delay again. */
  constructor(run: () => void) {
    this.#run = run;
  }

  /** Starts the delay, unless it runs. */
  start(milliseconds: number): void {
    // A timer of a request would keep its scope.
    this.#timer ??= runOutside(() =>
      setTimeout(() => {
        this.#timer = undefined;
        this.#run();
      }, milliseconds)
    );
  }

  /** Ends the delay without a call. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
