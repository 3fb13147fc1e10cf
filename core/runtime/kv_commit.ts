import { pause } from "./pause.ts";

/** How long to retry while other processes write, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Commits a transaction of Deno KV, with retries. Only one process at a time can
 * write to a file; for the others, Deno KV throws instead of waiting.
 *
 * @param attempt Commits it.
 * @returns Whether the conditions of the transaction held.
 */
export async function commitInTurn(
  attempt: () => Promise<{ readonly ok: boolean }>,
): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  for (let ms = 1;; ms = Math.min(2 * ms, 50)) {
    try {
      return (await attempt()).ok;
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    await pause(ms * Math.random());
  }
}

/** Whether Deno KV failed because another process writes to the file. */
export function isBusy(error: unknown): boolean {
  return /database is (locked|busy)/.test(String(error));
}
