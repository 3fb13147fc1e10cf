/**
 * Routes for sign-in with all OAuth providers of a plugin:
 *
 *     GET /auth/github?returnTo=/account    to the provider
 *     GET /auth/github/callback             back from it, then to /account
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  aFunction,
  isOrigin,
  matching,
  rule,
  show,
} from "../../core/check/rules.ts";
import type { Context } from "../../core/context.ts";
import type { Route, RouteArgs } from "../../core/route.ts";
import { requestAuthOf } from "../access.ts";
import { AuthError, configError, failedSignIn, OPERATION } from "../error.ts";
import type { OAuthRoutesOptions } from "../options.ts";
import type { AuthProvider } from "../provider.ts";
import { safeRedirect } from "../safe_redirect.ts";

const OPTIONS: OptionRules<OAuthRoutesOptions> = {
  path: matching('a path such as "/auth"', /^(\/[\w.~-]+)+$/),
  origin: rule('an origin such as "https://app.example"', isOrigin),
  home: rule(
    'a path such as "/account"',
    (value) => value === safeRedirect(value, ""),
  ),
  onError: aFunction,
};
const anIdInPaths = matching(
  "letters, digits and the characters _ . - for a route",
  /^\w[\w.-]*$/,
);

/**
 * Creates two routes for each OAuth provider.
 *
 * @throws {TypeError} If a setting is wrong, or `providers` has no OAuth provider.
 */
export function createOAuthRoutes(
  providers: Iterable<AuthProvider>,
  settings: boolean | OAuthRoutesOptions | undefined = false,
): readonly Route[] {
  if (settings === false) return [];
  const options = settings === true ? {} : settings;
  checkOptions(options, OPTIONS, OPERATION, "oauthRoutes");
  const routes = Array.from(providers)
    .filter(({ getAuthorizationUrl }) => getAuthorizationUrl !== undefined)
    .flatMap((provider) => routesOf(provider, options));
  if (routes.length > 0) return routes;
  throw configError(
    "oauthRoutes needs an OAuth provider in providers, such as github(), received none",
  );
}

function routesOf(
  { id, redirectUri }: AuthProvider,
  { path = "/auth", origin, home = "/", onError }: OAuthRoutesOptions,
): readonly Route[] {
  checkValue(id, "the id of an OAuth provider", anIdInPaths, OPERATION);
  const start = `${path}/${id}`;
  const callback = `${start}/callback`;
  if (
    redirectUri !== undefined &&
    !URL.parse(redirectUri)?.pathname.endsWith(callback)
  ) {
    const received = show(redirectUri);
    throw configError(
      `redirectUri of provider ${id} must end in ${callback}, the callback of oauthRoutes, received ${received}`,
    );
  }
  const callbackOf = ({ url }: Context) =>
    redirectUri ?? (origin ?? url.origin) + callback;

  const guarded =
    (answer: (context: Context) => string | Promise<string>) =>
    async ({ context }: RouteArgs): Promise<Response> => {
      try {
        const location = await answer(context);
        return new Response(null, { status: 303, headers: { location } });
      } catch (error) {
        if (!(error instanceof AuthError)) throw error;
        return onError === undefined
          ? failedSignIn(error, context.request, home)
          : await onError(error, context);
      }
    };

  return [
    {
      path: start,
      loader: guarded((context) => {
        const returnTo = context.url.searchParams.get("returnTo");
        const auth = requestAuthOf(context);
        return auth.oauthUrl(id, callbackOf(context), returnTo);
      }),
    },
    {
      path: callback,
      loader: guarded(async (context) => {
        const query = context.url.searchParams;
        const auth = requestAuthOf(context);
        await auth.oauthCallback(id, {
          code: query.get("code"),
          state: query.get("state"),
          iss: query.get("iss"),
          error: query.get("error"),
          error_description: query.get("error_description"),
          redirectUri: callbackOf(context),
        });
        return auth.returnTo ?? home;
      }),
    },
  ];
}
