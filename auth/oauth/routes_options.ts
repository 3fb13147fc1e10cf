import type { Context } from "../../core/context.ts";
import type { AuthError } from "../error.ts";

/** Settings of `oauthRoutes`. */
export interface OAuthRoutesOptions {
  /** The path of the routes. Default: `/auth`. */
  readonly path?: string;
  /**
   * The origin of this server, such as `https://app.example`. Providers send
   * users back to it. Default: the origin of the request. Behind a proxy that
   * ends TLS, set it.
   */
  readonly origin?: string;
  /**
   * The path to go to after a sign-in without `returnTo`. The page of a failed
   * sign-in links to it. Default: `/`.
   */
  readonly home?: string;
  /**
   * Called when a sign-in fails. Returns the response. Default: the response of
   * the error, which is an HTML page for browsers.
   */
  readonly onError?: (
    error: AuthError,
    context: Context,
  ) => Response | Promise<Response>;
}
