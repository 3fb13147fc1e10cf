/**
 * Waiting for promises, but not for ever. No timer outlives its promise.
 *
 * @module
 */

/** Whether a promise settles within so many milliseconds. */
export async function isDoneWithin(
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  const done = () => true;
  const inTime = await Promise.race([promise.then(done, done), late]);
  clearTimeout(timer);
  return inTime;
}

/** The same promise, but it rejects if it takes longer. */
export function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  error: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(error()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
