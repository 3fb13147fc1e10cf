import { createRemoteJWKSet, customFetch } from "jose/jwks/remote";
import { jwtVerify } from "jose/jwt/verify";
import type { Transport } from "./http.ts";
import { ProviderError, requestJSON } from "./http.ts";

/** Whose id tokens are believed. */
export interface IdTokenRules {
  /** What `iss` may be. */
  readonly issuers: readonly string[];
  /** Where the issuer's public keys are. */
  readonly jwksUrl: string;
  /** The algorithms that it signs with. */
  readonly algorithms: readonly string[];
  /** What `aud` must be: this application. */
  readonly clientId: string;
}

/** The claims of an id token that was verified. */
export interface IdTokenClaims extends Record<string, unknown> {
  /** The user's id at the issuer. */
  readonly sub: string;
}

/** Gives the claims of an id token, or throws why it can't be believed. */
export type VerifyIdToken = (
  idToken: string | undefined,
  nonce: string | undefined,
) => Promise<IdTokenClaims>;

/**
 * Makes what verifies id tokens (OpenID Connect Core, section 3.1.3.7).
 *
 * The issuer's keys are kept for 10 minutes, and asked for again as soon as a
 * token is signed by an unknown one, but not twice in 30 seconds.
 */
export function createIdTokenVerifier(
  rules: IdTokenRules,
  transport: Transport,
): VerifyIdToken {
  const { clientId, jwksUrl } = rules;
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    // Its own signal is left aside: the bounds are those of all requests.
    async [customFetch](url, { headers }) {
      const what = "the endpoint of the issuer's keys";
      return Response.json(
        await requestJSON(what, url, { headers }, [], transport),
      );
    },
  });

  async function verify(idToken: string): Promise<Record<string, unknown>> {
    try {
      const { payload } = await jwtVerify(idToken, keys, {
        issuer: [...rules.issuers],
        audience: clientId,
        algorithms: [...rules.algorithms],
        requiredClaims: ["sub", "exp", "iat"],
      });
      return payload;
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      // The message is enough; the error itself has the claims with it.
      throw new ProviderError(
        `the id_token can't be verified: ${(error as Error).message}`,
      );
    }
  }

  return async (idToken, nonce) => {
    if (idToken === undefined) {
      throw new ProviderError("the token endpoint gave no id_token");
    }
    const payload = await verify(idToken);
    const { sub, aud, azp } = payload;
    if (typeof sub !== "string" || sub === "") throw bad("sub");
    // Rules 3 to 5: no other audience is trusted, and none may have asked.
    if (Array.isArray(aud) && aud.length !== 1) throw bad("aud");
    if (azp !== undefined && azp !== clientId) throw bad("azp");
    // Rule 11. Without one that was sent, there must be none.
    if (payload["nonce"] !== nonce) throw bad("nonce");
    return { ...payload, sub };
  };
}

function bad(claim: string): ProviderError {
  return new ProviderError(`the id_token is not for this sign-in: ${claim}`);
}
