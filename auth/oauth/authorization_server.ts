/**
 * The server that users are sent to, as the application configures it or as the
 * issuer's discovery document describes it (OpenID Connect Discovery 1.0,
 * section 3; RFC 8414, section 2). The document decides where secrets are sent,
 * so any mistake makes it invalid.
 *
 * @module
 */

import { show } from "../../core/check/rules.ts";
import { isEndpoint, isLoopback } from "./address.ts";
import { ProviderError } from "./http.ts";

/** How id tokens are verified. */
export interface IdTokenRules {
  /** The accepted values of `iss`. */
  readonly issuers: readonly string[];
  /** The URL of the issuer's public keys, if it has any. */
  readonly jwksUrl: string | undefined;
  /** The public-key algorithms that the issuer signs with. */
  readonly algorithms: readonly string[];
}

/** An authorization server. */
export interface AuthorizationServer {
  readonly authorizationUrl: string;
  /** The endpoint that exchanges codes for tokens. */
  readonly tokenUrl: string;
  /** The endpoint that returns the user's claims. */
  readonly userInfoUrl: string | undefined;
  /** How the client's secret is sent (RFC 6749, section 2.3.1). */
  readonly clientAuthentication: "body" | "basic";
  /** Whether it promises to send `iss` with each callback (RFC 9207). */
  readonly isIssuerSent: boolean;
  /** `undefined` if id tokens are ignored. */
  readonly idToken: IdTokenRules | undefined;
}

/** The application's own settings, which override the document. */
export type GivenServer = {
  readonly [K in Exclude<keyof AuthorizationServer, "isIssuerSent">]?:
    | AuthorizationServer[K]
    | undefined;
};

/** With HMAC algorithms, an attacker could use a public key as the secret. */
const PUBLIC_KEY_ALGORITHM = /^(RS|PS|ES)\d{3}$|^EdDSA$/;

/** Whether an algorithm signs with a private key. */
export function isPublicKeyAlgorithm(name: unknown): name is string {
  return typeof name === "string" && PUBLIC_KEY_ALGORITHM.test(name);
}

/**
 * Reads a discovery document.
 *
 * @param issuer The issuer that the document was requested from.
 * @param isOpenID Whether the issuer's id tokens are verified.
 * @throws {ProviderError} If the document names another issuer, an endpoint is
 * missing, or an endpoint isn't safe to send secrets to.
 */
export function readMetadata(
  document: Readonly<Record<string, unknown>>,
  issuer: string,
  isOpenID: boolean,
  given: GivenServer,
): AuthorizationServer {
  // Discovery, section 4.3 requires an exact match.
  const { issuer: named } = document;
  if (named !== issuer) {
    throw unusable(
      typeof named === "string"
        ? `it names the issuer ${show(named)}; set issuer to exactly that`
        : `it must name an issuer, received ${show(named)}`,
    );
  }
  const endpoint = (name: string): string | undefined => {
    const url = document[name] ?? undefined;
    if (url === undefined) return undefined;
    if (isEndpoint(url) && (isLoopback(issuer) || !isLoopback(url))) return url;
    const received = show(url);
    throw unusable(
      `${name} must be an https URL, or on this machine if the issuer is, received ${received}`,
    );
  };
  const needed = (name: string): string => {
    const url = endpoint(name);
    if (url === undefined) throw unusable(`${name} must be given`);
    return url;
  };
  const found: IdTokenRules = {
    issuers: [issuer],
    jwksUrl: endpoint("jwks_uri"),
    algorithms: algorithmsOf(document["id_token_signing_alg_values_supported"]),
  };
  return {
    authorizationUrl: given.authorizationUrl ??
      needed("authorization_endpoint"),
    tokenUrl: given.tokenUrl ?? needed("token_endpoint"),
    userInfoUrl: given.userInfoUrl ?? endpoint("userinfo_endpoint"),
    clientAuthentication: given.clientAuthentication ??
      authenticationOf(document["token_endpoint_auth_methods_supported"]),
    isIssuerSent:
      document["authorization_response_iss_parameter_supported"] === true,
    idToken: given.idToken ?? (isOpenID ? found : undefined),
  };
}

/** RFC 8414, section 2: HTTP Basic is the default without a list. */
function authenticationOf(methods: unknown): "body" | "basic" {
  if (!Array.isArray(methods)) return "basic";
  const isBasic = methods.includes("client_secret_basic") &&
    !methods.includes("client_secret_post");
  return isBasic ? "basic" : "body";
}

function algorithmsOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.filter(isPublicKeyAlgorithm) : ["RS256"];
}

function unusable(problem: string): ProviderError {
  return new ProviderError(`the discovery document can't be used: ${problem}`);
}
