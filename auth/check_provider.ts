import { kindOf } from "../core/check/show.ts";
import { configError } from "./error.ts";
import type { AuthProvider } from "./provider.ts";
import type { BaseUser } from "./user.ts";

const METHODS = [
  "setup",
  "getAuthorizationUrl",
  "handleCallback",
  "authenticate",
] as const;

/**
 * Checks a provider, which may be the application's own.
 *
 * @throws {AuthError} `CONFIG` with the name of what is wrong.
 */
export function checkProvider<U extends BaseUser>(
  provider: AuthProvider<U>,
): void {
  const id: unknown = provider?.id;
  if (typeof id !== "string" || id === "") {
    throw configError(
      "providers must hold auth providers, such as credentials() or github(), received a value without an id",
    );
  }
  const whose = `provider ${JSON.stringify(id)}`;
  if (typeof provider.authorize !== "function") {
    throw configError(`${whose} must have a function authorize`);
  }
  const check = (name: keyof AuthProvider, types: readonly string[]) => {
    const value: unknown = provider[name];
    if (value === undefined || types.includes(typeof value)) return;
    throw configError(
      `${name} of ${whose} must be a ${types.join(" or a ")}, received ${
        kindOf(value)
      }`,
    );
  };
  for (const name of METHODS) check(name, ["function"]);
  check("issuer", ["string"]);
  check("isIssuerRequired", ["boolean"]);
  // A wrong type could turn the CSRF checks off by accident.
  check("isSentByBrowsers", ["boolean", "function"]);
}
