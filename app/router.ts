/**
 * The routes of an app. Finds the route for a request, and runs it.
 *
 * @module
 */

import { addRoute, createRouter as createTable, findRoute } from "rou3";
import type { Context, Params } from "../core/context.ts";
import { errorResponse, methodNotAllowed } from "../core/error_response.ts";
import { checkResponse, pathOf } from "../core/http/message.ts";
import { type MaybePromise, whenDone } from "../core/promises.ts";
import { currentScope } from "../core/request_scope.ts";
import type { Route } from "../core/route.ts";
import { trimEnd } from "../core/trim_end.ts";
import { DEFAULT_MAX_BODY_SIZE } from "./body_limit.ts";
import { type Endpoint, endpointsOf } from "./endpoints.ts";

const NOTHING = "There is nothing at this path";
/** The path of the viewer, which users open before it is mounted. */
const TRACES = /^\/__app\/traces(?:\/|$)/;
const NO_TRACES =
  "Nothing is traced here: mount tracePlugin(tracer), or start the dev command with --trace";

/** Answers a request that no route matches. */
export type Otherwise = (
  request: Request,
  context: Context,
) => MaybePromise<Response>;

interface Match {
  readonly data: Endpoint;
  readonly params?: Record<string, string>;
}

/**
 * Creates a router without routes.
 *
 * @param maxBodySize The body limit of routes that don't set their own.
 */
export function createRouter(maxBodySize = DEFAULT_MAX_BODY_SIZE) {
  const table = createTable<Endpoint>();
  /** The path of each route, by method and shape. */
  const taken = new Map<string, string>();
  const methods = new Set<string>();

  /** Adds a route, or throws a `TypeError` with the problem. */
  function add(route: Route): void {
    for (const endpoint of endpointsOf(route, maxBodySize)) {
      const { method, path } = endpoint;
      const key = `${method} ${shapeOf(path)}`;
      const other = taken.get(key);
      if (other !== undefined) {
        throw new TypeError(
          `Cannot add route ${method || "*"} ${path}: ${
            other === path ? "it exists already" : `${other} matches the same`
          }`,
        );
      }
      try {
        addRoute(table, method, path, endpoint);
      } catch (error) {
        // Outside of a pattern in parentheses.
        const query = /^[^(]*?(\?\w.*)/.exec(path)?.[1];
        const reason = query
          ? `path must have no query, received ${query}; read it from context.url.searchParams`
          : (error as Error).message.replace(/^rou3: /, "");
        throw new TypeError(`Cannot add route ${path}: ${reason}`);
      }
      taken.set(key, path);
      methods.add(method);
    }
  }

  /** HEAD is answered like GET, unless it has its own route. */
  function find(method: string, path: string): Match | undefined {
    const match = findRoute(table, method, path);
    return method === "HEAD" && match?.data.method !== method
      ? findRoute(table, "GET", path)
      : match;
  }

  function refuse(method: string, path: string): Response {
    const allow = [...methods].filter((other) => findRoute(table, other, path));
    if (allow.length === 0) {
      const message = TRACES.test(path) ? NO_TRACES : NOTHING;
      return errorResponse(404, "NOT_FOUND", message);
    }
    if (allow.includes("GET") && !allow.includes("HEAD")) allow.push("HEAD");
    const list = allow.sort().join(", ");
    const message = `This path does not allow ${method}; it allows ${list}`;
    return methodNotAllowed(message, list);
  }

  /**
   * Answers a request, also with 404, 405 and 400.
   *
   * @param otherwise Called instead of a 404 or 405.
   */
  function dispatch(
    request: Request,
    context: Context,
    otherwise: Otherwise | undefined,
  ): MaybePromise<Response> {
    const { method } = request;
    const path = pathOf(request.url);
    // The server around it has its own routes. It needs no span of this search.
    if (otherwise !== undefined && find(method, path) === undefined) {
      return otherwise(request, context);
    }
    // Nothing inside needs this span as the current one, and entering it would
    // take 0.7 µs.
    const span = currentScope()?.span?.child("route.match", "routing");
    const match = find(method, path);
    if (match !== undefined) {
      // The request's span has it too (OpenTelemetry HTTP).
      span?.setAttribute("http.route", match.data.path);
      span?.root.setAttribute("http.route", match.data.path);
    }
    span?.end();
    if (match === undefined) return refuse(method, path);
    const { data: endpoint, params } = match;
    if (params !== undefined) {
      if (!decode(params)) {
        return errorResponse(
          400,
          "BAD_REQUEST",
          "The path contains a percent sign that does not begin a valid UTF-8 escape",
        );
      }
      context.params = params;
    }
    const response = endpoint.run(request, context);
    return whenDone(response, checkReturned, request, endpoint);
  }

  return { add, dispatch };
}

/** Returns a text that is equal for paths that match the same. */
function shapeOf(path: string): string {
  return trimEnd(path.replace(/(?<!\\):\w+/g, ":"), "/") || "/";
}

/** Decodes parameters in place, or returns `false` if one is malformed. */
function decode(params: Record<string, string>): params is Params {
  try {
    for (const name in params) {
      const value = params[name]!;
      if (value.includes("%")) params[name] = decodeURIComponent(value);
    }
    return true;
  } catch {
    return false;
  }
}

/** Checks what a route has returned. */
function checkReturned(
  response: Response,
  request: Request,
  { path: route }: Endpoint,
): Response {
  return checkResponse(
    response,
    request,
    `route ${route} must return`,
    (value) =>
      value === undefined ? "" : "; to return a value, use loader or action",
  );
}
