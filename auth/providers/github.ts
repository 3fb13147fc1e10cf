import type { OptionRules } from "../../core/check/options.ts";
import { isObject, required, rule } from "../../core/check/rules.ts";
import { trimEnd } from "../../core/trim_end.ts";
import { anEndpoint, isEndpoint } from "../oauth/address.ts";
import { textOf } from "../oauth/client.ts";
import { ProviderError } from "../oauth/http.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { readOptions } from "./check.ts";
import {
  createOAuthProvider,
  OAUTH_OPTIONS,
  type OAuthClientOptions,
  type ProfileOption,
  type ProfileSource,
} from "./oauth_provider.ts";

/** The options of {@linkcode presetCodeHost}. */
export interface GitHubOptions<Id extends string = string>
  extends OAuthClientOptions<Id> {
  /**
   * The requested scopes. Default: `["read:user", "user:email"]`.
   * Without `user:email`, users have no e-mail address. A GitHub App has
   * permissions instead, and needs the one to read e-mail addresses.
   */
  readonly scope?: readonly string[];
  /**
   * GitHub Enterprise: the URL of your server, such as
   * `https://github.example.com`, or of your part of GitHub, such as
   * `https://example.ghe.com`.
   */
  readonly enterprise?: { readonly baseUrl: string };
}

const OPTIONS: OptionRules<GitHubOptions & { readonly profile: unknown }> = {
  ...OAUTH_OPTIONS,
  enterprise: true,
};
const ENTERPRISE: OptionRules<NonNullable<GitHubOptions["enterprise"]>> = {
  baseUrl: required(rule(
    `${anEndpoint.expected}, without query`,
    (value) => isEndpoint(value) && !value.includes("?"),
  )),
};

const OPERATION = "create GitHub provider";
const DEFAULTS = {
  id: "github",
  name: "GitHub",
  scope: ["read:user", "user:email"],
  profile: (profile: GitHubProfile): BaseUser => profile,
};

/** A user of GitHub. */
export type GitHubProfile = {
  /** GitHub's number of the user. Unlike the login, it never changes. */
  id: string;
  /** The user's name, or the login of a user without one. */
  name: string;
  /** The user's primary e-mail address, if it is verified. */
  email?: string | undefined;
  /** The name of the user's account. */
  login: string;
  /** The address of the user's picture. */
  picture?: string | undefined;
};

/**
 * Creates a provider that signs users in with GitHub or GitHub Enterprise.
 *
 * The user has the fields of {@linkcode GitHubProfile}, or is what `profile`
 * returns.
 *
 * @param options The application's id and secret at GitHub, and more.
 * @throws {TypeError} If an option is wrong.
 *
 * @example
 * ```ts
 * import { github } from "@quartet/kit/auth";
 *
 * const provider = github({
 *   clientId: "Iv1.0123456789abcdef",
 *   clientSecret: "the secret from GitHub's settings",
 *   profile: ({ id, name, login }) => ({ id: `github:${id}`, name, login }),
 * });
 *
 * console.assert(provider.id === "github");
 * ```
 */
export function presetCodeHost<
  U extends BaseUser,
  const Id extends string = "github",
>(
  options: GitHubOptions<Id> & ProfileOption<GitHubProfile, U>,
): AuthProvider<U, Id>;
/** The same without `profile`. */
export function presetCodeHost<const Id extends string = "github">(
  options: GitHubOptions<Id>,
): AuthProvider<User, Id>;
export function presetCodeHost(
  options: GitHubOptions & Partial<ProfileOption<GitHubProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  const { baseUrl = "https://github.com" } = options?.enterprise === undefined
    ? {}
    : readOptions(OPERATION, options.enterprise, ENTERPRISE, {}, "enterprise");
  const settings = readOptions(OPERATION, options, OPTIONS, {
    ...DEFAULTS,
    ...endpointsOf(trimEnd(baseUrl, "/")),
  });
  const { enterprise, authorizationUrl } = options;
  const isOwn = enterprise === undefined && authorizationUrl === undefined;

  return createOAuthProvider<GitHubProfile>({
    ...settings,
    operation: OPERATION,
    issuer: isOwn ? "https://github.com/login/oauth" : undefined,
    async readProfile(source) {
      const { id, login, name, avatar_url } = source.info;
      if (!Number.isSafeInteger(id) || !textOf(login)) {
        throw new ProviderError(
          "the user-info endpoint returned no id and login",
        );
      }
      const url = new URL(settings.userInfoUrl);
      url.pathname += "/emails";
      url.searchParams.set("per_page", "100");
      return {
        id: String(id),
        name: textOf(name) ?? String(login),
        email: await findEmail(url.href, settings.scope, source),
        login: String(login),
        picture: textOf(avatar_url),
      };
    },
  });
}

export { presetCodeHost as github };

/** Returns the verified primary address. The profile's may be unverified. */
async function findEmail(
  url: string,
  scope: readonly string[],
  { tokens, get }: ProfileSource,
): Promise<string | undefined> {
  // A GitHub App has permissions instead of scopes, and doesn't learn which.
  const isApp = tokens.scope === "";
  // The user may have granted less than was asked for.
  const granted = tokens.scope?.split(/[\s,]+/) ?? scope;
  const isGranted = granted.includes("user:email") || granted.includes("user");
  if (!isApp && !isGranted) return undefined;
  const what = "the endpoint of e-mail addresses";
  let list: unknown;
  try {
    list = await get(what, url);
  } catch (error) {
    const { status } = error as Partial<ProviderError>;
    if (isApp && (status === 403 || status === 404)) return undefined;
    throw error;
  }
  if (!Array.isArray(list)) {
    throw new ProviderError(`${what} did not answer with an array`);
  }
  const primary = list.find((item) =>
    isObject(item) && item["primary"] === true && item["verified"] === true
  );
  return textOf(primary?.email);
}

function endpointsOf(base: string) {
  const { hostname, protocol } = new URL(base);
  // GitHub's API has its own host, and a self-hosted API has its own path.
  const api = hostname === "github.com" || hostname.endsWith(".ghe.com")
    ? `${protocol}//api.${hostname}`
    : `${base}/api/v3`;
  return {
    authorizationUrl: `${base}/login/oauth/authorize`,
    tokenUrl: `${base}/login/oauth/access_token`,
    userInfoUrl: `${api}/user`,
  };
}
