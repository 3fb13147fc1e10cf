import { CacheError } from "./error.ts";

/** What keeps a computation from asking who sent the request. */
export interface PersonalRefusal {
  /** What a scope calls when code inside asks who sent a request. */
  onAsked(isOwn: boolean): boolean;
  /**
   * Runs a computation and throws if it has asked, even if it caught the error:
   * it may have made an error page of that, as `app.fetch()` does.
   */
  check(compute: () => unknown): Promise<unknown>;
}

/**
 * Refuses to compute a value that depends on the user, because all callers share
 * it.
 *
 * @param key The key of the value.
 */
export function refusePersonal(key: string): PersonalRefusal {
  let error: CacheError | undefined;
  return {
    onAsked(isOwn) {
      // An anonymous request of its own says nothing about the caller.
      if (isOwn) return false;
      error = new CacheError(
        "PERSONAL",
        `Cannot compute ${
          JSON.stringify(key.slice(0, 100))
        }: the function must not ask who sent the request, because all callers share its value; pass the user's id as an argument`,
      );
      throw error;
    },
    async check(compute) {
      // Awaited here: a lazy query does its work when it is awaited.
      const value = await compute();
      if (error !== undefined) throw error;
      return value;
    },
  };
}
