import type { RouteArgs } from "../core/route.ts";
import { authOf } from "./access.ts";
import type { AuthenticatedContext } from "./auth_context.ts";
import { checkGuard, neededRoles } from "./guards.ts";
import { refuse } from "./refuse.ts";
import type { BaseUser, User } from "./user.ts";

/** The argument of a handler in {@linkcode withAuth}. */
export interface AuthorizedArgs<
  U extends BaseUser = User,
  P extends string = string,
> extends RouteArgs {
  /** The auth of the request, which is authenticated. */
  readonly auth: AuthenticatedContext<U, P>;
}

/** Options of {@linkcode withAuth}. */
export interface WithAuthOptions {
  /** The roles. One of them is enough. Default: none is needed. */
  readonly roles?: readonly string[];
}

/**
 * Wraps a loader or an action, so that it requires a signed-in user. Other
 * requests get the responses of `requireAuth()` and `requireRoles()`, thrown as
 * a `Response`.
 *
 * @param handler The loader or action. It gets `auth` as well.
 * @param options The roles that are needed.
 * @throws {TypeError} If `roles` isn't an array of at least one role,
 * or an option is unknown.
 *
 * @example
 * ```ts
 * import { withAuth } from "@quartet/kit/auth";
 *
 * const route = {
 *   path: "/me",
 *   loader: withAuth(({ auth }) => ({ hello: auth.session.name })),
 * };
 * console.assert(typeof route.loader === "function");
 * ```
 */
export function withAuth<
  T,
  U extends BaseUser = User,
  P extends string = string,
>(
  handler: (args: AuthorizedArgs<U, P>) => T | Promise<T>,
  options: WithAuthOptions = {},
): (args: RouteArgs) => Promise<T> {
  checkGuard(options, { roles: neededRoles }, "withAuth()");
  const { roles } = options;
  const guard = {
    name: "auth:withAuth",
    required: true,
    demands: roles ? [{ roles: [...roles], requireAll: false }] : [],
  };
  return async ({ request, context, params }) => {
    const refusal = refuse(guard, request, context);
    if (refusal !== undefined) throw refusal;
    const auth = authOf<U, P>(context) as AuthenticatedContext<U, P>;
    return await handler({ request, context, auth, params });
  };
}
