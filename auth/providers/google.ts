import type { OptionRules } from "../../core/check/options.ts";
import { aNonEmptyString, matching } from "../../core/check/rules.ts";
import { anEndpoint } from "../oauth/address.ts";
import { textOf } from "../oauth/client.ts";
import { ProviderError } from "../oauth/http.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { readOptions } from "./check.ts";
import {
  aScopeWithOpenID,
  createOAuthProvider,
  OAUTH_OPTIONS,
  type OAuthClientOptions,
  type ProfileOption,
  verifiedEmail,
} from "./oauth_provider.ts";

const ISSUER = "https://accounts.google.com";
/** Google's issuer has two spellings in id tokens. */
const ISSUERS = [ISSUER, "accounts.google.com"];
const DOMAIN = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/i;

/** The options of {@linkcode presetIdentity}. */
export interface GoogleOptions<Id extends string = string>
  extends OAuthClientOptions<Id> {
  /**
   * The requested scopes. `openid` is required. Default:
   * `["openid", "email", "profile"]`.
   */
  readonly scope?: readonly string[];
  /**
   * The only organization whose users can sign in, such as
   * `example.com`. It is compared with the claim `hd`, not with the e-mail
   * address. Default: everybody can.
   */
  readonly hostedDomain?: string;
  /** The issuer of accepted id tokens and callbacks. Default: Google. */
  readonly issuer?: string;
  /** The URL of the issuer's public keys. Default: Google's. */
  readonly jwksUrl?: string;
}

const OPTIONS: OptionRules<GoogleOptions & { readonly profile: unknown }> = {
  ...OAUTH_OPTIONS,
  scope: aScopeWithOpenID,
  hostedDomain: matching("a domain name", DOMAIN),
  issuer: aNonEmptyString,
  jwksUrl: anEndpoint,
};
const OPERATION = "create Google provider";
const DEFAULTS = {
  id: "google",
  name: "Google",
  scope: ["openid", "email", "profile"],
  authorizationUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  userInfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
  issuer: ISSUER,
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
  profile: (profile: GoogleProfile): BaseUser => profile,
};

/** A user of Google. */
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
 * Creates a provider that signs users in with Google. The id token is verified:
 * signature, issuer, audience, nonce and expiry.
 *
 * The user has the fields of {@linkcode GoogleProfile}, or is what `profile`
 * returns.
 *
 * @param options The application's id and secret at Google, and more.
 * @throws {TypeError} If an option is wrong.
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
export function presetIdentity<
  U extends BaseUser,
  const Id extends string = "google",
>(
  options: GoogleOptions<Id> & ProfileOption<GoogleProfile, U>,
): AuthProvider<U, Id>;
/** The same without `profile`. */
export function presetIdentity<const Id extends string = "google">(
  options: GoogleOptions<Id>,
): AuthProvider<User, Id>;
export function presetIdentity(
  options: GoogleOptions & Partial<ProfileOption<GoogleProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  const settings = readOptions(OPERATION, options, OPTIONS, DEFAULTS);
  const { hostedDomain, issuer, jwksUrl } = settings;

  return createOAuthProvider<GoogleProfile>({
    ...settings,
    operation: OPERATION,
    idToken: {
      issuers: issuer === ISSUER ? ISSUERS : [issuer],
      jwksUrl,
      algorithms: ["RS256"],
    },
    // Google then offers only these accounts. The claim in the id token decides.
    ...(hostedDomain === undefined ? {} : { parameters: { hd: hostedDomain } }),
    readProfile({ claims, info, refuse }) {
      // OpenID Connect Core, section 5.3.2: it may be another user's otherwise.
      if (info["sub"] !== claims["sub"]) {
        throw new ProviderError(
          "the user-info endpoint returned another user than the id_token",
        );
      }
      const domain = textOf(claims["hd"]);
      if (
        hostedDomain !== undefined &&
        domain?.toLowerCase() !== hostedDomain.toLowerCase()
      ) {
        return refuse(
          "the account does not belong to the organization of hostedDomain",
        );
      }
      return {
        id: claims["sub"] as string,
        name: textOf(claims["name"]) ?? textOf(info["name"]),
        email: verifiedEmail(claims) ?? verifiedEmail(info),
        picture: textOf(claims["picture"]) ?? textOf(info["picture"]),
        hostedDomain: domain,
      };
    },
  });
}

export { presetIdentity as google };
