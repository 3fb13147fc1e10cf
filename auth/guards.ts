/**
 * Who may use a route, as fragments of its `config`.
 *
 * @module
 */

import {
  findProblem,
  type OptionRules,
  type Rules,
} from "../core/check/check_options.ts";
import { aBoolean, required, rule } from "../core/check/rules.ts";
import { show } from "../core/check/show.ts";
import { createModuleGuard, refuseUncalled } from "../core/guard_fragment.ts";
import type { AuthFragment, AuthRule } from "../core/route.ts";
import { AuthError } from "./error.ts";
import {
  type AnonymousAnswer,
  combineGuards,
  type Guard,
  NO_DEMANDS,
  refuse,
} from "./refuse.ts";
import { isSafeRedirect, SAFE_REDIRECT } from "./safe_redirect.ts";

/** What anonymous requests get. Default: 401 with code `UNAUTHORIZED`. */
export interface RequireAuthOptions {
  /**
   * Where they are sent, with 303: a path of this server, or an absolute URL
   * by `https:` or `http:`. A function is asked for each, with the URL that they
   * wanted, as in
   * `({ pathname }) => "/sign-in?next=" + encodeURIComponent(pathname)`.
   */
  readonly redirect?: string | ((url: URL) => string);
  /** What they are answered instead. A `body` that is no string is JSON. */
  readonly unauthorizedResponse?: {
    /** The HTTP status, 400 to 599. */
    readonly status: number;
    /** The body. */
    // deno-lint-ignore no-explicit-any -- the contract has it so
    readonly body: any;
  };
}

/** Which of the roles are needed, and what anonymous requests get. */
export interface RequireRolesOptions extends RequireAuthOptions {
  /** Whether all of them are, and not just any. Default `false`. */
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

const RESPONSE: Rules = {
  status: required(rule(
    "an integer from 400 to 599",
    (value) =>
      typeof value === "number" && Number.isInteger(value) &&
      value >= 400 && value <= 599,
  )),
  body: true,
};

/**
 * Checks the options of a guard.
 *
 * @throws {AuthError} `CONFIG` if something is wrong.
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
  throw guardError(guard, problem + hint);
}

function guardError(guard: string, problem: string): AuthError {
  return new AuthError(
    "CONFIG",
    `Cannot guard a route by ${guard}: ${problem}`,
  );
}

/**
 * Lets a route answer those alone who are signed in.
 *
 * Like all guards it also refuses, with 403 `FORBIDDEN`, what a page of another
 * origin makes a browser send by an unsafe method, or to open a WebSocket.
 *
 * @param options What anonymous requests get.
 * @throws {AuthError} `CONFIG` if an option is unknown, `redirect` is
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
  const anonymous = anonymousAnswer(options);
  return fragment({
    name: "auth:requireAuth",
    required: true,
    anonymous,
    demands: NO_DEMANDS,
  });
}

/** Returns the response to anonymous requests, or `undefined` for the default. */
function anonymousAnswer(
  { redirect, unauthorizedResponse }: RequireAuthOptions,
): AnonymousAnswer | undefined {
  return redirect === undefined && unauthorizedResponse === undefined
    ? undefined
    : { redirect, unauthorized: unauthorizedResponse };
}

/**
 * Lets a route answer those alone who have a role. Anonymous requests get 401,
 * others 403 with code `FORBIDDEN`.
 *
 * @param roles The roles, any of which is enough.
 * @param options Whether all of them are needed, and what anonymous requests
 * get.
 * @throws {AuthError} `CONFIG` if `roles` is no array of at least one role, or
 * as of {@linkcode requireAuth}.
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
  checkGuard(options, REQUIRE_ROLES, "requireRoles()");
  const { requireAll = false } = options;
  const anonymous = anonymousAnswer(options);
  return fragment({
    name: "auth:requireRoles",
    required: true,
    anonymous,
    demands: [{ roles: readRoles(roles, "requireRoles()"), requireAll }],
  });
}

/**
 * Lets a route answer everybody, signed in or not. Requests that a page of
 * another origin makes a browser send by an unsafe method are refused, as by
 * the other guards: sign-in routes want that.
 *
 * @example
 * ```ts
 * import { optionalAuth } from "@quartet/kit/auth";
 *
 * console.assert(optionalAuth().auth.required === false);
 * ```
 */
export function optionalAuth(): AuthFragment {
  return fragment({
    name: "auth:optionalAuth",
    required: false,
    demands: NO_DEMANDS,
  });
}

for (const makeGuard of [requireAuth, requireRoles, optionalAuth]) {
  refuseUncalled(makeGuard);
}

function fragment(guard: Guard): AuthFragment {
  const { required, anonymous, demands } = guard;
  const check = checkOf(guard);
  const rule = { required, ...anonymous, ...demands[0], check };
  return createModuleGuard(rule, guard, checkOfAll);
}

function checkOf(guard: Guard): AuthRule["check"] {
  return (request, context) => refuse(guard, request, context);
}

/** Creates the check of several guards that were spread into one `config`. */
function checkOfAll(guards: readonly Guard[]): AuthRule["check"] {
  return checkOf(combineGuards(guards));
}

/** Checks a list of roles. */
export function readRoles(roles: unknown, guard: string): readonly string[] {
  if (
    Array.isArray(roles) && roles.length > 0 &&
    roles.every((role) => typeof role === "string" && role !== "")
  ) {
    return Object.freeze([...roles]);
  }
  throw guardError(
    guard,
    `roles must be an array of non-empty strings, at least one, received ${
      Array.isArray(roles) && roles.length === 0 ? "an empty one" : show(roles)
    }`,
  );
}
