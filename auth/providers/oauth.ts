import { textOf } from "../oauth/client.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import type { VerifyIdToken } from "../oauth/id_token.ts";
import { createIdTokenVerifier } from "../oauth/id_token.ts";
import type { AuthProvider, OAuthTokens } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { providerError } from "./check.ts";
import type { OAuthClientOptions, OAuthSettings } from "./oauth_options.ts";
import { checkEndpoint, resolveOAuth } from "./oauth_options.ts";
import type { ProfileMapper, ProfileOption } from "./oauth_provider.ts";
import { createOAuthProvider } from "./oauth_provider.ts";
import { verifiedEmail } from "./verified_email.ts";

/** How a provider's id tokens are verified. */
export interface IdTokenOptions {
  /** The issuer, exactly as its id tokens have it in `iss`. */
  readonly issuer: string;
  /** Where the issuer's public keys are: its `jwks_uri`. */
  readonly jwksUrl: string;
  /** The algorithms it may sign with. Default `["RS256"]`. */
  readonly algorithms?: readonly string[];
}

/** The options of {@linkcode oauth}. */
export interface OAuthOptions extends OAuthClientOptions {
  /** Names the provider in `signIn()`. */
  readonly id: string;
  /** A name for people to read. */
  readonly name: string;
  /**
   * What the user is asked to allow. Default: none, and the provider decides.
   * Who speaks OpenID Connect needs `openid`.
   */
  readonly scope?: readonly string[];
  /** Where users are sent to. */
  readonly authorizationUrl: string;
  /** Where codes become tokens. */
  readonly tokenUrl: string;
  /** Where it is told who the user is (OpenID Connect Core, section 5.3). */
  readonly userInfoUrl?: string;
  /**
   * Where more is told of the user, or all of it if there is no `userInfoUrl`.
   * What both tell is taken from `userInfoUrl`; `email_verified` is left out if
   * it was told with another `email`. With neither of them `profile` is
   * necessary, and gets what is in the id token, if anything.
   */
  readonly profileUrl?: string;
  /**
   * Has the provider's id token verified, and its claims put before those of
   * `userInfoUrl` and `profileUrl`. A sign-in without id token fails then.
   * Default: id tokens are not looked at.
   */
  readonly idToken?: IdTokenOptions;
  /**
   * How `clientSecret` is sent to `tokenUrl`: in the body of the request, or in
   * an `Authorization` header. Default `body`.
   */
  readonly clientAuthentication?: "body" | "basic";
}

/** What a provider tells of a user, as it tells it. */
export type OAuthProfile = Record<string, unknown>;

/**
 * Makes a provider that signs users in with any OAuth 2.0 server.
 *
 * Without `profile`, the user has the `id` that the server tells as `sub` or,
 * without that, as `id`; its `name`; and its `email` if `email_verified` is
 * `true`. Nothing else is taken over: roles are the application's to give.
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
  const { profileUrl, profile } = options;
  const label = "OAuth";
  const settings = resolveOAuth(label, options, {
    scope: [],
    endpoints: {},
    issuer: options.idToken?.issuer,
  });
  const { check, client, userInfoUrl } = settings;
  if (profileUrl !== undefined) checkEndpoint(check, "profileUrl", profileUrl);
  if (
    userInfoUrl === undefined && profileUrl === undefined &&
    profile === undefined
  ) {
    throw providerError(
      label,
      "userInfoUrl, profileUrl or profile must be given, or nobody tells who the user is",
    );
  }
  const verify = idTokenVerifier(settings, options.idToken);

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
      const info = await ask("the user-info endpoint", userInfoUrl, tokens);
      const more = await ask("the profile endpoint", profileUrl, tokens);
      checkSubjects(claims, info, more);
      return merge(more, info, claims);
    },
    profile ?? defaultProfile,
  );
}

function idTokenVerifier(
  settings: OAuthSettings,
  options: IdTokenOptions | undefined,
): VerifyIdToken | undefined {
  if (options === undefined) return undefined;
  const { check, clientId, scope, transport } = settings;
  const { issuer, jwksUrl, algorithms = ["RS256"] } = options;
  check(
    typeof issuer === "string" && issuer !== "",
    "idToken.issuer",
    "a non-empty string",
    issuer,
  );
  checkEndpoint(check, "idToken.jwksUrl", jwksUrl);
  // With those of a shared secret, the public key would be taken for one.
  check(
    Array.isArray(algorithms) && algorithms.length > 0 &&
      algorithms.every((name) => /^(RS|PS|ES)\d{3}$|^EdDSA$/.test(name)),
    "idToken.algorithms",
    'an array of public-key algorithms such as "RS256"',
    algorithms,
  );
  check(scope.includes("openid"), "scope", 'one with "openid"', scope);
  return createIdTokenVerifier(
    { issuers: [issuer], jwksUrl, algorithms, clientId },
    transport,
  );
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
