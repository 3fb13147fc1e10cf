/**
 * The table of an app's routes: checks them when they are added, finds the one
 * for a request, and runs it.
 *
 * @module
 */

import { addRoute, createRouter as createTable, findRoute } from "rou3";
import type { Context, Params } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { guard } from "./guard.ts";
import { holdsGuard, misplaced, readGuards } from "../core/guard_fragment.ts";
import { limitBody, readBodyLimit } from "./body_limit.ts";
import type { Guarded } from "./body_limit.ts";
import { checkOptions } from "../core/check/check_options.ts";
import { isResponse } from "../core/http/is_response.ts";
import { kindOf, show } from "../core/check/show.ts";
import { trimEnd } from "../core/trim_end.ts";
import type { Handler, Next } from "../core/middleware.ts";
import { pathOf } from "../core/path.ts";
import { ROUTE_OPTIONS } from "../core/route.ts";
import type { Route, RouteArgs, RouteConfig } from "../core/route.ts";
import { observe } from "../core/observe.ts";
import type { ObservedSpan } from "../core/observed_span.ts";

const ACTION_METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;
const ANY_METHOD = "";
/** `*`, or a token as in RFC 9110, section 5.6.2, of letters and hyphens. */
const METHOD = /^(\*|[a-z-]+)$/i;

/** A method of a route, ready to run. */
interface Endpoint {
  readonly method: string;
  readonly pattern: string;
  readonly run: Handler<Context>;
}

interface Match {
  readonly data: Endpoint;
  readonly params?: Record<string, string>;
}

/** Finds and runs routes. */
export interface Router {
  /** Adds a route, or throws a `TypeError` that says what is wrong with it. */
  add(route: Route): void;
  /**
   * Answers a request: 404, 405 and 400 included.
   *
   * @param otherwise Answers instead of a 404 or 405.
   */
  dispatch(
    request: Request,
    context: Context,
    otherwise?: Next,
  ): Promise<Response>;
}

/**
 * Creates an empty {@linkcode Router}.
 *
 * @param maxBodySize The body limit of routes that don't set their own.
 */
export function createRouter(maxBodySize: number): Router {
  const table = createTable<Endpoint>();
  const taken = new Map<string, string>();
  const methods = new Set<string>();

  function add(route: Route): void {
    for (const [method, run] of endpointsOf(route, maxBodySize)) {
      const { path } = route;
      const key = `${method} ${shapeOf(path)}`;
      const other = taken.get(key);
      if (other !== undefined) {
        throw new TypeError(
          `Cannot add route ${method || "*"} ${path}: ${
            other === path ? "it exists already" : `${other} matches the same`
          }`,
        );
      }
      addToTable(method, path, { method, pattern: path, run });
      taken.set(key, path);
      methods.add(method);
    }
  }

  function addToTable(method: string, path: string, endpoint: Endpoint): void {
    try {
      addRoute(table, method, path, endpoint);
    } catch (error) {
      const reason = (error as Error).message.replace(/^rou3: /, "");
      throw new TypeError(`Cannot add route ${path}: ${reason}`);
    }
  }

  /** HEAD is answered as GET is, unless a route is made for it. */
  function find(method: string, path: string): Match | undefined {
    const match = findRoute(table, method, path);
    return method === "HEAD" && match?.data.method !== method
      ? findRoute(table, "GET", path)
      : match;
  }

  function refuse(method: string, path: string): Response {
    const allow = [...methods].filter((other) => findRoute(table, other, path));
    if (allow.length === 0) {
      return errorResponse(404, "NOT_FOUND", "There is nothing at this path");
    }
    if (allow.includes("GET") && !allow.includes("HEAD")) {
      allow.push("HEAD");
    }
    const list = allow.sort().join(", ");
    return errorResponse(
      405,
      "METHOD_NOT_ALLOWED",
      `This path does not take ${method}; it takes ${list}`,
      { allow: list },
    );
  }

  async function dispatch(
    request: Request,
    context: Context,
    otherwise?: Next,
  ): Promise<Response> {
    if (otherwise !== undefined && taken.size === 0) return await otherwise();
    const { method } = request;
    const path = pathOf(request.url);
    const match = observe("route.match", "routing", (span) => {
      const found = find(method, path);
      if (span !== undefined) describe(span, found);
      return found;
    });
    if (match === undefined) {
      return await (otherwise?.() ?? refuse(method, path));
    }
    if (match.params !== undefined) {
      const params = decode(match.params);
      if (params === undefined) {
        return errorResponse(
          400,
          "BAD_REQUEST",
          "The path holds a percent sign that does not begin a valid UTF-8 escape",
        );
      }
      context.params = params;
    }
    const response = await match.data.run(request, context);
    if (!isResponse(response)) {
      throw new TypeError(
        `Cannot answer ${method} ${path}: route ${match.data.pattern} must give a Response, received ${
          kindOf(response)
        }`,
      );
    }
    if (response.bodyUsed) {
      throw new TypeError(
        `Cannot answer ${method} ${path}: route ${match.data.pattern} gave a Response whose body was read or sent before; give a new one, or a clone()`,
      );
    }
    return response;
  }

  return { add, dispatch };
}

