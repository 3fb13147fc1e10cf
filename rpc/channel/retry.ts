import { pause } from "../../core/promises.ts";
import { UnavailableError } from "../../core/error_response.ts";

/** Time between two checks for a connection, in milliseconds. */
const RETRY_AFTER = 200;

/**
 * Runs read-only work, and retries it while its server can't be reached.
 * Returns `undefined` when the signal aborts.
 */
export type Retry = <V>(
  signal: AbortSignal,
  work: () => Promise<V>,
) => Promise<V | undefined>;

/**
 * Creates the retries of a link. All share one timer.
 *
 * @param closing Aborts when the link is closed.
 */
export function createRetry(
  link: { readonly isOpen: boolean },
  closing: AbortSignal,
): Retry {
  let reconnected: Promise<void> | undefined;

  async function reconnect(): Promise<void> {
    do {
      await pause(RETRY_AFTER, closing);
    } while (!link.isOpen && !closing.aborted);
    reconnected = undefined;
  }

  const repeat: Retry = async (signal, work) => {
    while (!signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
      await (reconnected ??= reconnect());
    }
    return undefined;
  };

  return (signal, work) =>
    new Promise((resolve, reject) => {
      const stop = () => resolve(undefined);
      signal.addEventListener("abort", stop);
      repeat(signal, work).then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", stop));
    });
}
