import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { JWK, JWTPayload } from "jose";

/** A signature algorithm of RSA. */
export type Algorithm = "RS256" | "PS256";

/** A key that signs id tokens. */
export interface SigningKey {
  readonly kid: string;
  /** The published part of the key. */
  readonly publicKey: JWK;
  /** Signs a token with these claims. */
  sign(claims: JWTPayload): Promise<string>;
}

/**
 * Creates a key.
 *
 * @param kid The id of the key.
 */
export async function createSigningKey(
  algorithm: Algorithm,
  kid: string = crypto.randomUUID(),
): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, {
    extractable: true,
  });
  return {
    kid,
    publicKey: {
      ...await exportJWK(publicKey),
      kid,
      alg: algorithm,
      use: "sig",
    },
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
        .sign(privateKey),
  };
}
