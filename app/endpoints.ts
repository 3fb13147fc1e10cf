/**
 * Checks a route, and creates a handler for each of its methods. It runs the
 * guards, then the body limit, then the route's code.
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../core/check/options.ts";
import { aFunction, isObject, matching, rule } from "../core/check/rules.ts";
import type { Context } from "../core/context.ts";
import { holdsGuard, misplaced, readGuards } from "../core/guard_fragment.ts";
import { isResponse } from "../core/http/message.ts";
import { whenDone } from "../core/promises.ts";
import type { Handler } from "../core/middleware.ts";
import { observe } from "../core/observe.ts";
import { currentScope } from "../core/request_scope.ts";
import type { Route, RouteArgs, RouteConfig } from "../core/route.ts";
import { aBodySize, type Guarded, limitBody } from "./body_limit.ts";
import { guard } from "./guard.ts";

/** A method of a route. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** Runs the guards and the route's code. */
  readonly run: Handler<Context>;
}

/** The method of endpoints that answer every method. */
const ANY_METHOD = "";

const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;

/** Methods of the IANA registry and of Node. `*` takes any other one. */
const METHODS: ReadonlySet<string> = new Set(
  ("* ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD " +
    "LABEL LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF " +
    "MKWORKSPACE MOVE NOTIFY OPTIONS ORDERPATCH PATCH POST PROPFIND PROPPATCH " +
    "PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND " +
    "UNCHECKOUT UNLINK UNLOCK UNSUBSCRIBE UPDATE UPDATEREDIRECTREF " +
    "VERSION-CONTROL").split(" "),
);

/** A wildcard as in Express 5, such as `/*rest`. */
const NAMED_WILDCARD = /^(.*?\/\{?)\*{1,2}(\w+)/;

/** A parameter as in Next.js, Flask or OpenAPI: `[id]`, `<id>`, `{id}`. */
const OTHER_PARAMETER = /\/(\[\w+\]|<\w+>|\{\w+\})(?=\/|$)/;

const aRoute = rule("an object such as { path, handler }", isObject);
const aPath = matching('a string that begins with "/"', /^\//);

const ROUTE_OPTIONS: OptionRules<Route> = {
  path: aPath,
  method: rule(
    'an HTTP method or "*"',
    (value) => typeof value === "string" && METHODS.has(value.toUpperCase()),
  ),
  handler: aFunction,
  loader: aFunction,
  action: aFunction,
  config: rule("an object", isObject),
  maxBodySize: aBodySize,
};

/**
 * Returns the endpoints of a route.
 *
 * @param maxBodySize The body limit of a route without its own.
 * @throws {TypeError} If the route is invalid.
 */
export function endpointsOf(route: Route, maxBodySize: number): Endpoint[] {
  const operation = checkRoute(route);
  const { path, handler, loader, action, method = "GET" } = route;
  const guarded = guardedBy(path, route.config, operation);
  const limit = route.maxBodySize ?? maxBodySize;
  const endpoint = (method: string, run: Handler<Context>): Endpoint => ({
    method,
    path,
    run: limitBody(limit, guarded, run),
  });
  if (handler !== undefined) {
    const name = method === "*" ? ANY_METHOD : method.toUpperCase();
    return [endpoint(name, handler)];
  }
  const endpoints: Endpoint[] = [];
  if (loader !== undefined) {
    const run = answerWith(`loader:${path}`, "data", loader, toPlainResponse);
    endpoints.push(endpoint("GET", run));
  }
  if (action !== undefined) {
    const run = answerWith(`form:${path}`, "forms", action, toResponse);
    endpoints.push(...ACTION_METHODS.map((method) => endpoint(method, run)));
  }
  return endpoints;
}

/** Returns the operation in further error messages. */
function checkRoute(route: Route): string {
  checkValue(route, "it", aRoute, "add route");
  checkValue(route.path, "path", aPath, "add route");
  const operation = `add route ${route.path}`;
  if ("auth" in route || holdsGuard(route)) {
    throw misplaced(operation, "the route itself holds one");
  }
  checkOptions(route, ROUTE_OPTIONS, operation, "route");
  const problem = findSyntax(route.path) ?? findConflict(route);
  if (problem !== undefined) {
    throw new TypeError(`Cannot ${operation}: ${problem}`);
  }
  return operation;
}

/** The router would match the syntax of other routers literally. */
function findSyntax(path: string): string | undefined {
  const parameter = OTHER_PARAMETER.exec(path)?.[1];
  if (parameter !== undefined) {
    return `${parameter} isn't a parameter; write :${parameter.slice(1, -1)}`;
  }
  const [, start, name] = NAMED_WILDCARD.exec(path) ?? [];
  const prefix = start?.replace("{", "");
  return prefix === undefined
    ? undefined
    : `a wildcard has no name after *; use ${prefix}**:${name} at the end of the path`;
}

function findConflict(
  { handler, loader, action, method }: Route,
): string | undefined {
  const hasOthers = loader !== undefined || action !== undefined;
  if (handler !== undefined) {
    return hasOthers
      ? "it must have either a handler or a loader and an action, received both"
      : undefined;
  }
  if (!hasOthers) return "it must have a handler, a loader or an action";
  const methods = ACTION_METHODS.join(", ");
  return method === undefined
    ? undefined
    : `method goes with a handler; a loader answers GET, an action ${methods}`;
}

/** Creates the wrapper that runs a route's code only after its guards. */
function guardedBy(
  path: string,
  config: RouteConfig | undefined,
  operation: string,
): Guarded {
  const rule = config === undefined
    ? undefined
    : readGuards(config, operation, "config.");
  return rule === undefined
    ? (run) => run
    : (run) => (request, context) => guard(rule, path, request, context, run);
}

function answerWith(
  name: string,
  layer: "data" | "forms",
  fn: (args: RouteArgs) => unknown,
  respond: (result: unknown, name: string) => Response,
): Handler<Context> {
  const run = (_span: unknown, request: Request, context: Context) =>
    fn({ request, context, params: context.params });
  return (request, context) =>
    whenDone(observe(name, layer, run, request, context), respond, name);
}

/** Creates the response to a GET, and notes that no other code has it yet. */
function toPlainResponse(result: unknown, name: string): Response {
  const response = toResponse(result, name);
  const scope = currentScope()?.requestScope;
  if (scope !== undefined && response !== result) {
    scope.plainResponse = response;
  }
  return response;
}

function toResponse(result: unknown, name: string): Response {
  if (isResponse(result)) return result;
  if (result === undefined) return new Response(null, { status: 204 });
  try {
    return Response.json(result);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const [reason = ""] = cause.message.split("\n");
    const hint = reason.includes("BigInt") ? "; return it as a string" : "";
    throw new TypeError(
      `Cannot send the result of ${name}: it must be a Response or data for JSON, received a value that JSON cannot hold (${reason})${hint}`,
      { cause },
    );
  }
}
