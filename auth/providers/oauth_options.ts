import type { OptionRules } from "../../core/check/check_options.ts";
import {
  ENDPOINT,
  isEndpoint,
  isIssuer,
  isRedirectUri,
  ISSUER,
  REDIRECT_URI,
} from "../oauth/address.ts";
import type { ServerSource } from "../oauth/authorization_server.ts";
import { knownServer } from "../oauth/authorization_server.ts";
import type { OAuthClient } from "../oauth/client.ts";
import { createOAuthClient } from "../oauth/client.ts";
import { createDiscovery } from "../oauth/discovery.ts";
import type { Transport } from "../oauth/http.ts";
import type { Check } from "./check.ts";
import { checkName, checkSecret, createCheck, isText } from "./check.ts";

/** How long a provider may take to answer, in milliseconds. */
const TIMEOUT = 10_000;
/** What can be waited for with a timer. */
const MAX_TIMEOUT = 2 ** 31 - 1;
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** What every OAuth provider needs to be told. */
export interface OAuthClientOptions {
  /** The application's id, from the provider's site. */
  readonly clientId: string;
  /** The application's secret, from the provider's site. */
  readonly clientSecret: string;
  /** The one redirect URI that is allowed. Default: whatever is asked for. */
  readonly redirectUri?: string;
  /** What the user is asked to allow. */
  readonly scope?: readonly string[];
  /**
   * Where users are sent to. Its query, such as `?prompt=select_account`, is
   * kept.
   */
  readonly authorizationUrl?: string;
  /** Where codes become tokens. */
  readonly tokenUrl?: string;
  /** Where it is told who the user is. */
  readonly userInfoUrl?: string;
  /** How long each request to the provider may take. Default 10,000 ms. */
  readonly timeout?: number;
  /** Sends the requests, for example by way of a proxy. Default: `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The option names of every OAuth provider, with `profile`. */
export const OAUTH_CLIENT_OPTIONS: OptionRules<
  & OAuthClientOptions
  & { readonly id: string; readonly name: string; readonly profile: unknown }
> = {
  id: true,
  name: true,
  clientId: true,
  clientSecret: true,
  redirectUri: true,
  scope: true,
  authorizationUrl: true,
  tokenUrl: true,
  userInfoUrl: true,
  timeout: true,
  fetch: true,
  profile: true,
};

/** The endpoints that a provider is asked at. */
export type Endpoints = Readonly<
  Record<"authorizationUrl" | "tokenUrl" | "userInfoUrl", string>
>;

/** What a preset adds to its options. */
export interface OAuthDefaults {
  readonly id?: string;
  readonly name?: string;
  readonly scope: readonly string[];
  readonly endpoints: Partial<Endpoints>;
  /** The issuer, if known. */
  readonly issuer?: string | undefined;
  /** Whether missing endpoints come from the issuer's discovery document. */
  readonly isDiscovered?: boolean;
  /** More parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The options of a factory, checked and complete. */
export interface OAuthSettings {
  readonly id: string;
  readonly name: string;
  readonly redirectUri: string | undefined;
  /** The issuer that a callback must have in `iss`, if known. */
  readonly issuer: string | undefined;
  /** The source of the endpoints. */
  readonly server: ServerSource;
  readonly client: OAuthClient;
  readonly clientId: string;
  readonly scope: readonly string[];
  readonly transport: Transport;
  /** The configured method. A discovered one is in `server`. */
  readonly userInfoUrl: string | undefined;
  readonly check: Check;
}

/**
 * Checks the options of a factory.
 *
 * @param label Names the provider in errors.
 * @throws {AuthError} `CONFIG` if one is wrong.
 */
export function resolveOAuth(
  label: string,
  options: OAuthClientOptions & {
    readonly id?: string;
    readonly name?: string;
    readonly clientAuthentication?: "body" | "basic";
  },
  defaults: OAuthDefaults,
): OAuthSettings {
  const check = createCheck(label);
  const {
    id = defaults.id,
    name = defaults.name,
    clientId,
    clientSecret,
    redirectUri,
    scope = defaults.scope,
    authorizationUrl = defaults.endpoints.authorizationUrl,
    tokenUrl = defaults.endpoints.tokenUrl,
    userInfoUrl = defaults.endpoints.userInfoUrl,
    timeout = TIMEOUT,
    // Looked up when it is called: tracing, for one, puts another in its place.
    fetch = (input, init) => globalThis.fetch(input, init),
    clientAuthentication,
  } = options;
  const { issuer, isDiscovered = false } = defaults;
  checkName(check, "id", id);
  checkName(check, "name", name);
  check(isText(clientId), "clientId", "a non-empty string", clientId);
  checkSecret(check, "clientSecret", clientSecret);
  check(
    redirectUri === undefined || isRedirectUri(redirectUri),
    "redirectUri",
    REDIRECT_URI,
    redirectUri,
  );
  checkScope(check, scope);
  const endpoints = { authorizationUrl, tokenUrl, userInfoUrl };
  for (const [name, url] of Object.entries(endpoints)) {
    const mayBeAbsent = isDiscovered || name === "userInfoUrl";
    if (url === undefined && mayBeAbsent) continue;
    // Presets bring their own.
    const expected = url === undefined
      ? `${ENDPOINT}, unless issuer is given`
      : ENDPOINT;
    check(isEndpoint(url), name, expected, url);
  }
  if (isDiscovered) check(isIssuer(issuer), "issuer", ISSUER, issuer);
  check(
    typeof timeout === "number" && timeout > 0 && timeout <= MAX_TIMEOUT,
    "timeout",
    "a positive number of milliseconds",
    timeout,
  );
  check(typeof fetch === "function", "fetch", "a function", fetch);
  check(
    [undefined, "body", "basic"].includes(clientAuthentication),
    "clientAuthentication",
    '"body" or "basic"',
    clientAuthentication,
  );
  const transport = { fetch, timeout };
  const given = { ...endpoints, clientAuthentication };
  const server = isDiscovered
    ? createDiscovery({
      id,
      issuer: issuer!,
      isOpenID: scope.includes("openid"),
      given,
      transport,
    })
    : knownServer({
      authorizationUrl: authorizationUrl!,
      tokenUrl: tokenUrl!,
      userInfoUrl,
      clientAuthentication: clientAuthentication ?? "body",
      isIssuerSent: false,
      jwksUrl: undefined,
      algorithms: [],
    });
  return {
    id,
    name,
    redirectUri,
    issuer,
    server,
    clientId,
    scope,
    transport,
    userInfoUrl,
    check,
    client: createOAuthClient({
      clientId,
      clientSecret,
      server,
      scope,
      parameters: defaults.parameters ?? {},
      transport,
    }),
  };
}

/** Throws unless secrets can be sent there. */
export function checkEndpoint(
  check: Check,
  name: string,
  value: unknown,
): asserts value is string {
  check(isEndpoint(value), name, ENDPOINT, value);
}

function checkScope(check: Check, scope: readonly string[]): void {
  check(Array.isArray(scope), "scope", "an array of strings", scope);
  for (const [i, item] of scope.entries()) {
    const isRight = typeof item === "string" && SCOPE.test(item);
    check(isRight, `scope[${i}]`, "a string without blanks", item);
  }
}
