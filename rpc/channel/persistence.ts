import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";

/** The time between two looks for a connection, in milliseconds. */
const RETRY_AFTER = 200;

/**
 * Repeats work that only reads while its server can't be reached. One timer
 * serves all that wait.
 */
export class Persistence {
  readonly #link: { readonly isOpen: boolean };
  readonly #closing: AbortSignal;
  #reconnected: Promise<void> | undefined;

  /**
   * Creates the waiting for a link.
   *
   * @param closing Aborts when the link is closed.
   */
  constructor(link: { readonly isOpen: boolean }, closing: AbortSignal) {
    this.#link = link;
    this.#closing = closing;
  }

  /** Does some work. Returns `undefined` as soon as the signal aborts. */
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
