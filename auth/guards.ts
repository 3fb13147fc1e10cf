/**
 * Guards: fragments of a route's `config` that decide who may use it.
 *
 * @module
 */

import {
  findProblem,
  type OptionRules,
  type Rules,
} from "../core/check/options.ts";
import {
  aBoolean,
  anIntegerBetween,
  aNonEmptyString,
  required,
  type Rule,
  rule,
  show,
} from "../core/check/rules.ts";
import { createModuleGuard } from "../core/guard_fragment.ts";
import { refuseUncalled } from "../core/middleware.ts";
import type { AuthFragment, AuthRule } from "../core/route.ts";
import {
  combineGuards,
  type Guard,
  refuse,
  type RoleDemand,
} from "./refuse.ts";
import { isSafeRedirect, SAFE_REDIRECT } from "./safe_redirect.ts";

/** The response to anonymous requests. Default: 401 `UNAUTHORIZED`. */
export interface RequireAuthOptions {
  /**
   * The target of a redirect with 303: a path of this server, or an absolute
   * URL by `https:` or `http:`. A function is called with the URL of the
   * request, as in
   * `({ pathname }) => "/sign-in?next=" + encodeURIComponent(pathname)`.
   */
  readonly redirect?: string | ((url: URL) => string);
  /** A response instead of the 401. A `body` other than a string is JSON. */
  readonly unauthorizedResponse?: {
    /** The HTTP status, 400 to 599. */
    readonly status: number;
    /** The body. */
    // deno-lint-ignore no-explicit-any -- anything that JSON can hold, or a string
    readonly body: any;
  };
}

/** Options of {@linkcode requireRoles}. */
export interface RequireRolesOptions extends RequireAuthOptions {
  /** Whether all roles are needed instead of any. Default `false`. */
  readonly requireAll?: boolean;
}

const REQUIRE_AUTH: OptionRules<RequireAuthOptions> = {
  redirect: rule(
    SAFE_REDIRECT,
    (value) => typeof value === "function" || isSafeRedirect(value),
  ),
  unauthorizedResponse: true,
};

const REQUIRE_ROLES: OptionRules<RequireRolesOptions> = {
  ...REQUIRE_AUTH,
  requireAll: aBoolean,
};

/** The rule for the roles of a guard. */
export const neededRoles: Rule = {
  ...rule(
    "an array of at least one role",
    (value) =>
      Array.isArray(value) && value.length > 0 &&
      Array.from(value).every(aNonEmptyString.test),
  ),
  describe: (value) =>
    Array.isArray(value) && value.length === 0 ? "an empty one" : show(value),
};

const RESPONSE: Rules = {
  status: required(anIntegerBetween(400, 599)),
  body: true,
};

/**
 * Checks the options of a guard.
 *
 * @throws {TypeError} If something is wrong.
 */
export function checkGuard(
  options: unknown,
  rules: Rules,
  guard: string,
): void {
  const { unauthorizedResponse } = Object(options) as RequireAuthOptions;
  const problem = findProblem(options, rules, "options") ??
    (unauthorizedResponse === undefined
      ? undefined
      : findProblem(unauthorizedResponse, RESPONSE, "unauthorizedResponse"));
  if (problem === undefined) return;
  const hint = !("roles" in rules) && Object.hasOwn(Object(options), "roles")
    ? '. To require roles, use requireRoles(["admin"])'
    : "";
  throw new TypeError(
    `Cannot guard a route by ${guard}: ${problem}${hint}`,
  );
}

/**
 * Requires a signed-in user.
 *
 * Like all guards it also refuses cross-site requests with 403 `FORBIDDEN`, if
 * they use an unsafe method or open a WebSocket (CSRF).
 *
 * @param options The response to anonymous requests.
 * @throws {TypeError} If an option is unknown, `redirect` is
 * unsafe, or the status isn't one of a refusal.
 *
 * @example
 * ```ts
 * import { requireAuth } from "@quartet/kit/auth";
 *
 * const route = {
 *   path: "/account",
 *   config: { ...requireAuth({ redirect: "/sign-in" }) },
 *   loader: () => "secret",
 * };
 * console.assert(route.config.auth.required);
 * ```
 */
