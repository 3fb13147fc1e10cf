/**
 * Time limits for promises, and pauses. No timer outlives its promise.
 *
 * @module
 */

/** Converts seconds to the delay of a timer: whole milliseconds, at least 1. */
export function toDelay(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000));
}

/** Returns the promise's result, or rejects if it takes too long. */
export function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  error: () => Error,
): Promise<T> {
  if (ms === Infinity) return promise;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(error()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Whether a promise settles in time. */
export async function settlesWithin(
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const late = new Error();
  try {
    await withTimeout(promise, ms, () => late);
    return true;
  } catch (error) {
    return error !== late;
  }
}

/** Yields to the event loop, so that timers, sockets and signals can run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits a number of milliseconds, or until the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish);
  });
}
