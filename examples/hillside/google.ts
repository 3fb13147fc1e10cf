import type { JWTPayload } from "jose";
import type { Client, Grant } from "./grants.ts";
import type { Realm } from "./realm.ts";
import type { Algorithm, SigningKey } from "./signing_key.ts";
import { createSigningKey } from "./signing_key.ts";

/** The issuer in Google's id tokens. */
const ISSUER = "https://accounts.google.com";

/** A fault of id tokens. */
export interface IdTokenFault {
  /** Claims that replace the correct ones. `undefined` removes a claim. */
  readonly claims?: JWTPayload;
  /** Changes the signed token. */
  readonly change?: (token: string) => string | undefined;
  /** Signs with an unpublished key under the id of the published one. */
  readonly isForeign?: boolean;
}

/** Google, with switches for tests. */
export interface Google extends Realm {
  /** The fault of id tokens. Default: none. */
  idTokenFault: IdTokenFault | undefined;
  /** The `sub` of the user-info endpoint. Default: the correct one. */
  userInfoSubject: string | undefined;
  /** The number of requests for the keys. */
  readonly keyRequests: number;
  /**
   * Replaces the signing key. The old key isn't published any longer.
   *
   * @param algorithm Default: `RS256`, as Google uses.
   */
  rotate(algorithm?: Algorithm): void;
}

/** Creates Google's endpoints: sign-in, the user, and the keys. */
export function createGoogle(client: Client, now: () => number): Google {
  // Creating a key is slow, so the first use creates it.
  let key: Promise<SigningKey> | undefined;
  let algorithm: Algorithm = "RS256";
  const currentKey = () => key ??= createSigningKey(algorithm);
  let keyRequests = 0;

  async function idTokenOf(grant: Grant): Promise<string | undefined> {
    const { claims, change, isForeign } = google.idTokenFault ?? {};
    const seconds = Math.floor(now() / 1000);
    const { kid, sign } = await currentKey();
    const honest: JWTPayload = {
      iss: ISSUER,
      azp: client.id,
      aud: client.id,
      ...claimsOf(grant),
      ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
      iat: seconds,
      exp: seconds + 3600,
    };
    const all = JSON.parse(JSON.stringify({ ...honest, ...claims }));
    const token = isForeign
      ? await (await createSigningKey(algorithm, kid)).sign(all)
      : await sign(all);
    return change === undefined ? token : change(token);
  }

  const google: Google = {
    idTokenFault: undefined,
    userInfoSubject: undefined,
    get keyRequests() {
      return keyRequests;
    },
    rotate(next = "RS256") {
      algorithm = next;
      key = undefined;
    },
    title: "Google",
    authorizePath: "/o/oauth2/v2/auth",
    tokenPath: "/token",
    answerToken: async ({ accessToken, grant }) =>
      Response.json({
        access_token: accessToken,
        expires_in: 3599,
        scope: grant.scope.join(" "),
        token_type: "Bearer",
        ...(grant.scope.includes("openid")
          ? { id_token: await idTokenOf(grant) }
          : {}),
      }),
    answerError: (code) =>
      Response.json({ error: code, error_description: "Bad Request" }, {
        status: code === "invalid_client" ? 401 : 400,
      }),
    async answer(path, grant) {
      switch (path) {
        case "/oauth2/v3/certs": {
          keyRequests++;
          return Response.json({ keys: [(await currentKey()).publicKey] });
        }
        case "/v1/userinfo": {
          if (grant === undefined) {
            return Response.json({ error: "invalid_request" }, { status: 401 });
          }
          const { hd: _, ...claims } = claimsOf(grant);
          const sub = google.userInfoSubject ?? claims.sub;
          return Response.json({ ...claims, sub });
        }
        default:
          return undefined;
      }
    },
  };
  return google;
}

function claimsOf({ person, scope }: Grant): JWTPayload & { hd?: string } {
  const { id, name, email, isEmailVerified, domain } = person;
  return {
    sub: id,
    ...(scope.includes("email")
      ? { email, email_verified: isEmailVerified }
      : {}),
    ...(scope.includes("profile") && name !== null
      ? { name, picture: `https://lh3.googleusercontent.com/a/${id}` }
      : {}),
    ...(domain === null ? {} : { hd: domain }),
  };
}
