import type { AuthCore } from "./core.ts";
import { AuthError } from "./error.ts";
import type { AuthProvider } from "./provider.ts";
import type { BaseUser } from "./user.ts";

/** Maximum characters of an unknown id that are shown. */
export const MAX_ID = 50;

/**
 * Returns the provider with an id, which may come from a request.
 *
 * @throws {AuthError} `UNKNOWN_PROVIDER` if there is no such provider.
 */
export function findProvider<U extends BaseUser>(
  core: AuthCore<U>,
  id: string,
): AuthProvider<U> {
  const provider = core.providers.get(id);
  if (provider !== undefined) return provider;
  throw new AuthError(
    "UNKNOWN_PROVIDER",
    typeof id === "string"
      ? `There is no provider ${JSON.stringify(id.slice(0, MAX_ID))}`
      : "The id of a provider must be a string",
  );
}
