/**
 * Reads an issuer's discovery document (OpenID Connect Discovery 1.0, section 3;
 * RFC 8414, section 2). It decides where secrets are sent, so any mistake makes
 * it invalid.
 *
 * @module
 */

import { show } from "../../core/check/show.ts";
import { isEndpoint, isLoopback } from "./address.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { ProviderError } from "./http.ts";

/** The application's own settings, which override the document. */
export interface GivenServer {
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly userInfoUrl?: string | undefined;
  readonly clientAuthentication?: "body" | "basic" | undefined;
}

/** With HMAC algorithms, an attacker could use a public key as the secret. */
const PUBLIC_KEY_ALGORITHM = /^(RS|PS|ES)\d{3}$|^EdDSA$/;

/** Whether an algorithm signs with a private key. */
export function isPublicKeyAlgorithm(name: unknown): name is string {
  return typeof name === "string" && PUBLIC_KEY_ALGORITHM.test(name);
}

/**
 * Reads a document.
 *
 * @param issuer The issuer that the document was requested from.
 * @throws {ProviderError} If the document names another issuer, an endpoint is
 * missing, or an endpoint isn't safe to send secrets to.
 */
export function readMetadata(
  document: Readonly<Record<string, unknown>>,
  issuer: string,
  given: GivenServer,
): AuthorizationServer {
  // Discovery, section 4.3 requires an exact match.
  if (document["issuer"] !== issuer) {
    throw unusable(
      `issuer must be ${show(issuer)}, received ${show(document["issuer"])}`,
    );
  }
  const endpoint = (name: string): string | undefined => {
    const url = document[name];
    if (url === undefined || url === null) return undefined;
    if (!isEndpoint(url) || isLoopback(url) && !isLoopback(issuer)) {
      throw unusable(
        `${name} must be an https URL, or on this machine if the issuer is, received ${
          show(url)
        }`,
      );
    }
    return url;
  };
  const needed = (name: string): string => {
    const url = endpoint(name);
    if (url === undefined) throw unusable(`${name} must be given`);
    return url;
  };
  return {
    authorizationUrl: given.authorizationUrl ??
      needed("authorization_endpoint"),
    tokenUrl: given.tokenUrl ?? needed("token_endpoint"),
    userInfoUrl: given.userInfoUrl ?? endpoint("userinfo_endpoint"),
    jwksUrl: endpoint("jwks_uri"),
    clientAuthentication: given.clientAuthentication ??
      authenticationOf(document["token_endpoint_auth_methods_supported"]),
    isIssuerSent:
      document["authorization_response_iss_parameter_supported"] === true,
    algorithms: algorithmsOf(document["id_token_signing_alg_values_supported"]),
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
