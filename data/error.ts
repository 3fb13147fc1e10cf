/** What can go wrong in the cache itself. */
export type CacheErrorCode =
  | "TIMEOUT"
  | "RECURSION"
  | "NOT_DATA"
  | "PERSONAL";

/**
 * An error of the cache, not of the function that it calls.
 *
 * `code` is `TIMEOUT` if a computation has taken longer than its `timeout`;
 * `RECURSION` if it would have to wait for its own result; `NOT_DATA` if a
 * value can't be shared with other processes, which reaches only `onError`;
 * `PERSONAL` if a computation asks who sent the request, because every caller
 * would get that user's value.
 */
export class CacheError extends Error {
  /** A stable name for programs. */
  readonly code: CacheErrorCode;
  /** The name of the class. */
  override readonly name = "CacheError";

  /**
   * Makes an error.
   *
   * @param code A stable name for programs.
   * @param message One sentence for people.
   * @param options What caused it.
   */
  constructor(code: CacheErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
