import type { OptionRules } from "../../core/check/check_options.ts";
import { isIssuer, ISSUER } from "../oauth/address.ts";
import { ProviderError } from "../oauth/http.ts";
import type { IdTokenRules, VerifyIdToken } from "../oauth/id_token.ts";
import { createIdTokenVerifier } from "../oauth/id_token.ts";
import { isPublicKeyAlgorithm } from "../oauth/server_metadata.ts";
import { checkNames } from "./check.ts";
import type { OAuthSettings } from "./oauth_options.ts";
import { checkEndpoint } from "./oauth_options.ts";

/** How a provider's id tokens are verified. */
export interface IdTokenOptions {
  /** The issuer, exactly as its id tokens have it in `iss`. */
  readonly issuer: string;
  /** The URL of the issuer's public keys: its `jwks_uri`. */
  readonly jwksUrl: string;
  /** The algorithms it may sign with. Default `["RS256"]`. */
  readonly algorithms?: readonly string[];
}

const ID_TOKEN: OptionRules<IdTokenOptions> = {
  issuer: true,
  jwksUrl: true,
  algorithms: true,
};

/**
 * Creates the verifier of a provider's id tokens.
 *
 * @returns The verifier, or `undefined` if id tokens aren't verified.
 * @throws {AuthError} `CONFIG` if an option is wrong.
 */
export function idTokenVerifier(
  settings: OAuthSettings,
  { issuer, idToken }: {
    readonly issuer?: string;
    readonly idToken?: IdTokenOptions;
  },
): VerifyIdToken | undefined {
  const { check, scope } = settings;
  check(issuer === undefined || isIssuer(issuer), "issuer", ISSUER, issuer);
  if (idToken === undefined) {
    return issuer !== undefined && scope.includes("openid")
      ? discoveredVerifier(settings, issuer)
      : undefined;
  }
  checkNames("OAuth", idToken, ID_TOKEN, "idToken");
  return givenVerifier(settings, issuer, idToken);
}

function givenVerifier(
  { check, clientId, scope, transport }: OAuthSettings,
  expected: string | undefined,
  { issuer, jwksUrl, algorithms = ["RS256"] }: IdTokenOptions,
): VerifyIdToken {
  check(
    typeof issuer === "string" && issuer !== "",
    "idToken.issuer",
    "a non-empty string",
    issuer,
  );
  check(
    expected === undefined || issuer === expected,
    "idToken.issuer",
    "the same as issuer",
    issuer,
  );
  checkEndpoint(check, "idToken.jwksUrl", jwksUrl);
  check(
    Array.isArray(algorithms) && algorithms.length > 0 &&
      algorithms.every(isPublicKeyAlgorithm),
    "idToken.algorithms",
    'an array of public-key algorithms such as "RS256"',
    algorithms,
  );
  check(scope.includes("openid"), "scope", 'one with "openid"', scope);
  const rules = { issuers: [issuer], jwksUrl, algorithms, clientId };
  return createIdTokenVerifier(rules, transport);
}

/** Creates a verifier from the discovery document. */
function discoveredVerifier(
  { clientId, server, transport }: OAuthSettings,
  issuer: string,
): VerifyIdToken {
  let verify: VerifyIdToken | undefined;
  let known = "";
  return async (idToken, nonce) => {
    const { jwksUrl, algorithms } = await server.load();
    if (jwksUrl === undefined || algorithms.length === 0) {
      throw new ProviderError(
        "the discovery document has no jwks_uri, or no algorithm with public keys",
      );
    }
    // Keys stay cached until the document changes their URL or algorithms.
    const key = JSON.stringify([jwksUrl, algorithms]);
    if (verify === undefined || key !== known) {
      const rules: IdTokenRules = {
        issuers: [issuer],
        jwksUrl,
        algorithms,
        clientId,
      };
      verify = createIdTokenVerifier(rules, transport);
      known = key;
    }
    return await verify(idToken, nonce);
  };
}
