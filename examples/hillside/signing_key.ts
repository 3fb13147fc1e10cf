import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { JWK, JWTPayload } from "jose";

/** An algorithm of RSA. */
export type Algorithm = "RS256" | "PS256";

/** A key by which id tokens are signed. */
export interface SigningKey {
  readonly kid: string;
  /** What is published of it. */
  readonly publicKey: JWK;
  /** Makes a token of the claims. */
  sign(claims: JWTPayload): Promise<string>;
}

/**
 * Makes a key.
 *
 * @param kid Names it among all keys.
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
