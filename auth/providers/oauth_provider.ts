import { show } from "../../core/check/show.ts";
import { ProviderError } from "../oauth/http.ts";
import { ProfileFailure } from "../oauth/profile_failure.ts";
import type { AuthProvider, OAuthCallback, OAuthTokens } from "../provider.ts";
import type { BaseUser } from "../user.ts";
import { isText } from "./check.ts";
import type { OAuthSettings } from "./oauth_options.ts";

/** Makes a user of what a provider knows of one; `null` lets nobody in. */
export type ProfileMapper<P, U extends BaseUser> = (
  profile: P,
  tokens: OAuthTokens,
) => U | null | Promise<U | null>;

/** What makes an application's own users of those of a provider. */
export interface ProfileOption<P, U extends BaseUser> {
  /**
   * Finds or makes the application's user. Ids of different providers can be
   * the same, so an application with several should give ids of its own.
   */
  readonly profile: ProfileMapper<P, U>;
}

/**
 * Puts a provider together.
 *
 * @param findProfile Finds out whose tokens these are; `null` lets nobody in.
 */
export function createOAuthProvider<P, U extends BaseUser>(
  settings: OAuthSettings,
  findProfile: (
    tokens: OAuthTokens,
    callback: OAuthCallback,
  ) => Promise<P | null>,
  toUser: ProfileMapper<P, U>,
): AuthProvider<U> {
  const { id, name, redirectUri, issuer, server, client, check } = settings;
  check(typeof toUser === "function", "profile", "a function", toUser);
  return {
    id,
    name,
    type: "oauth",
    redirectUri,
    issuer,
    get isIssuerRequired() {
      return server.current?.isIssuerSent ?? false;
    },
    async setup() {
      // The error is logged, and the next sign-in tries again.
      await server.load().catch(() => {});
    },
    // Who somebody is, is asked at the provider, never of the request.
    authorize: () => Promise.resolve(null),
    getAuthorizationUrl: client.authorizationUrl,
    async handleCallback(callback) {
      const tokens = await client.exchangeCode(callback);
      const profile = await findProfile(tokens, callback);
      if (profile === null) return null;
      const user = await asProfile(async () =>
        checkUser(await toUser(profile, tokens))
      );
      if (user === null) callback.onRefused?.("profile() has given null");
      return user;
    },
  };
}

/** Whatever fails in `profile()` is the application's, unless the profile is. */
async function asProfile<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw cause instanceof ProviderError ? cause : new ProfileFailure(cause);
  }
}

function checkUser<U extends BaseUser>(user: U | null): U | null {
  const id: unknown = (user as U | null | undefined)?.id;
  if (user === null || isText(id)) return user;
  throw new TypeError(
    `Cannot sign in: profile() must give a user whose id is a non-empty string, received ${
      show(id)
    }`,
  );
}
