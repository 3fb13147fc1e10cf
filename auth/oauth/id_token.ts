import { runOutside } from "../../core/request_scope.ts";
import { ProviderError, requestJSON, type Transport } from "./http.ts";
import type { IdTokenRules } from "./authorization_server.ts";

/**
 * Returns the claims of an id token, among them `sub`.
 *
 * @throws {ProviderError} If the token isn't valid for this sign-in.
 */
type VerifyIdToken = (
  rules: IdTokenRules,
  idToken: string | undefined,
  nonce: string | undefined,
) => Promise<Record<string, unknown>>;

/**
 * Creates a verifier of id tokens (OpenID Connect Core, section 3.1.3.7).
 *
 * The issuer's keys are kept for 10 minutes. A token that is signed with an
 * unknown key has them requested again, at most once in 30 seconds.
 *
 * @param clientId The only accepted audience.
 */
export function createIdTokenVerifier(
  clientId: string,
  transport: Transport,
): VerifyIdToken {
  let keySet: { url: string; getKey: GetKey } | undefined;

  return async ({ issuers, jwksUrl, algorithms }, idToken, nonce) => {
    if (jwksUrl === undefined || algorithms.length === 0) {
      throw new ProviderError(
        "the discovery document has no jwks_uri, or no algorithm with public keys",
      );
    }
    if (idToken === undefined) {
      throw new ProviderError("the token endpoint returned no id_token");
    }
    // Loaded when first used: importing jose takes 5 ms of a cold start.
    const [{ jwtVerify }, jwks] = await runOutside(() =>
      Promise.all([import("jose/jwt/verify"), import("jose/jwks/remote")])
    );
    if (keySet?.url !== jwksUrl) {
      keySet = { url: jwksUrl, getKey: remoteKeys(jwks, jwksUrl, transport) };
    }
    const payload = await jwtVerify(idToken, keySet.getKey, {
      issuer: [...issuers],
      audience: clientId,
      algorithms: [...algorithms],
      // Seconds that the issuer's clock may differ.
      clockTolerance: 30,
      requiredClaims: ["sub", "exp", "iat"],
    }).then(({ payload }): Record<string, unknown> => payload, unverifiable);
    const { sub, aud, azp } = payload;
    if (typeof sub !== "string" || sub === "") throw bad("sub");
    // Rules 3 to 5: no other audience is trusted, and none may have asked.
    if (Array.isArray(aud) && aud.length !== 1) throw bad("aud");
    if (azp !== undefined && azp !== clientId) throw bad("azp");
    // Rule 11. Without a nonce that was sent, there must be none.
    if (payload["nonce"] !== nonce) throw bad("nonce");
    return payload;
  };
}

type RemoteJWKS = typeof import("jose/jwks/remote");
type GetKey = ReturnType<RemoteJWKS["createRemoteJWKSet"]>;

function remoteKeys(
  jwks: RemoteJWKS,
  url: string,
  transport: Transport,
): GetKey {
  const what = "the endpoint of the issuer's keys";
  return jwks.createRemoteJWKSet(new URL(url), {
    // jose's signal is ignored, because requestJSON() sets its own limits.
    [jwks.customFetch]: async (url, { headers }) =>
      Response.json(await requestJSON(what, url, { headers }, [], transport)),
  });
}

function unverifiable(error: unknown): never {
  if (error instanceof ProviderError) throw error;
  // Only the message: the error itself holds the claims.
  throw new ProviderError(
    `the id_token can't be verified: ${(error as Error).message}`,
  );
}

function bad(claim: string): ProviderError {
  return new ProviderError(`the id_token is not for this sign-in: ${claim}`);
}
