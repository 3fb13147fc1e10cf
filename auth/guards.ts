/**
 * Who may use a route, as fragments of its `config`.
 *
 * @module
 */

import type { RequestContext } from "../app/context.ts";
import { errorResponse } from "../app/error_response.ts";
import { show } from "../app/internal/show.ts";
import type { AuthRule } from "../app/route.ts";
import { observe } from "../app/scope.ts";
import { requestAuthOf } from "./access.ts";
import { AuthError } from "./error.ts";
import type { DenialReason } from "./events.ts";
import type { RequestAuth } from "./request_auth.ts";
import { isSafeRedirect } from "./safe_redirect.ts";
import type { User } from "./user.ts";

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

/** A fragment of a route's `config`. */
export type AuthFragment = {
  /** Enforced by the host before the route's code runs. */
  readonly auth: AuthRule;
};

/**
 * Lets a route answer those alone who are signed in.
 *
 * Like all guards it also refuses, with 403 `FORBIDDEN`, what a page of another
 * origin makes a browser send by an unsafe method, or to open a WebSocket.
 *
 * @param options What anonymous requests get.
 * @throws {AuthError} `CONFIG` if `redirect` leads elsewhere than it seems to,
 * or the status is none of a refusal.
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
  return fragment("auth:requireAuth", {
    required: true,
    ...answerToAnonymous(options, "requireAuth()"),
  });
}

/** Checks what anonymous requests get. */
function answerToAnonymous(
  { redirect, unauthorizedResponse }: RequireAuthOptions,
  guard: string,
): Pick<GuardRule, "redirect" | "unauthorized"> {
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
    const { status } = unauthorizedResponse;
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new AuthError(
        "CONFIG",
        `Cannot guard a route: unauthorizedResponse.status of ${guard} must be an integer from 400 to 599, received ${status}`,
      );
    }
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
  const { requireAll = false, ...rest } = options;
  return fragment("auth:requireRoles", {
    required: true,
    ...answerToAnonymous(rest, "requireRoles()"),
    roles: readRoles(roles, "requireRoles()"),
    requireAll,
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
  return fragment("auth:optionalAuth", { required: false });
}

/** What a guard is told. */
export type GuardRule = Omit<AuthRule, "check">;

function fragment(name: string, rule: GuardRule): AuthFragment {
  const check: AuthRule["check"] = (request, context) =>
    refuse(name, rule, request, context);
  return { auth: { ...rule, check } };
}

/**
 * The response to whoever a rule doesn't let in.
 *
 * @param name What is checked, for the trace.
 */
export function refuse(
  name: string,
  rule: GuardRule,
  request: Request,
  context: RequestContext,
): Response | undefined {
  return observe(name, "auth", (span) => {
    const auth = requestAuthOf(context);
    const reason = reasonToRefuse(rule, auth, request);
    span?.setAttribute("app.auth.allowed", reason === undefined);
    if (reason === undefined) return undefined;
    span?.setAttribute("app.auth.reason", reason);
    auth.deny(reason);
    return responseTo(reason, rule, request);
  });
}

function reasonToRefuse(
  { required, roles, requireAll }: GuardRule,
  auth: RequestAuth<User>,
  request: Request,
): DenialReason | undefined {
  if (auth.isForged(request)) return "cross_origin";
  if (!required) return undefined;
  if (!auth.isAuthenticated()) return "anonymous";
  if (roles === undefined) return undefined;
  const isAllowed = requireAll
    ? auth.hasAllRoles(roles)
    : auth.hasAnyRole(roles);
  return isAllowed ? undefined : "roles";
}

function responseTo(
  reason: DenialReason,
  rule: GuardRule,
  request: Request,
): Response {
  switch (reason) {
    case "anonymous":
      return unauthorized(rule, request);
    case "roles":
      return errorResponse(403, "FORBIDDEN", "Insufficient permissions");
    case "cross_origin":
      return errorResponse(
        403,
        "FORBIDDEN",
        "This request comes from a page of another origin",
      );
  }
}

function unauthorized(
  { redirect, unauthorized }: GuardRule,
  { url }: Request,
): Response {
  if (redirect !== undefined) {
    const location = typeof redirect === "function"
      ? redirect(new URL(url))
      : redirect;
    if (!isSafeRedirect(location)) {
      throw new TypeError(
        `Cannot redirect to sign in: redirect must give a path such as "/sign-in" or an http(s) URL, received ${
          show(location)
        }`,
      );
    }
    return new Response(null, { status: 303, headers: { location } });
  }
  if (unauthorized !== undefined) {
    const { status, body } = unauthorized;
    return typeof body === "string"
      ? new Response(body, { status })
      : Response.json(body ?? null, { status });
  }
  return errorResponse(401, "UNAUTHORIZED", "Authentication required", {
    // RFC 9110, section 15.5.2: a 401 says how to do better.
    "www-authenticate": "Bearer",
  });
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
