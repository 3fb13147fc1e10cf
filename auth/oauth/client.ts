/**
 * An application's side of OAuth 2.0's authorization code grant (RFC 6749,
 * section 4.1).
 *
 * @module
 */

import { encodeBase64 } from "../../core/bytes/base64.ts";
import { AuthError } from "../error.ts";
import type {
  AuthorizationParameters,
  OAuthCallback,
  OAuthTokens,
} from "../provider.ts";
import type { ServerSource } from "./discovery.ts";
import {
  asObject,
  ProviderError,
  requestJSON,
  type Transport,
} from "./http.ts";

/** GitHub refuses requests without `User-Agent`. */
const HEADERS = { "accept": "application/json", "user-agent": "@quartet/kit" };
/** The characters that a header value can have. */
const VISIBLE = /^[\x21-\x7e]+$/;

/** An application that is registered at a provider. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly server: ServerSource;
  readonly scope: readonly string[];
  /** Additional parameters of the authorization URL. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly transport: Transport;
}

/**
 * Returns the URL to send the user to (section 4.1.1).
 *
 * @throws {AuthError} `OAUTH_FAILED` if the server isn't known yet.
 */
export function authorizationUrl(
  { clientId, server, scope, parameters }: OAuthClient,
  state: string,
  redirectUri: string,
  signIn?: AuthorizationParameters,
): string {
  server.renew();
  if (server.current === undefined) {
    // Discovery has logged the reason.
    throw new AuthError(
      "OAUTH_FAILED",
      "The sign-in provider can't be reached at this time; please try again",
      { retryAfter: 1 },
    );
  }
  // The URL's own query stays (section 3.1).
  const url = new URL(server.current.authorizationUrl);
  const query: Record<string, string | undefined> = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scope.length > 0 ? scope.join(" ") : undefined,
    state,
    code_challenge: signIn?.codeChallenge,
    code_challenge_method: signIn && "S256",
    nonce: scope.includes("openid") ? signIn?.nonce : undefined,
  };
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** Exchanges a code for tokens (section 4.1.3). */
export async function exchangeCode(
  { clientId, clientSecret, server, transport }: OAuthClient,
  { code, redirectUri, codeVerifier }: OAuthCallback,
): Promise<OAuthTokens> {
  const { tokenUrl, clientAuthentication } = await server.load();
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
  });
  const headers = new Headers(HEADERS);
  const secrets = [code, clientSecret];
  if (codeVerifier !== undefined) {
    body.set("code_verifier", codeVerifier);
    secrets.push(codeVerifier);
  }
  if (clientAuthentication === "basic") {
    const pair = basicCredentials(clientId, clientSecret);
    headers.set("authorization", `Basic ${pair}`);
    secrets.push(pair);
  } else {
    body.set("client_id", clientId);
    body.set("client_secret", clientSecret);
  }
  const what = "the token endpoint";
  const init = { method: "POST", headers, body };
  const answer = await requestJSON(what, tokenUrl, init, secrets, transport);
  return readTokens(asObject(what, answer));
}

/**
 * Requests what the user has allowed the application to know.
 *
 * @param what The endpoint in errors, such as `the user endpoint`.
 */
export function requestWithToken(
  { transport }: OAuthClient,
  { accessToken }: OAuthTokens,
  what: string,
  url: string,
): Promise<unknown> {
  const headers = { ...HEADERS, authorization: `Bearer ${accessToken}` };
  return requestJSON(what, url, { headers }, [accessToken], transport);
}

/** Section 2.3.1: both halves are encoded as form fields first. */
function basicCredentials(clientId: string, clientSecret: string): string {
  const encode = (text: string) =>
    new URLSearchParams([["", text]]).toString().slice(1);
  const pair = `${encode(clientId)}:${encode(clientSecret)}`;
  return encodeBase64(new TextEncoder().encode(pair));
}

/** Section 5.1. */
function readTokens(answer: Record<string, unknown>): OAuthTokens {
  const { access_token: accessToken, token_type: type, scope } = answer;
  // A header with other characters would fail with the token in the message.
  if (typeof accessToken !== "string" || !VISIBLE.test(accessToken)) {
    throw new ProviderError(
      "the token endpoint returned no usable access_token",
    );
  }
  if (String(type ?? "Bearer").toLowerCase() !== "bearer") {
    throw new ProviderError(
      "the token endpoint returned an access_token that isn't a bearer token",
    );
  }
  const expiresIn = Number(answer["expires_in"] ?? NaN);
  return {
    accessToken,
    tokenType: "Bearer",
    expiresIn: expiresIn >= 0 ? expiresIn : undefined,
    refreshToken: textOf(answer["refresh_token"]),
    // Tokens of GitHub Apps have an empty scope.
    scope: typeof scope === "string" ? scope : undefined,
    idToken: textOf(answer["id_token"]),
  };
}

/** Returns a non-empty string as it is, and `undefined` for other values. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
