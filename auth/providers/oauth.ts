import type { OptionRules } from "../../core/check/check_options.ts";
import { textOf } from "../oauth/client.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import type { AuthProvider, OAuthTokens } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkNames, providerError } from "./check.ts";
import type { IdTokenOptions } from "./oauth_id_token.ts";
import { idTokenVerifier } from "./oauth_id_token.ts";
import type { OAuthClientOptions, OAuthDefaults } from "./oauth_options.ts";
import {
  checkEndpoint,
  OAUTH_CLIENT_OPTIONS,
  resolveOAuth,
} from "./oauth_options.ts";
import type { ProfileMapper, ProfileOption } from "./oauth_provider.ts";
import { createOAuthProvider } from "./oauth_provider.ts";
import { verifiedEmail } from "./verified_email.ts";

/** The options of {@linkcode oauth}. */
export interface OAuthOptions extends OAuthClientOptions {
  /** Names the provider in `signIn()`. */
  readonly id: string;
  /** A name for people to read. */
  readonly name: string;
  /**
   * The requested scopes. An OpenID provider needs `openid`. Default:
   * `["openid", "email", "profile"]` with `issuer`, otherwise none.
   */
  readonly scope?: readonly string[];
  /**
   * The issuer, exactly as its discovery document and id tokens have it, such as
   * `https://accounts.example.com`. Omitted endpoints come from that document
   * (OpenID Connect Discovery 1.0, or RFC 8414 without the scope `openid`). It
   * is requested before the app answers its first request, and again every hour.
   * With the scope `openid`, id tokens are verified.
   */
  readonly issuer?: string;
  /** The page that users sign in on. Default: from the issuer's document. */
  readonly authorizationUrl?: string;
  /** The token endpoint. Default: from the issuer's document. */
  readonly tokenUrl?: string;
  /**
   * The endpoint that returns the user's claims (OpenID Connect Core, section
   * 5.3). Default: from the issuer's document, if it has one.
   */
  readonly userInfoUrl?: string;
  /**
   * Where more is told of the user, or all of it if there is no `userInfoUrl`.
   * What both tell is taken from `userInfoUrl`; `email_verified` is left out if
   * it was told with another `email`. With neither of them, the user is what the
   * id token says. Without id token either, `profile` is necessary: it gets an
   * empty object and the tokens.
   */
  readonly profileUrl?: string;
  /**
   * Has the provider's id token verified, and its claims put before those of
   * `userInfoUrl` and `profileUrl`. A sign-in without id token fails then.
   * Default: from the issuer's document, with `issuer` and the scope `openid`.
   * Otherwise, id tokens are ignored.
   */
  readonly idToken?: IdTokenOptions;
  /**
   * How `clientSecret` is sent to `tokenUrl`: in the body of the request, or in
   * an `Authorization` header. Default: from the issuer's document, otherwise
   * `body`.
   */
  readonly clientAuthentication?: "body" | "basic";
}

const OPTIONS: OptionRules<OAuthOptions & { readonly profile: unknown }> = {
  ...OAUTH_CLIENT_OPTIONS,
  issuer: true,
  profileUrl: true,
  idToken: true,
  clientAuthentication: true,
};

/** What a provider tells of a user, as it tells it. */
export type OAuthProfile = Record<string, unknown>;

/**
 * Makes a provider that signs users in with any OAuth 2.0 server.
 *
 * Without `profile`, the user has the `id` that the server tells as `sub` or,
 * without that, as `id`; its `name`; and its `email` if `email_verified` is
 * `true`. Nothing else is taken over: roles are the application's to give.
 *
 * An OpenID provider only needs `issuer`: its discovery document has the
 * endpoints. While that document is unavailable, `getOAuthUrl()` requests it
 * again, and throws `OAUTH_FAILED` (status 502 with `Retry-After`).
 *
 * @param options What the server knows the application by, and where it is.
 * @throws {AuthError} `CONFIG` if an option is wrong or missing.
 *
 * @example
 * ```ts
 * import { oauth } from "@quartet/kit/auth";
 *
 * const provider = oauth({
 *   id: "codeberg",
 *   name: "Codeberg",
 *   clientId: "0f5c1a5e",
 *   clientSecret: "the secret from its settings",
 *   authorizationUrl: "https://codeberg.org/login/oauth/authorize",
 *   tokenUrl: "https://codeberg.org/login/oauth/access_token",
 *   userInfoUrl: "https://codeberg.org/login/oauth/userinfo",
 *   scope: ["openid", "email"],
 *   profile: ({ sub, preferred_username }) => ({
 *     id: `codeberg:${sub}`,
 *     name: String(preferred_username),
 *   }),
 * });
 *
 * console.assert(provider.type === "oauth");
 *
 * const discovered = oauth({
 *   id: "work",
 *   name: "Work",
 *   clientId: "atlas",
 *   clientSecret: "the secret from its settings",
 *   issuer: "https://id.example.com/realms/work",
 * });
 * console.assert(discovered.issuer === "https://id.example.com/realms/work");
 * ```
 */
