/**
 * Decides whether a guard lets a request in, and creates the response if not.
 *
 * @module
 */

import { show } from "../core/check/rules.ts";
import type { RequestContext } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { observe } from "../core/observe.ts";
import type { ObservedSpan } from "../core/observed_span.ts";
import { markIdle } from "../core/personal.ts";
import type { AuthRule } from "../core/route.ts";
import { requestAuthOf } from "./access.ts";
import type { DenialReason } from "./events.ts";
import type { RequestAuth } from "./request_auth.ts";
import { isSafeRedirect, SAFE_REDIRECT } from "./safe_redirect.ts";

/** The response to anonymous requests instead of the default 401. */
type AnonymousAnswer = Pick<AuthRule, "redirect" | "unauthorized">;

/** Roles that a user needs: any one of them, or all. */
export interface RoleDemand {
  readonly roles: readonly string[];
  readonly requireAll: boolean;
}

/** The demands of one guard, or of all guards of a route. */
export interface Guard {
  /** The name of the check in traces. */
  readonly name: string;
  /** Whether anonymous requests are refused. */
  readonly required: boolean;
  /** The response to anonymous requests. Default: 401. */
  readonly anonymous?: AnonymousAnswer | undefined;
  /** All of these must be met. */
  readonly demands: readonly RoleDemand[];
}

const FORBIDDEN = {
  roles: "Insufficient permissions",
  cross_origin:
    "This request comes from a page of another origin, which trustedOrigins of createAuthPlugin() doesn't list",
};

/** Merges guards. The last `anonymous` wins. */
export function combineGuards(guards: readonly Guard[]): Guard {
  const names = new Set(guards.map(({ name }) => name.replace(/^auth:/, "")));
  return {
    name: `auth:${[...names].join("+")}`,
    required: guards.some(({ required }) => required),
    anonymous: guards.findLast(({ anonymous }) => anonymous !== undefined)
      ?.anonymous,
    demands: guards.flatMap(({ demands }) => demands),
  };
}

/** Returns the response to a refused request, or `undefined` if it is allowed. */
export function refuse(
  guard: Guard,
  request: Request,
  context: RequestContext,
): Response | undefined {
  return observe(guard.name, "auth", decide, guard, request, context);
}

function decide(
  span: ObservedSpan | undefined,
  guard: Guard,
  request: Request,
  context: RequestContext,
): Response | undefined {
  const auth = requestAuthOf(context);
  const reason = reasonToRefuse(guard, auth, request);
  span?.setAttribute("app.auth.allowed", reason === undefined);
  if (reason === undefined) return undefined;
  span?.setAttribute("app.auth.reason", reason);
  span?.setAttribute("app.reason", `refused: ${explain(reason, guard, auth)}`);
  auth.deny(reason);
  const refusal = reason === "anonymous"
    ? unauthorized(guard.anonymous, request)
    : errorResponse(403, "FORBIDDEN", FORBIDDEN[reason]);
  markIdle(request, refusal);
  return refusal;
}

/** Returns what a refused request lacks. */
function explain(
  reason: DenialReason,
  { demands }: Guard,
  auth: RequestAuth,
): string {
  if (reason === "anonymous") return "a signed-in user is required";
  if (reason === "cross_origin") return "a page of another origin sent it";
  const { roles, requireAll } = demands.find((it) => !isMet(it, auth))!;
  const names = roles.join(requireAll ? " and " : " or ");
  return roles.length === 1 || !requireAll
    ? `role ${names} is required`
    : `roles ${names} are required`;
}

function isMet({ roles, requireAll }: RoleDemand, auth: RequestAuth): boolean {
  return requireAll ? auth.hasAllRoles(roles) : auth.hasAnyRole(roles);
}

/**
 * Returns the first reason to refuse a request, in order of precedence.
 *
 * @throws {UnavailableError} If the request's session couldn't be looked up.
 */
function reasonToRefuse(
  { required, demands }: Guard,
  auth: RequestAuth,
  request: Request,
): DenialReason | undefined {
  if (auth.isCrossSite(request)) return "cross_origin";
  if (!required) return undefined;
  auth.demandVerified();
  if (!auth.isAuthenticated()) return "anonymous";
  for (const demand of demands) if (!isMet(demand, auth)) return "roles";
  return undefined;
}

function unauthorized(
  answer: AnonymousAnswer | undefined,
  { url }: Request,
): Response {
  if (answer?.redirect !== undefined) {
    const { redirect } = answer;
    const location = typeof redirect === "function"
      ? redirect(new URL(url))
      : redirect;
    if (!isSafeRedirect(location)) {
      const received = show(location);
      throw new TypeError(
        `Cannot redirect to sign in: redirect must return ${SAFE_REDIRECT}, received ${received}`,
      );
    }
    return new Response(null, { status: 303, headers: { location } });
  }
  if (answer?.unauthorized !== undefined) {
    const { status, body } = answer.unauthorized;
    return typeof body === "string"
      ? new Response(body, { status })
      : Response.json(body ?? null, { status });
  }
  return errorResponse(401, "UNAUTHORIZED", "Authentication required", {
    // RFC 9110, section 15.5.2 requires a challenge with each 401.
    "www-authenticate": "Bearer",
  });
}
