import { CacheError } from "./error.ts";

/**
 * Refuses to compute a value that depends on the user, because all callers share
 * it.
 *
 * @param key The key of the value.
 * @returns The function that a scope calls when code inside asks for the user.
 */
export function refusePersonal(key: string): (isOwn: boolean) => boolean {
  return (isOwn) => {
    // The code sent an anonymous request itself, so the caller doesn't matter.
    if (isOwn) return false;
    throw new CacheError(
      "PERSONAL",
      `Cannot compute ${
        JSON.stringify(key.slice(0, 100))
      }: the function must not ask who sent the request, because all callers share its value; pass the user's id as an argument`,
    );
  };
}
