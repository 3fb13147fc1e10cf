import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";

/** Time between two checks for a connection, in milliseconds. */
const RETRY_AFTER = 200;

/**
 * Retries read-only work while its server can't be reached. All share one
 * timer.
 */
export class Persistence {
  readonly #link: { readonly isOpen: boolean };
  readonly #closing: AbortSignal;
  #reconnected: Promise<void> | undefined;

  /**
   * Creates the retries of a link.
   *
   * @param closing Aborts when the link is closed.
   */
  constructor(link: { readonly isOpen: boolean }, closing: AbortSignal) {
    this.#link = link;
    this.#closing = closing;
  }

  /**
   * Runs some work, and retries it. Returns `undefined` when the signal aborts.
   */
  try<V>(
    signal: AbortSignal,
    work: () => Promise<V>,
  ): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => resolve(undefined);
      signal.addEventListener("abort", stop);
      this.#repeat(signal, work).then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", stop));
    });
  }

  async #repeat<V>(
    signal: AbortSignal,
    work: () => Promise<V>,
  ): Promise<V | undefined> {
    while (!signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
      await (this.#reconnected ??= this.#wait());
    }
    return undefined;
  }

  async #wait(): Promise<void> {
    do {
      await pause(RETRY_AFTER, this.#closing);
    } while (!this.#link.isOpen && !this.#closing.aborted);
    this.#reconnected = undefined;
  }
}