export function oauth<U extends BaseUser>(
  options: OAuthOptions & ProfileOption<OAuthProfile, U>,
): AuthProvider<U>;
/** The same, where users are what the server tells of them. */
export function oauth(options: OAuthOptions): AuthProvider<User>;
export function oauth(
  options: OAuthOptions & Partial<ProfileOption<OAuthProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  const label = "OAuth";
  checkNames(label, options, OPTIONS);
  const { profileUrl, profile } = options;
  const settings = resolveOAuth(label, options, defaultsOf(options));
  const { check, client, server } = settings;
  if (profileUrl !== undefined) checkEndpoint(check, "profileUrl", profileUrl);
  const verify = idTokenVerifier(settings, options);
  if (
    settings.userInfoUrl === undefined && profileUrl === undefined &&
    profile === undefined && verify === undefined &&
    server.current !== undefined
  ) {
    throw providerError(
      label,
      "userInfoUrl, profileUrl or profile must be given, or nobody tells who the user is",
    );
  }

  async function ask(
    what: string,
    url: string | undefined,
    tokens: OAuthTokens,
  ): Promise<OAuthProfile> {
    if (url === undefined) return {};
    return asObject(what, await client.get(what, url, tokens));
  }

  return createOAuthProvider<OAuthProfile, BaseUser>(
    settings,
    async (tokens, { nonce }) => {
      const claims = await verify?.(tokens.idToken, nonce) ?? {};
      const { userInfoUrl } = await server.load();
      const info = await ask("the user-info endpoint", userInfoUrl, tokens);
      const more = await ask("the profile endpoint", profileUrl, tokens);
      checkSubjects(claims, info, more);
      return merge(more, info, claims);
    },
    profile ?? defaultProfile,
  );
}

/** Returns the defaults, which depend on `issuer`. */
function defaultsOf(options: OAuthOptions): OAuthDefaults {
  const { issuer, idToken, authorizationUrl, tokenUrl } = options;
  if (issuer === undefined) {
    return { scope: [], endpoints: {}, issuer: idToken?.issuer };
  }
  const { scope = ["openid", "email", "profile"] } = options;
  const isAsked = Array.isArray(scope) && scope.includes("openid");
  return {
    scope,
    endpoints: {},
    issuer,
    isDiscovered: authorizationUrl === undefined || tokenUrl === undefined ||
      isAsked && idToken === undefined,
  };
}

/** OpenID Connect Core, section 5.3.2: all must tell of the same user. */
function checkSubjects(...profiles: readonly OAuthProfile[]): void {
  const subjects = profiles.flatMap(({ sub }) => sub === undefined ? [] : sub);
  if (new Set(subjects).size > 1) {
    throw new ProviderError("the provider's endpoints told of several users");
  }
}

/**
 * All that is told; of two, the later one wins. But who says that an address is
 * verified means the one that they tell (OpenID Connect Core, section 5.1): of
 * another's address that says nothing.
 */
function merge(...profiles: readonly OAuthProfile[]): OAuthProfile {
  const merged = profiles.reduce((all, profile) => ({ ...all, ...profile }));
  const { email, email_verified: verified } = merged;
  const isSaid = profiles.some((profile) =>
    profile["email"] === email && profile["email_verified"] === verified
  );
  if (isSaid || verified === false) return merged;
  const { email_verified: _, ...rest } = merged;
  return rest;
}

const defaultProfile: ProfileMapper<OAuthProfile, User> = (profile) => ({
  id: idOf(profile["sub"] ?? profile["id"]),
  name: textOf(profile["name"]),
  email: verifiedEmail(profile),
});

/** A number is an id too, as long as it is exact. */
function idOf(value: unknown): string {
  const id = Number.isSafeInteger(value) ? String(value) : textOf(value);
  if (id !== undefined) return id;
  throw new ProviderError(
    "the provider gave neither sub nor id; say in profile() what the user's id is",
  );
}
