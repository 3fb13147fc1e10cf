/**
 * The core of all OAuth providers. A preset only states its defaults and reads a
 * profile:
 *
 * ```
 * handleCallback ─► tokens ─► id token ─► userInfoUrl ─► readProfile() ─► profile()
 *                             claims      info           preset           application
 * ```
 *
 * @module
 */

import { checkValue, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  aTimeout,
  matching,
  required,
  type Rule,
  rule,
  secret,
  show,
} from "../../core/check/rules.ts";
import { anEndpoint, aRedirectUri } from "../oauth/address.ts";
import type { IdTokenRules } from "../oauth/authorization_server.ts";
import { ProfileFailure } from "../oauth/callback.ts";
import {
  authorizationUrl as urlOf,
  exchangeCode,
  type OAuthClient,
  requestWithToken,
  textOf,
} from "../oauth/client.ts";
import { createDiscovery, knownServer } from "../oauth/discovery.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import { createIdTokenVerifier } from "../oauth/id_token.ts";
import type { AuthProvider, OAuthTokens } from "../provider.ts";
import type { BaseUser } from "../user.ts";

/** The limit of each request to a provider, in seconds. */
const TIMEOUT = 10;
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const aScope = matching("a string without blanks", SCOPE);

/** The options of every OAuth provider. */
export interface OAuthClientOptions<Id extends string = string> {
  /** The provider's id. Default: the preset's, such as `github`. */
  readonly id?: Id;
  /** The provider's name for people. Default: the preset's, such as `GitHub`. */
  readonly name?: string;
  /** The application's id, from the provider's site. */
  readonly clientId: string;
  /** The application's secret, from the provider's site. */
  readonly clientSecret: string;
  /** The only allowed redirect URI. Default: any. */
  readonly redirectUri?: string;
  /** The requested scopes. */
  readonly scope?: readonly string[];
  /**
   * The page that users sign in on. Its query, such as `?prompt=select_account`,
   * is kept. Default for this and the other URLs: the preset's, or from the
   * issuer's discovery document.
   */
  readonly authorizationUrl?: string;
  /** The endpoint that exchanges codes for tokens. */
  readonly tokenUrl?: string;
  /** The endpoint that returns the user (OpenID Connect Core, section 5.3). */
  readonly userInfoUrl?: string;
  /** The limit of each request to the provider, in seconds. Default: 10. */
  readonly timeout?: number;
  /** Sends the requests, for example through a proxy. Default: `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Turns a provider's profile into a user; `null` refuses the user. */
export type ProfileMapper<P, U extends BaseUser> = (
  profile: P,
  tokens: OAuthTokens,
) => U | null | Promise<U | null>;

/** The option that maps a provider's users to the application's. */
export interface ProfileOption<P, U extends BaseUser> {
  /**
   * Finds or creates the application's user. Users of different providers can
   * have the same id, so an application with several providers should set its
   * own ids.
   */
  readonly profile: ProfileMapper<P, U>;
}

/** The scope of an OpenID provider. */
export const aScopeWithOpenID: Rule = rule(
  'one with "openid"',
  (scope) => Array.isArray(scope) && scope.includes("openid"),
);

/** The option rules of every OAuth provider. */
export const OAUTH_OPTIONS: OptionRules<
  OAuthClientOptions & { readonly profile: unknown }
> = {
  id: required(aNonEmptyString),
  name: required(aNonEmptyString),
  clientId: required(aNonEmptyString),
  clientSecret: required(secret(aNonEmptyString)),
  redirectUri: aRedirectUri,
  scope: rule("an array of strings", Array.isArray),
  authorizationUrl: anEndpoint,
  tokenUrl: anEndpoint,
  userInfoUrl: anEndpoint,
  timeout: aTimeout("seconds"),
  fetch: aFunction,
  profile: aFunction,
};

/** The checked options of a provider, and how it differs from others. */
interface OAuthSettings<P>
  extends OAuthClientOptions, ProfileOption<P, BaseUser> {
  /** The operation in error messages, such as `create GitHub provider`. */
  readonly operation: string;
  readonly id: string;
  readonly name: string;
  readonly scope: readonly string[];
  readonly clientAuthentication?: "body" | "basic";
  /** The issuer that a callback must have in `iss`, if known. */
  readonly issuer?: string | undefined;
  /** Whether missing endpoints come from the issuer's discovery document. */
  readonly isDiscovered?: boolean;
  /** How id tokens are verified. Default: by the document, or not at all. */
  readonly idToken?: IdTokenRules | undefined;
  /** Additional parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Reads a profile; `null` refuses the user. */
  readonly readProfile: (source: ProfileSource) => P | null | Promise<P | null>;
}

/** The sources of a profile. */
export interface ProfileSource {
  /** The claims of the verified id token. Empty without one. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The answer of `userInfoUrl`. Empty without one. */
  readonly info: Readonly<Record<string, unknown>>;
  readonly tokens: OAuthTokens;
  /** Requests more from the provider. `what` is the endpoint in errors. */
  readonly get: (what: string, url: string) => Promise<unknown>;
  /** Notes for the log why the user is refused. */
  readonly refuse: (reason: string) => null;
}

/** Creates a provider from checked settings. */
export function createOAuthProvider<P>(
  settings: OAuthSettings<P>,
): AuthProvider<BaseUser> {
  const { id, name, redirectUri, issuer, readProfile, profile } = settings;
  const client = createClient(settings);
  const { server, clientId, transport } = client;
  const verifyIdToken = createIdTokenVerifier(clientId, transport);

  return {
    id,
    name,
    type: "oauth",
    redirectUri,
    issuer,
    get isIssuerRequired() {
      return server.current?.isIssuerSent ?? false;
    },
    async setup() {
      // The error is logged, and the next sign-in tries again.
      await server.load().catch(() => {});
    },
    // Users come from the provider only, never from a request.
    authorize: () => Promise.resolve(null),
    getAuthorizationUrl: (...args) => urlOf(client, ...args),
    async handleCallback({ onRefused, ...callback }) {
      const tokens = await exchangeCode(client, callback);
      const { idToken, userInfoUrl } = await server.load();
      const claims = idToken === undefined
        ? {}
        : await verifyIdToken(idToken, tokens.idToken, callback.nonce);
      const get = (what: string, url: string) =>
        requestWithToken(client, tokens, what, url);
      const what = "the user-info endpoint";
      const info = userInfoUrl === undefined
        ? {}
        : asObject(what, await get(what, userInfoUrl));
      const refuse = (reason: string) => {
        onRefused?.(reason);
        return null;
      };
      const source = { claims, info, tokens, get, refuse };
      const found = await readProfile(source);
      if (found === null) return null;
      const user = await toUser(profile, found, tokens);
      return user ?? refuse("profile() returned null");
    },
  };
}

function createClient<P>(settings: OAuthSettings<P>): OAuthClient {
  const { operation, id, scope, issuer, isDiscovered } = settings;
  const {
    timeout = TIMEOUT,
    // Looked up at each call, because tracing replaces it.
    fetch = (input, init) => globalThis.fetch(input, init),
  } = settings;
  for (const [i, item] of scope.entries()) {
    checkValue(item, `scope[${i}]`, aScope, operation);
  }
  const transport = { fetch, timeout: timeout * 1_000 };
  const isOpenID = scope.includes("openid");
  const server = isDiscovered && issuer !== undefined
    ? createDiscovery({ id, issuer, isOpenID, given: settings, transport })
    : knownServer(settings);
  return { ...settings, server, transport };
}

/** Calls `profile()`, whose failures are the application's. */
async function toUser<P>(
  profile: ProfileMapper<P, BaseUser>,
  found: P,
  tokens: OAuthTokens,
): Promise<BaseUser | null> {
  try {
    const user = await profile(found, tokens);
    const id: unknown = user === null ? "-" : user?.id;
    if (aNonEmptyString.test(id)) return user;
    const received = show(id);
    throw new TypeError(
      `Cannot sign in: profile() must return a user with a non-empty string as id, received ${received}`,
    );
  } catch (cause) {
    throw cause instanceof ProviderError ? cause : new ProfileFailure(cause);
  }
}

/**
 * Returns the e-mail address of OpenID Connect's claims (Core, section 5.1) if
 * it is verified. A provider that doesn't say so may accept any address that its
 * users type in.
 */
export function verifiedEmail(
  claims: Readonly<Record<string, unknown>>,
): string | undefined {
  return claims["email_verified"] === true
    ? textOf(claims["email"])
    : undefined;
}
