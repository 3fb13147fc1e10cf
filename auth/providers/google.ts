import type { OptionRules } from "../../core/check/check_options.ts";
import { textOf } from "../oauth/client.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import { createIdTokenVerifier } from "../oauth/id_token.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkNames } from "./check.ts";
import type { OAuthClientOptions } from "./oauth_options.ts";
import {
  checkEndpoint,
  OAUTH_CLIENT_OPTIONS,
  resolveOAuth,
} from "./oauth_options.ts";
import type { ProfileMapper, ProfileOption } from "./oauth_provider.ts";
import { createOAuthProvider } from "./oauth_provider.ts";
import { verifiedEmail } from "./verified_email.ts";

const ISSUER = "https://accounts.google.com";
/** Google's issuer has two spellings in id tokens. */
const ISSUERS = [ISSUER, "accounts.google.com"];
const DOMAIN = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/i;

/** The options of {@linkcode presetIdentity}. */
export interface GoogleOptions extends OAuthClientOptions {
  /** Names the provider in `signIn()`. Default `google`. */
  readonly id?: string;
  /** A name for people to read. Default `Google`. */
  readonly name?: string;
  /**
   * What the user is asked to allow; `openid` is necessary. Default
   * `["openid", "email", "profile"]`.
   */
  readonly scope?: readonly string[];
  /**
   * Lets in only users of this organization, such as `example.com`. It is
   * compared with the claim `hd`, not with the e-mail address.
   */
  readonly hostedDomain?: string;
  /** The issuer of accepted id tokens and callbacks. Default: Google. */
  readonly issuer?: string;
  /** Where the issuer's keys are. Default: where Google's are. */
  readonly jwksUrl?: string;
}

const OPTIONS: OptionRules<GoogleOptions & { readonly profile: unknown }> = {
  ...OAUTH_CLIENT_OPTIONS,
  hostedDomain: true,
  issuer: true,
  jwksUrl: true,
};

/** What Google knows of a user. */
export type GoogleProfile = {
  /** Google's id of the user. Unlike the address, it never changes. */
  id: string;
  /** The user's name. */
  name?: string | undefined;
  /** The user's e-mail address, if Google has verified it. */
  email?: string | undefined;
  /** The address of the user's picture. */
  picture?: string | undefined;
  /** The domain of the organization that the account belongs to. */
  hostedDomain?: string | undefined;
};

/**
 * Makes a provider that signs users in with Google. The id token is verified:
 * signature, issuer, audience, nonce and expiry.
 *
 * The user is what {@linkcode GoogleProfile} has, or what `profile` makes of it.
 *
 * @param options What Google knows the application by.
 * @throws {AuthError} `CONFIG` if an option is wrong.
 *
 * @example
 * ```ts
 * import { google } from "@quartet/kit/auth";
 *
 * const provider = google({
 *   clientId: "1234.apps.googleusercontent.com",
 *   clientSecret: "the secret from Google's console",
 *   hostedDomain: "example.com",
 * });
 *
 * console.assert(provider.id === "google");
 * ```
 */
export function presetIdentity<U extends BaseUser>(
  options: GoogleOptions & ProfileOption<GoogleProfile, U>,
): AuthProvider<U>;
/** The same, where users are what {@linkcode GoogleProfile} has. */
export function presetIdentity(
  options: GoogleOptions,
): AuthProvider<User>;
export function presetIdentity(
  options: GoogleOptions & Partial<ProfileOption<GoogleProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  checkNames("Google", options, OPTIONS);
  const {
    hostedDomain,
    issuer = ISSUER,
    jwksUrl = "https://www.googleapis.com/oauth2/v3/certs",
  } = options;
  const settings = resolveOAuth("Google", options, {
    id: "google",
    name: "Google",
    scope: ["openid", "email", "profile"],
    endpoints: {
      authorizationUrl: "https://accounts.google.com/o/oauth2/v2/auth",
      tokenUrl: "https://oauth2.googleapis.com/token",
      userInfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
    },
    issuer,
    // It spares users a choice; what counts is the claim in the id token.
    parameters: hostedDomain === undefined ? {} : { hd: hostedDomain },
  });
  const { check, client, clientId, scope, transport } = settings;
  const userInfoUrl = settings.userInfoUrl!;
  check(scope.includes("openid"), "scope", 'one with "openid"', scope);
  check(
    hostedDomain === undefined ||
      typeof hostedDomain === "string" && DOMAIN.test(hostedDomain),
    "hostedDomain",
    "a domain name",
    hostedDomain,
  );
  check(
    typeof issuer === "string" && issuer !== "",
    "issuer",
    "a non-empty string",
    issuer,
  );
  checkEndpoint(check, "jwksUrl", jwksUrl);
  const verifyIdToken = createIdTokenVerifier({
    issuers: issuer === ISSUER ? ISSUERS : [issuer],
    jwksUrl,
    algorithms: ["RS256"],
    clientId,
  }, transport);
  const toUser: ProfileMapper<GoogleProfile, BaseUser> = options.profile ??
    ((profile) => profile);

  return createOAuthProvider<GoogleProfile, BaseUser>(
    settings,
    async (tokens, callback) => {
      const claims = await verifyIdToken(tokens.idToken, callback.nonce);
      const { sub } = claims;
      const domain = textOf(claims["hd"]);
      if (
        hostedDomain !== undefined &&
        domain?.toLowerCase() !== hostedDomain.toLowerCase()
      ) {
        callback.onRefused?.(
          "the account does not belong to the organization of hostedDomain",
        );
        return null;
      }
      const what = "the user-info endpoint";
      const info = asObject(what, await client.get(what, userInfoUrl, tokens));
      // OpenID Connect Core, section 5.3.2: otherwise it may be somebody else's.
      if (info["sub"] !== sub) {
        throw new ProviderError(
          `${what} told of another user than the id_token`,
        );
      }
      return {
        id: sub,
        name: textOf(claims["name"]) ?? textOf(info["name"]),
        email: verifiedEmail(claims) ?? verifiedEmail(info),
        picture: textOf(claims["picture"]) ?? textOf(info["picture"]),
        hostedDomain: domain,
      };
    },
    toUser,
  );
}

export { presetIdentity as google };
