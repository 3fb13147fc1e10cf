import { checkOptions, checkValue } from "../core/check/options.ts";
import type { OptionRules } from "../core/check/options.ts";
import { withMethods } from "../core/check/rules.ts";
import type { RequestContext } from "../core/context.ts";
import type { AuthContext } from "./auth_context.ts";
import type { OAuthCallbackParameters } from "./oauth/callback.ts";
import type { AuthCore } from "./core.ts";
import { RequestAuth } from "./request_auth.ts";
import type { BaseUser, Session, User } from "./user.ts";

/**
 * Returns the auth of a request.
 *
 * @param context The context of the request.
 * @throws {TypeError} If the auth plugin isn't installed, or runs later.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createAuthPlugin, getAuth } from "@quartet/kit/auth";
 *
 * const app = createApp({
 *   plugins: [createAuthPlugin({
 *     session: { secret: "a secret of at least thirty-two bytes" },
 *   })],
 * });
 * app.route({
 *   path: "/",
 *   loader: ({ context }) => getAuth(context).isAuthenticated(),
 * });
 *
 * const response = await app.fetch(new Request("http://localhost/"));
 * console.assert(await response.json() === false);
 * ```
 */
export function getAuth(context: RequestContext): AuthContext {
  return authOf(context);
}

/**
 * Returns the session of a request, or `null` if it is anonymous.
 *
 * @param context The context of the request.
 * @throws {TypeError} If the auth plugin isn't installed, or runs later.
 */
export function getSession(context: RequestContext): Session | null {
  return getAuth(context).session;
}

/**
 * Returns the user of a request, or `null` if it is anonymous.
 *
 * @param context The context of the request.
 * @throws {TypeError} If the auth plugin isn't installed, or runs later.
 */
export function getUser(context: RequestContext): User | null {
  return getAuth(context).getUser();
}

/** Options of {@linkcode getOAuthUrl}. */
export interface OAuthUrlOptions {
  /**
   * The path to go to after the sign-in, such as the `returnTo` of a query. It
   * may come from the request: values other than paths of this server are
   * ignored, as are paths over 512 characters. The callback finds the path in
   * `getAuth(context).returnTo`.
   */
  readonly returnTo?: string | null | undefined;
}

const OAUTH_URL: OptionRules<OAuthUrlOptions> = { returnTo: true };

/**
 * Returns the URL at which a browser signs in with an OAuth provider. The
 * response sets a cookie with the data that the callback needs.
 *
 * @param context The context of the request.
 * @param provider The id of the provider.
 * @param redirectUri The callback: an absolute URL that is registered with the
 * provider. Default: `redirectUri` of the provider's settings.
 * @param options The path to go to afterwards.
 * @throws {AuthError} `UNKNOWN_PROVIDER` if no OAuth provider has this id.
 * @throws {TypeError} If the redirect URI isn't a valid one, or isn't the
 * provider's.
 */
export function getOAuthUrl(
  context: RequestContext,
  provider: string,
  redirectUri?: string,
  options: OAuthUrlOptions = {},
): string {
  checkOptions(options, OAUTH_URL, "begin sign-in");
  const auth = requestAuthOf(context);
  return auth.oauthUrl(provider, redirectUri, options.returnTo);
}

/**
 * Signs in the user whom an OAuth provider has sent back.
 *
 * @param context The context of the request.
 * @param provider The id of the provider.
 * @param callback `code`, `state`, `iss` and `error` of the query string, and the
 * redirect URI that was passed to {@linkcode getOAuthUrl}, if any.
 * @throws {AuthError} `OAUTH_STATE_MISMATCH` if this browser didn't begin the
 * sign-in within the last ten minutes. Also if another issuer answers.
 * @throws {AuthError} `INVALID_CREDENTIALS` if the user or the provider refuses.
 * @throws {AuthError} `OAUTH_FAILED` if the provider fails.
 */
export function handleOAuthCallback(
  context: RequestContext,
  provider: string,
  callback: OAuthCallbackParameters,
): Promise<Session> {
  return requestAuthOf(context).oauthCallback(provider, callback);
}

const aContext = withMethods(
  "the context of a request, such as currentContext() or Hono's c (also as the ctx of handle(), handler() and createCaller() of RPC)",
  "get",
);

/**
 * The same as {@linkcode getAuth}, for users of a known type.
 *
 * @param core The plugin. Default: the one that ran last.
 */
export function authOf<U extends BaseUser = User, P extends string = string>(
  context: RequestContext,
  core?: AuthCore,
): AuthContext<U, P> {
  // Untyped code may pass anything, and RPC's `ctx` is what it was given.
  const auth = RequestAuth.find(context?.get?.("auth"), core);
  if (typeof auth === "object" && auth !== null) {
    return auth as AuthContext<U, P>;
  }
  checkValue(context, "context", aContext, "get auth");
  throw new TypeError(
    "Cannot get auth: the auth plugin has not run for this request; add createAuthPlugin() to the app's plugins, before what needs it; on Hono: app.use(toHono(auth)) first",
  );
}

/** The plugin's own side of a request's auth. */
export function requestAuthOf(context: RequestContext): RequestAuth {
  const auth = authOf(context);
  if (auth instanceof RequestAuth) return auth;
  throw new TypeError(
    'Cannot get auth: context.get("auth") must be the value that the auth plugin has set, received another one',
  );
}
