import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  required,
} from "../../core/check/rules.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";

/** The options of {@linkcode credentials}. */
export interface CredentialsOptions<
  U extends BaseUser = User,
  Id extends string = string,
> {
  /** The provider's id in `signIn()`. Default: `credentials`. */
  readonly id?: Id;
  /** The provider's name for people. Default: `Credentials`. */
  readonly name?: string;
  /**
   * Finds the user by the credentials that `signIn()` gets; `null` refuses them.
   * Credentials come from the request, so check their types.
   */
  readonly authorize: (
    credentials: Record<string, unknown>,
  ) => U | null | Promise<U | null>;
}

const OPTIONS: OptionRules<CredentialsOptions> = {
  id: aNonEmptyString,
  name: aNonEmptyString,
  authorize: required(aFunction),
};

/**
 * Creates a provider whose users the application finds itself, for example by
 * e-mail and password.
 *
 * @param options The function that finds the user.
 * @throws {TypeError} If an option is wrong.
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
  options: CredentialsOptions<U> & { readonly id?: undefined },
): AuthProvider<U, "credentials">;
/** The same with an `id`. */
export function credentials<
  U extends BaseUser = User,
  const Id extends string = string,
>(options: CredentialsOptions<U, Id>): AuthProvider<U, Id>;
export function credentials<U extends BaseUser>(
  options: CredentialsOptions<U>,
): AuthProvider<U> {
  checkOptions(options, OPTIONS, "create credentials provider");
  const { id = "credentials", name = "Credentials", authorize } = options;
  return {
    id,
    name,
    type: "credentials",
    authorize: async (credentials) => await authorize(credentials) ?? null,
  };
}
