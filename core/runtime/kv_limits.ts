import { UnavailableError } from "../error_response.ts";
import { pause, toDelay, withTimeout } from "../promises.ts";

/** How long to retry while other processes write, in milliseconds. */
const PATIENCE = 10_000;

/** Whether Deno KV failed because another process writes to the file. */
export function isBusy(error: unknown): boolean {
  return /database is (locked|busy)/.test(String(error));
}

/**
 * Creates functions that limit the time of Deno KV.
 *
 * @param store The store in errors, such as `session store`.
 * @param timeout How long Deno KV may take to answer, in seconds.
 */
export function limitKv(store: string, timeout: number) {
  /** Rejects if Deno KV doesn't answer in time. */
  function inTime<T>(work: Promise<T>): Promise<T> {
    const late = () =>
      new UnavailableError(
        `Cannot reach ${store}: Deno KV has not answered for ${timeout} s`,
      );
    return withTimeout(work, toDelay(timeout), late);
  }

  /**
   * Commits a transaction, with retries. Only one process at a time can write to a
   * file; for the others, Deno KV throws instead of waiting.
   *
   * @returns Whether the conditions of the transaction held.
   */
  async function commit(
    transaction: { commit(): Promise<{ readonly ok: boolean }> },
  ): Promise<boolean> {
    const end = performance.now() + PATIENCE;
    for (let ms = 1;; ms = Math.min(2 * ms, 50)) {
      try {
        return (await inTime(transaction.commit())).ok;
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
      }
      await pause(ms * Math.random());
    }
  }

  return { inTime, commit };
}
