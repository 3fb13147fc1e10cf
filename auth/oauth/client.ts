import { Buffer } from "node:buffer";
import type {
  AuthorizationParameters,
  OAuthCallback,
  OAuthTokens,
} from "../provider.ts";
import { AuthError } from "../error.ts";
import type { ServerSource } from "./authorization_server.ts";
import type { Transport } from "./http.ts";
import { asObject, ProviderError, requestJSON } from "./http.ts";

/** Sent with each request, since GitHub refuses those without. */
const USER_AGENT = "@quartet/kit";
/** What can stand in a header, as a bearer token does. */
const VISIBLE = /^[\x21-\x7e]+$/;

/** What an application is to a provider, checked and complete. */
export interface ClientSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The source of the endpoints. */
  readonly server: ServerSource;
  readonly scope: readonly string[];
  /** More parameters of the authorization URL. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly transport: Transport;
}

/** An application's side of OAuth 2.0's authorization code grant. */
export interface OAuthClient {
  /**
   * Returns the URL to send the user to (RFC 6749, section 4.1.1).
   *
   * @throws {AuthError} `OAUTH_FAILED` if it isn't known yet.
   */
  authorizationUrl(
    state: string,
    redirectUri: string,
    parameters?: AuthorizationParameters,
  ): string;
  /** Makes tokens of the code (section 4.1.3). */
  exchangeCode(callback: OAuthCallback): Promise<OAuthTokens>;
  /** Requests what the user has allowed the application to know. */
  get(what: string, url: string, tokens: OAuthTokens): Promise<unknown>;
}

/** Makes the {@linkcode OAuthClient} of a provider. */
export function createOAuthClient(settings: ClientSettings): OAuthClient {
  const { clientId, clientSecret, server, transport } = settings;

  return {
    authorizationUrl(state, redirectUri, parameters) {
      server.renew();
      const { current } = server;
      if (current === undefined) throw notYet();
      // What the URL has of its own stays (section 3.1).
      const url = new URL(current.authorizationUrl);
      const { searchParams } = url;
      for (const [name, value] of Object.entries(settings.parameters)) {
        searchParams.set(name, value);
      }
      searchParams.set("response_type", "code");
      searchParams.set("client_id", clientId);
      searchParams.set("redirect_uri", redirectUri);
      if (settings.scope.length > 0) {
        searchParams.set("scope", settings.scope.join(" "));
      }
      searchParams.set("state", state);
      if (parameters !== undefined) {
        searchParams.set("code_challenge", parameters.codeChallenge);
        searchParams.set("code_challenge_method", "S256");
        if (settings.scope.includes("openid")) {
          searchParams.set("nonce", parameters.nonce);
        }
      }
      return url.href;
    },
    async exchangeCode({ code, redirectUri, codeVerifier }) {
      const { tokenUrl, clientAuthentication } = await server.load();
      const body = new URLSearchParams({
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUri,
      });
      if (codeVerifier !== undefined) body.set("code_verifier", codeVerifier);
      const headers = new Headers({
        "accept": "application/json",
        "user-agent": USER_AGENT,
      });
      const secrets = [code, clientSecret];
      if (codeVerifier !== undefined) secrets.push(codeVerifier);
      if (clientAuthentication === "basic") {
        const pair = basic(clientId, clientSecret);
        headers.set("authorization", `Basic ${pair}`);
        secrets.push(pair);
      } else {
        body.set("client_id", clientId);
        body.set("client_secret", clientSecret);
      }
      const what = "the token endpoint";
      const answer = await requestJSON(
        what,
        tokenUrl,
        { method: "POST", headers, body },
        secrets,
        transport,
      );
      return readTokens(asObject(what, answer));
    },
    get(what, url, { accessToken }) {
      const headers = {
        "accept": "application/json",
        "authorization": `Bearer ${accessToken}`,
        "user-agent": USER_AGENT,
      };
      return requestJSON(what, url, { headers }, [accessToken], transport);
    },
  };
}

/** Creates the error for an unknown server. Discovery has logged the reason. */
function notYet(): AuthError {
  return new AuthError(
    "OAUTH_FAILED",
    "The sign-in provider can't be reached at this time; please try again",
    { retryAfter: 1 },
  );
}

/** Section 2.3.1: both halves are encoded like a form's fields first. */
function basic(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams([["", text]]).toString();
  const pair = `${encode(clientId).slice(1)}:${encode(clientSecret).slice(1)}`;
  return Buffer.from(pair).toString("base64");
}

/** Section 5.1. */
function readTokens(answer: Record<string, unknown>): OAuthTokens {
  const accessToken = answer["access_token"];
  // Elsewhere it would be in the message of what fails by it.
  if (typeof accessToken !== "string" || !VISIBLE.test(accessToken)) {
    throw new ProviderError("the token endpoint gave no usable access_token");
  }
  const tokenType = answer["token_type"] ?? "Bearer";
  if (String(tokenType).toLowerCase() !== "bearer") {
    throw new ProviderError(
      "the token endpoint gave an access_token that is no bearer token",
    );
  }
  const expiresIn = Number(answer["expires_in"] ?? NaN);
  return {
    accessToken,
    tokenType: "Bearer",
    expiresIn: expiresIn >= 0 ? expiresIn : undefined,
    refreshToken: textOf(answer["refresh_token"]),
    // Empty where there are no scopes, as with the tokens of GitHub Apps.
    scope: typeof answer["scope"] === "string" ? answer["scope"] : undefined,
    idToken: textOf(answer["id_token"]),
  };
}

/** A text that says something, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