/** `http.route` belongs to the request's span as well (OpenTelemetry HTTP). */
function describe(span: ObservedSpan, match: Match | undefined): void {
  if (match === undefined) return;
  span.setAttribute("http.route", match.data.pattern);
  span.root.setAttribute("http.route", match.data.pattern);
}

function decode(params: Record<string, string>): Params | undefined {
  try {
    for (const name in params) {
      const value = params[name]!;
      if (value.includes("%")) params[name] = decodeURIComponent(value);
    }
    return params;
  } catch {
    return undefined;
  }
}

/** Two paths of one shape match the same: names make no difference. */
function shapeOf(path: string): string {
  return trimEnd(path.replace(/(?<!\\):\w+/g, ":"), "/") || "/";
}

function* endpointsOf(
  route: Route,
  maxBodySize: number,
): Generator<readonly [method: string, run: Handler<Context>]> {
  const { path, handler, loader, action, config } = route;
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw new TypeError(
      `Cannot add route: path must be a string that begins with "/", received ${
        show(path)
      }`,
    );
  }
  for (const [name, fn] of Object.entries({ handler, loader, action })) {
    if (fn !== undefined && typeof fn !== "function") {
      throw new TypeError(
        `Cannot add route ${path}: ${name} must be a function, received ${
          kindOf(fn)
        }`,
      );
    }
  }
  if (handler !== undefined && (loader !== undefined || action !== undefined)) {
    throw new TypeError(
      `Cannot add route ${path}: it must have either a handler or a loader and an action, received both`,
    );
  }
  if ("auth" in route || holdsGuard(route)) {
    throw misplaced(`add route ${path}`, "the route itself holds one");
  }
  checkOptions(route, ROUTE_OPTIONS, `add route ${path}`, "route");
  const guards = guardOf(path, config);
  const limit = readBodyLimit(
    route.maxBodySize,
    maxBodySize,
    `add route ${path}`,
  );
  const guarded = (run: Handler<Context>) => limitBody(limit, guards, run);
  if (handler !== undefined) {
    const { method = "GET" } = route;
    if (typeof method !== "string" || !METHOD.test(method)) {
      throw new TypeError(
        `Cannot add route ${path}: method must be an HTTP method or "*", received ${
          show(method)
        }`,
      );
    }
    yield [
      method === "*" ? ANY_METHOD : method.toUpperCase(),
      guarded(handler),
    ];
    return;
  }
  if (loader === undefined && action === undefined) {
    throw new TypeError(
      `Cannot add route ${path}: it must have a handler, a loader or an action`,
    );
  }
  if (route.method !== undefined) {
    throw new TypeError(
      `Cannot add route ${path}: method goes with a handler; a loader answers GET, an action ${
        ACTION_METHODS.join(", ")
      }`,
    );
  }
  if (loader !== undefined) {
    yield ["GET", guarded(answerWith(`loader:${path}`, "data", loader))];
  }
  if (action !== undefined) {
    const run = guarded(answerWith(`form:${path}`, "forms", action));
    for (const method of ACTION_METHODS) yield [method, run];
  }
}

function answerWith(
  name: string,
  layer: "data" | "forms",
  fn: (args: RouteArgs) => unknown,
): Handler<Context> {
  return async (request, context) => {
    const result = await observe(
      name,
      layer,
      () => fn({ request, context, params: context.params }),
    );
    if (isResponse(result)) return result;
    if (result === undefined) return new Response(null, { status: 204 });
    return Response.json(result);
  };
}

/** Creates the wrapper that runs a route's code only after its guards. */
function guardOf(
  path: string,
  config: RouteConfig | undefined,
): Guarded {
  if (config === undefined) return (run) => run;
  const operation = `add route ${path}`;
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    throw new TypeError(
      `Cannot ${operation}: config must be an object, received ${
        kindOf(config)
      }`,
    );
  }
  const rule = readGuards(config, operation, "config.");
  if (rule === undefined) return (run) => run;
  return (run) => (request, context) =>
    guard(rule, path, request, context, () => run(request, context));
}
