import { checkValue } from "../core/check/options.ts";
import {
  aBoolean,
  aFunction,
  aString,
  type Rule,
  rule,
} from "../core/check/rules.ts";
import { AuthError, configError } from "./error.ts";
import type { AuthProvider } from "./provider.ts";

/** Maximum characters of an unknown id that are shown. */
const MAX_ID = 50;

const OPTIONAL: Partial<Record<keyof AuthProvider, Rule>> = {
  setup: aFunction,
  getAuthorizationUrl: aFunction,
  handleCallback: aFunction,
  authenticate: aFunction,
  issuer: aString,
  isIssuerRequired: aBoolean,
  // A wrong type could turn the CSRF checks off by accident.
  isSentByBrowsers: rule(
    "a boolean or a function",
    (value) => aBoolean.test(value) || aFunction.test(value),
  ),
};

/**
 * Checks providers, which may be the application's own.
 *
 * @returns The providers by id.
 * @throws {TypeError} If something is wrong.
 */
export function readProviders(
  list: readonly AuthProvider[],
): ReadonlyMap<string, AuthProvider> {
  const providers = new Map<string, AuthProvider>();
  for (const provider of list) {
    checkProvider(provider);
    const { id } = provider;
    if (providers.has(id)) {
      throw configError(`two providers have the id ${JSON.stringify(id)}`);
    }
    providers.set(id, provider);
  }
  return providers;
}

function checkProvider(provider: AuthProvider): void {
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
  for (const [name, rule] of Object.entries(OPTIONAL)) {
    const value = provider[name as keyof AuthProvider];
    if (value === undefined) continue;
    checkValue(value, `${name} of ${whose}`, rule, "create auth plugin");
  }
}

/** Returns an id that may come from a request, for events. */
export function shownId(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  return typeof id === "string" ? id.slice(0, MAX_ID) : "";
}

/**
 * Returns the provider with an id, which may come from a request.
 *
 * @throws {AuthError} `UNKNOWN_PROVIDER` if there is no such provider.
 */
export function findProvider(
  providers: ReadonlyMap<string, AuthProvider>,
  id: string,
): AuthProvider {
  const provider = providers.get(id);
  if (provider !== undefined) return provider;
  throw new AuthError(
    "UNKNOWN_PROVIDER",
    typeof id === "string"
      ? `Unknown provider ${JSON.stringify(id.slice(0, MAX_ID))}`
      : "The id of a provider must be a string",
  );
}
