import type { OptionRules } from "../../core/check/check_options.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkName, checkNames, createCheck } from "./check.ts";

/** The options of {@linkcode credentials}. */
export interface CredentialsOptions<U extends BaseUser = User> {
  /** Names the provider in `signIn()`. Default `credentials`. */
  readonly id?: string;
  /** A name for people to read. Default `Credentials`. */
  readonly name?: string;
  /**
   * Finds the user by what `signIn()` was handed; `null` lets nobody in. What
   * it is handed comes from the request: check the types.
   */
  readonly authorize: (
    credentials: Record<string, unknown>,
  ) => U | null | Promise<U | null>;
}

const OPTIONS: OptionRules<CredentialsOptions> = {
  id: true,
  name: true,
  authorize: true,
};

/**
 * Makes a provider that asks the application who somebody is, for example by
 * e-mail and password.
 *
 * @param options How to find the user.
 * @throws {AuthError} `CONFIG` if an option is wrong.
 *
 * @example
 * ```ts
 * import { credentials } from "@quartet/kit/auth";
 *
 * const users = new Map([["ada", { id: "1", name: "Ada", pin: "1815" }]]);
 * const provider = credentials({
 *   authorize({ name, pin }) {
 *     const user = typeof name === "string" ? users.get(name) : undefined;
 *     if (user === undefined || user.pin !== pin) return null;
 *     return { id: user.id, name: user.name };
 *   },
 * });
 *
 * console.assert(await provider.authorize({ name: "ada", pin: "0" }) === null);
 * ```
 */
export function credentials<U extends BaseUser = User>(
  options: CredentialsOptions<U>,
): AuthProvider<U> {
  checkNames("credentials", options, OPTIONS);
  const { id = "credentials", name = "Credentials", authorize } = options;
  const check = createCheck("credentials");
  checkName(check, "id", id);
  checkName(check, "name", name);
  check(typeof authorize === "function", "authorize", "a function", authorize);
  return {
    id,
    name,
    type: "credentials",
    authorize: async (credentials) => await authorize(credentials) ?? null,
  };
}
