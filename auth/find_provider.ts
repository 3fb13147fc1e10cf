import type { AuthCore } from "./core.ts";
import { AuthError } from "./error.ts";
import type { AuthProvider } from "./provider.ts";
import type { BaseUser } from "./user.ts";

/** How much is told of an id that no provider has. */
export const MAX_ID = 50;

/**
 * The provider of an id, which may come from a request.
 *
 * @throws {AuthError} `UNKNOWN_PROVIDER` if there is none.
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
      : "The id of a provider is a string",
  );
}
