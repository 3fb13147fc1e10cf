/** The codes of {@linkcode CacheError}. */
export type CacheErrorCode =
  | "TIMEOUT"
  | "RECURSION"
  | "NOT_DATA"
  | "PERSONAL";

/**
 * An error of the cache, not of the function that it calls.
 *
 * - `TIMEOUT`: a computation took longer than its `timeout`.
 * - `RECURSION`: a computation would have to wait for its own result.
 * - `PERSONAL`: a computation asked for the user, but all callers share its value.
 * - `NOT_DATA`: only one caller could read the value, such as a `Response`, or
 *   `clone` can't copy it. In `onError`: other processes can't read the value.
 */
export class CacheError extends Error {
  /** The code, a stable name for programs. */
  readonly code: CacheErrorCode;
  /** The name of the class. */
  override readonly name = "CacheError";

  /**
   * Creates an error.
   *
   * @param code The code.
   * @param message One sentence for people.
   * @param options Its cause.
   */
  constructor(code: CacheErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
