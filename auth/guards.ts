/**
 * Who may use a route, as fragments of its `config`.
 *
 * @module
 */

import type { Rules } from "../core/check/check_options.ts";
import { createModuleGuard, refuseUncalled } from "../core/guard_fragment.ts";
import { findProblem } from "../core/check/check_options.ts";
import type { OptionRules } from "../core/check/check_options.ts";
import { show } from "../core/check/show.ts";
import type { AuthFragment, AuthRule } from "../core/route.ts";
import { AuthError } from "./error.ts";
import { combineGuards, NO_DEMANDS, refuse } from "./refuse.ts";
import type { AnonymousAnswer, Guard } from "./refuse.ts";
import { isSafeRedirect } from "./safe_redirect.ts";

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
  redirect: true,
  unauthorizedResponse: true,
};

const REQUIRE_ROLES: OptionRules<RequireRolesOptions> = {
  ...REQUIRE_AUTH,
  requireAll: true,
};

const RESPONSE: OptionRules<
  NonNullable<RequireAuthOptions["unauthorizedResponse"]>
> = { status: true, body: true };

/**
 * Checks the names of a guard's options.
 *
 * @throws {AuthError} `CONFIG` if a name is unknown.
 */
export function checkNames(
  options: unknown,
  known: Rules,
  guard: string,
  name = "options",
): void {
  const problem = findProblem(options, known, name);
  if (problem === undefined) return;
  const hint = !("roles" in known) && Object.hasOwn(Object(options), "roles")
    ? '. To require roles, use requireRoles(["admin"])'
    : "";
  throw new AuthError(
    "CONFIG",
    `Cannot guard a route by ${guard}: ${problem}${hint}`,
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
  checkNames(options, REQUIRE_AUTH, "requireAuth()");
  const anonymous = readAnonymousAnswer(options, "requireAuth()");
  return fragment({
    name: "auth:requireAuth",
    required: true,
    anonymous,
    demands: NO_DEMANDS,
  }, { required: true, ...anonymous });
}

/** Returns the response to anonymous requests, or `undefined` for the default. */
function readAnonymousAnswer(
  { redirect, unauthorizedResponse }: RequireAuthOptions,
  guard: string,
): AnonymousAnswer | undefined {
  if (
    redirect !== undefined && typeof redirect !== "function" &&
    !isSafeRedirect(redirect)
  ) {
    throw new AuthError(
      "CONFIG",
      `Cannot guard a route: redirect of ${guard} must be a path such as "/sign-in" or an http(s) URL, received ${
        show(redirect)
      }`,
    );
  }
  if (unauthorizedResponse !== undefined) {
    checkNames(unauthorizedResponse, RESPONSE, guard, "unauthorizedResponse");
    const { status } = unauthorizedResponse;
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new AuthError(
        "CONFIG",
        `Cannot guard a route: unauthorizedResponse.status of ${guard} must be an integer from 400 to 599, received ${status}`,
      );
    }
  }
  if (redirect === undefined && unauthorizedResponse === undefined) {
    return undefined;
  }
  return { redirect, unauthorized: unauthorizedResponse };
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
  checkNames(options, REQUIRE_ROLES, "requireRoles()");
  const { requireAll = false } = options;
  const anonymous = readAnonymousAnswer(options, "requireRoles()");
  const demand = { roles: readRoles(roles, "requireRoles()"), requireAll };
  return fragment({
    name: "auth:requireRoles",
    required: true,
    anonymous,
    demands: [demand],
  }, { required: true, ...anonymous, ...demand });
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
  }, { required: false });
}

for (const makeGuard of [requireAuth, requireRoles, optionalAuth]) {
  refuseUncalled(makeGuard);
}

function fragment(guard: Guard, rule: Omit<AuthRule, "check">): AuthFragment {
  const check: AuthRule["check"] = (request, context) =>
    refuse(guard, request, context);
  return createModuleGuard({ ...rule, check }, guard, checkAll);
}

/** Creates the check of several guards that were spread into one `config`. */
function checkAll(guards: readonly Guard[]): AuthRule["check"] {
  const guard = combineGuards(guards);
  return (request, context) => refuse(guard, request, context);
}

/** Checks a list of roles. */
export function readRoles(roles: unknown, name: string): readonly string[] {
  if (
    Array.isArray(roles) && roles.length > 0 &&
    roles.every((role) => typeof role === "string" && role !== "")
  ) {
    return Object.freeze([...roles]);
  }
  throw new AuthError(
    "CONFIG",
    `Cannot guard a route: roles of ${name} must be an array of non-empty strings, at least one, received ${
      Array.isArray(roles) && roles.length === 0 ? "an empty one" : show(roles)
    }`,
  );
}
