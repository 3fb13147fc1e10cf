import { CacheError } from "./error.ts";

/**
 * Refuses to compute a value that depends on the user, because every caller of
 * its key gets it.
 *
 * @param key The key of the value.
 * @returns What a scope calls when code inside asks who sent a request.
 */
export function refusePersonal(key: string): (isOwn: boolean) => boolean {
  return (isOwn) => {
    // An anonymous request of its own says nothing about the caller.
    if (isOwn) return false;
    throw new CacheError(
      "PERSONAL",
      `Cannot compute ${
        JSON.stringify(key.slice(0, 100))
      }: the function must not ask who sent the request, because all callers share its value; pass the user's id as an argument`,
    );
  };
}
