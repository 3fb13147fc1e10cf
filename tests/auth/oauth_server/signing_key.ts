import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { JWK, JWTPayload } from "jose";

/** A key by which id tokens are signed with RS256. */
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
  kid: string = crypto.randomUUID(),
): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", {
    extractable: true,
  });
  return {
    kid,
    publicKey: {
      ...await exportJWK(publicKey),
      kid,
      alg: "RS256",
      use: "sig",
    },
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
        .sign(privateKey),
  };
}
