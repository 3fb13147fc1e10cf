/** What can go wrong in the cache itself. */
export type CacheErrorCode = "TIMEOUT";

/**
 * An error of the cache, not of the function that it calls.
 *
 * `code` is `TIMEOUT` if a computation has taken longer than its `timeout`.
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
   */
  constructor(code: CacheErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
