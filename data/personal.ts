import { CacheError } from "./error.ts";

/** Keeps a computation from asking for the user. */
export interface PersonalRefusal {
  /** Called by a scope when code inside asks for the user. */
  onAsked(isOwn: boolean): boolean;
  /**
   * Runs a computation, and throws if it has asked for the user. This also holds
   * if it caught the error: `app.fetch()` turns errors into pages.
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
      // The code sent an anonymous request itself, so the caller doesn't matter.
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
      // Awaited here, because a lazy query runs when it is awaited.
      const value = await compute();
      if (error !== undefined) throw error;
      return value;
    },
  };
}