export function requireAuth(options: RequireAuthOptions = {}): AuthFragment {
  checkGuard(options, REQUIRE_AUTH, "requireAuth()");
  return requireUser("auth:requireAuth", [], options);
}

/**
 * Requires a role. Anonymous requests get 401, others 403 with code
 * `FORBIDDEN`.
 *
 * @param roles The roles. One of them is enough.
 * @param options Whether all roles are needed, and the response to anonymous
 * requests.
 * @throws {TypeError} If `roles` isn't an array of at least one role,
 * or an option is wrong as in {@linkcode requireAuth}.
 *
 * @example
 * ```ts
 * import { requireRoles } from "@quartet/kit/auth";
 *
 * const config = { ...requireRoles(["admin", "editor"]) };
 * console.assert(config.auth.roles?.includes("editor"));
 * ```
 */
export function requireRoles(
  roles: readonly string[],
  options: RequireRolesOptions = {},
): AuthFragment {
  checkGuard({ roles }, { roles: required(neededRoles) }, "requireRoles()");
  checkGuard(options, REQUIRE_ROLES, "requireRoles()");
  const { requireAll = false } = options;
  const demand = { roles: Object.freeze([...roles]), requireAll };
  return requireUser("auth:requireRoles", [demand], options);
}

/**
 * Protects a public route from CSRF: anybody may use it, but cross-site requests
 * are refused with 403 `FORBIDDEN`. Use it for the actions that sign users in,
 * up and out.
 *
 * @throws {TypeError} If it gets options: it has none.
 *
 * @example
 * ```ts
 * import { publicAction } from "@quartet/kit/auth";
 *
 * const route = {
 *   path: "/newsletter",
 *   config: { ...publicAction() },
 *   action: () => "subscribed",
 * };
 * console.assert(route.config.auth.required === false);
 * ```
 */
export function publicAction(): AuthFragment {
  return allowAnybody("publicAction", arguments);
}

/**
 * Allows both anonymous and signed-in users, for a page that may show the user.
 * Like {@linkcode publicAction}, it refuses cross-site requests (CSRF).
 *
 * @throws {TypeError} If it gets options: it has none.
 *
 * @example
 * ```ts
 * import { optionalAuth } from "@quartet/kit/auth";
 *
 * console.assert(optionalAuth().auth.required === false);
 * ```
 */
export function optionalAuth(): AuthFragment {
  return allowAnybody("optionalAuth", arguments);
}

const GUARDS = [requireAuth, requireRoles, publicAction, optionalAuth];
for (const makeGuard of GUARDS) refuseUncalled(makeGuard);

function requireUser(
  name: string,
  demands: readonly RoleDemand[],
  { redirect, unauthorizedResponse: unauthorized }: RequireAuthOptions,
): AuthFragment {
  const isDefault = redirect === undefined && unauthorized === undefined;
  const anonymous = isDefault ? undefined : { redirect, unauthorized };
  const guard = { name, required: true, anonymous, demands };
  return createModuleGuard(guard, ruleOf);
}

/** Creates a guard that refuses only cross-site requests. It has no options. */
function allowAnybody(name: string, [options = {}]: IArguments): AuthFragment {
  checkGuard(options, {}, `${name}()`);
  const guard = { name: `auth:${name}`, required: false, demands: [] };
  return createModuleGuard(guard, ruleOf);
}

/** Returns the rule for guards that were spread into one `config`. */
function ruleOf(guards: readonly Guard[]): AuthRule {
  const guard = combineGuards(guards);
  const { required, anonymous, demands } = guard;
  return {
    required,
    ...anonymous,
    ...demands[0],
    check: (request, context) => refuse(guard, request, context),
  };
}
