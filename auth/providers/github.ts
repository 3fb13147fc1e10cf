import type { OptionRules } from "../../core/check/check_options.ts";
import { trimEnd } from "../../core/trim_end.ts";
import { ENDPOINT, isEndpoint } from "../oauth/address.ts";
import { textOf } from "../oauth/client.ts";
import { asObject, isObject, ProviderError } from "../oauth/http.ts";
import type { AuthProvider, OAuthTokens } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkNames, createCheck } from "./check.ts";
import type { Endpoints, OAuthClientOptions } from "./oauth_options.ts";
import { OAUTH_CLIENT_OPTIONS, resolveOAuth } from "./oauth_options.ts";
import type { ProfileMapper, ProfileOption } from "./oauth_provider.ts";
import { createOAuthProvider } from "./oauth_provider.ts";

/** The options of {@linkcode presetCodeHost}. */
export interface GitHubOptions extends OAuthClientOptions {
  /** Names the provider in `signIn()`. Default `github`. */
  readonly id?: string;
  /** A name for people to read. Default `GitHub`. */
  readonly name?: string;
  /**
   * What the user is asked to allow. Default `["read:user", "user:email"]`.
   * Without `user:email` there is no e-mail address. A GitHub App has its
   * permissions instead, and needs that to read e-mail addresses.
   */
  readonly scope?: readonly string[];
  /**
   * GitHub Enterprise: the address of one's own server, such as
   * `https://github.example.com`, or of one's own part of GitHub's, such as
   * `https://example.ghe.com`.
   */
  readonly enterprise?: { readonly baseUrl: string };
}

const OPTIONS: OptionRules<GitHubOptions & { readonly profile: unknown }> = {
  ...OAUTH_CLIENT_OPTIONS,
  enterprise: true,
};

const ENTERPRISE: OptionRules<NonNullable<GitHubOptions["enterprise"]>> = {
  baseUrl: true,
};

/** What GitHub knows of a user. */
export type GitHubProfile = {
  /** GitHub's number of the user. Unlike the login, it never changes. */
  id: string;
  /** The user's name; the login, if the user has given none. */
  name: string;
  /** The user's primary e-mail address, if it is verified. */
  email?: string | undefined;
  /** The name of the user's account. */
  login: string;
  /** The address of the user's picture. */
  picture?: string | undefined;
};

/**
 * Makes a provider that signs users in with GitHub or GitHub Enterprise.
 *
 * The user is what {@linkcode GitHubProfile} has, or what `profile` makes of it.
 *
 * @param options What GitHub knows the application by.
 * @throws {AuthError} `CONFIG` if an option is wrong.
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
export function presetCodeHost<U extends BaseUser>(
  options: GitHubOptions & ProfileOption<GitHubProfile, U>,
): AuthProvider<U>;
/** The same, where users are what {@linkcode GitHubProfile} has. */
export function presetCodeHost(
  options: GitHubOptions,
): AuthProvider<User>;
export function presetCodeHost(
  options:
    & GitHubOptions
    & Partial<ProfileOption<GitHubProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  checkNames("GitHub", options, OPTIONS);
  checkNames("GitHub", options.enterprise ?? {}, ENTERPRISE, "enterprise");
  const { enterprise, authorizationUrl } = options;
  const isOwn = enterprise === undefined && authorizationUrl === undefined;
  const settings = resolveOAuth("GitHub", options, {
    id: "github",
    name: "GitHub",
    scope: ["read:user", "user:email"],
    endpoints: endpointsOf(enterprise?.baseUrl),
    issuer: isOwn ? "https://github.com/login/oauth" : undefined,
  });
  const { client, scope } = settings;
  const userInfoUrl = settings.userInfoUrl!;
  const toUser: ProfileMapper<GitHubProfile, BaseUser> = options.profile ??
    ((profile) => profile);

  async function findEmail(tokens: OAuthTokens): Promise<string | undefined> {
    // A GitHub App has permissions in place of scopes. Which ones, isn't told.
    const isApp = tokens.scope === "";
    // What was granted may be less than was asked for.
    const granted = tokens.scope?.split(/[\s,]+/) ?? scope;
    const isAllowed = granted.includes("user:email") ||
      granted.includes("user");
    if (!isApp && !isAllowed) return undefined;
    const url = new URL(userInfoUrl);
    url.pathname += "/emails";
    url.searchParams.set("per_page", "100");
    const what = "the endpoint of e-mail addresses";
    let list: unknown;
    try {
      list = await client.get(what, url.href, tokens);
    } catch (error) {
      const { status } = error as Partial<ProviderError>;
      if (isApp && (status === 403 || status === 404)) return undefined;
      throw error;
    }
    if (!Array.isArray(list)) {
      throw new ProviderError(`${what} did not answer with an array`);
    }
    // Of the profile itself it isn't told whether its address is verified.
    const primary = list.find((item) =>
      isObject(item) && item["primary"] === true && item["verified"] === true
    );
    return textOf(primary?.email);
  }

  return createOAuthProvider<GitHubProfile, BaseUser>(
    settings,
    async (tokens) => {
      const what = "the user endpoint";
      const user = asObject(what, await client.get(what, userInfoUrl, tokens));
      const { id } = user;
      const login = textOf(user["login"]);
      if (!Number.isSafeInteger(id) || login === undefined) {
        throw new ProviderError(`${what} gave no id and login`);
      }
      return {
        id: String(id),
        name: textOf(user["name"]) ?? login,
        email: await findEmail(tokens),
        login,
        picture: textOf(user["avatar_url"]),
      };
    },
    toUser,
  );
}

export { presetCodeHost as github };

function endpointsOf(baseUrl: unknown = "https://github.com"): Endpoints {
  const check = createCheck("GitHub");
  const isBase = isEndpoint(baseUrl) && !baseUrl.includes("?");
  check(isBase, "enterprise.baseUrl", `${ENDPOINT}, without query`, baseUrl);
  const base = trimEnd(String(baseUrl), "/");
  return {
    authorizationUrl: `${base}/login/oauth/authorize`,
    tokenUrl: `${base}/login/oauth/access_token`,
    userInfoUrl: `${apiOf(base)}/user`,
  };
}

/** GitHub's own API is on a host of its own, a server's below a path. */
function apiOf(base: string): string {
  const { hostname, protocol } = new URL(base);
  return hostname === "github.com" || hostname.endsWith(".ghe.com")
    ? `${protocol}//api.${hostname}`
    : `${base}/api/v3`;
}
