import { checkValue, type OptionRules } from "../../core/check/options.ts";
import {
  aNonEmptyString,
  oneOf,
  required,
  rule,
} from "../../core/check/rules.ts";
import { anEndpoint, anIssuer } from "../oauth/address.ts";
import {
  type IdTokenRules,
  isPublicKeyAlgorithm,
} from "../oauth/authorization_server.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { readOptions } from "./check.ts";
import { idOf, type OAuthProfile, readClaims } from "./oauth_profile.ts";
import {
  aScopeWithOpenID,
  createOAuthProvider,
  OAUTH_OPTIONS,
  type OAuthClientOptions,
  type ProfileMapper,
  type ProfileOption,
  verifiedEmail,
} from "./oauth_provider.ts";

/** How a provider's id tokens are verified. */
export interface IdTokenOptions {
  /** The issuer, exactly as its id tokens have it in `iss`. */
  readonly issuer: string;
  /** The URL of the issuer's public keys: its `jwks_uri`. */
  readonly jwksUrl: string;
  /** The algorithms it may sign with. Default: `["RS256"]`. */
  readonly algorithms?: readonly string[];
}

/** The options of {@linkcode oauth}. */
export interface OAuthOptions<Id extends string = string>
  extends OAuthClientOptions<Id> {
  /** The provider's id in `getOAuthUrl()` and `handleOAuthCallback()`. */
  readonly id: Id;
  /** The provider's name for people. */
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
  /**
   * An endpoint with more claims of the user. Claims of `userInfoUrl` come first,
   * and `email_verified` is left out if it came with another `email`. Without
   * both endpoints, the claims come from the id token. Without id token, the
   * option `profile` is required: it gets an empty object and the tokens.
   */
  readonly profileUrl?: string;
  /**
   * How id tokens are verified. Their claims come before the claims of endpoints,
   * and a sign-in without id token fails. Default: from the issuer's document,
   * with `issuer` and the scope `openid`. Otherwise, id tokens are ignored.
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
  ...OAUTH_OPTIONS,
  issuer: anIssuer,
  profileUrl: anEndpoint,
  idToken: true,
  clientAuthentication: oneOf("body", "basic"),
};
const ID_TOKEN: OptionRules<IdTokenOptions> = {
  issuer: required(aNonEmptyString),
  jwksUrl: required(anEndpoint),
  algorithms: rule(
    'an array of public-key algorithms such as "RS256"',
    (names) =>
      Array.isArray(names) && names.length > 0 &&
      names.every(isPublicKeyAlgorithm),
  ),
};
const OPERATION = "create OAuth provider";

type Claims = Readonly<Record<string, unknown>>;

/**
 * Creates a provider that signs users in with any OAuth 2.0 server.
 *
 * Without `profile`, the user's `id` is the claim `sub` or else `id`. The user
 * also has the claim `name`, and `email` if `email_verified` is `true`. Other
 * claims are ignored. Roles, for example, come only from the application.
 *
 * An OpenID provider only needs `issuer`: its discovery document has the
 * endpoints. While that document is unavailable, `getOAuthUrl()` requests it
 * again, and throws `OAUTH_FAILED` (status 502 with `Retry-After`).
 *
 * @param options The application's id and secret, and the server's URLs.
 * @throws {TypeError} If an option is wrong or missing.
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
 *     name: preferred_username,
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
export function oauth<
  U extends BaseUser,
  const Id extends string = string,
>(
  options: OAuthOptions<Id> & ProfileOption<OAuthProfile, U>,
): AuthProvider<U, Id>;
/** The same without `profile`. */
export function oauth<const Id extends string = string>(
  options: OAuthOptions<Id>,
): AuthProvider<User, Id>;
export function oauth(
  options: OAuthOptions & Partial<ProfileOption<OAuthProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  const settings = readOptions(OPERATION, options, OPTIONS, {
    scope: options?.issuer === undefined ? [] : ["openid", "email", "profile"],
    profile: defaultProfile,
  });
  const { issuer, authorizationUrl, tokenUrl, userInfoUrl } = settings;
  const { profileUrl, scope } = settings;
  const idToken = readIdToken(settings);
  const isComplete = authorizationUrl !== undefined && tokenUrl !== undefined &&
    (idToken !== undefined || !scope.includes("openid"));
  const isDiscovered = issuer !== undefined && !isComplete;
  if (!isDiscovered) {
    checkValue(authorizationUrl, "authorizationUrl", unlessIssuer, OPERATION);
    checkValue(tokenUrl, "tokenUrl", unlessIssuer, OPERATION);
    if (!(userInfoUrl ?? profileUrl ?? options.profile ?? idToken)) {
      throw new TypeError(
        `Cannot ${OPERATION}: userInfoUrl, profileUrl or profile must be given to identify the user, received none`,
      );
    }
  }

  return createOAuthProvider<OAuthProfile>({
    ...settings,
    operation: OPERATION,
    issuer: issuer ?? idToken?.issuers[0],
    isDiscovered,
    idToken,
    async readProfile({ claims, info, get }) {
      const what = "the profile endpoint";
      const more = profileUrl === undefined
        ? {}
        : asObject(what, await get(what, profileUrl));
      return readClaims(merge(more, info, claims));
    },
  });
}

const unlessIssuer = rule(
  `${anEndpoint.expected}, unless issuer is given`,
  anEndpoint.test,
);

function readIdToken(
  { idToken, issuer: expected, scope = [] }: OAuthOptions,
): IdTokenRules | undefined {
  if (idToken === undefined) return undefined;
  const defaults = { algorithms: ["RS256"] };
  const rules = readOptions(OPERATION, idToken, ID_TOKEN, defaults, "idToken");
  const { issuer, jwksUrl, algorithms } = rules;
  if (expected !== undefined) {
    const same = rule("the same as issuer", (value) => value === expected);
    checkValue(issuer, "idToken.issuer", same, OPERATION);
  }
  checkValue(scope, "scope", aScopeWithOpenID, OPERATION);
  return { issuers: [issuer], jwksUrl, algorithms };
}

/**
 * Merges profiles. The last one wins. But `email_verified` belongs to the address
 * that it came with (OpenID Connect Core, section 5.1), so it is left out with
 * another one.
 *
 * @throws {ProviderError} If they are of several users (section 5.3.2).
 */
function merge(...profiles: readonly Claims[]): Claims {
  const subjects = profiles.flatMap(({ sub }) => sub === undefined ? [] : sub);
  if (new Set(subjects).size > 1) {
    throw new ProviderError(
      "the provider's endpoints returned different users",
    );
  }
  const merged: Record<string, unknown> = Object.assign({}, ...profiles);
  const { email_verified: verified, ...rest } = merged;
  const isTold = profiles.some((profile) =>
    profile["email"] === merged["email"] &&
    profile["email_verified"] === verified
  );
  return isTold || verified === false ? merged : rest;
}

const defaultProfile: ProfileMapper<OAuthProfile, User> = (profile) => ({
  id: profile.sub ?? idOf(profile["id"]),
  name: profile.name || undefined,
  email: verifiedEmail(profile),
});
