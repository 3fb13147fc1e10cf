import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the search for a route, as a span `route.match` of the routing layer.
 *
 * @param match Finds the route.
 * @returns What `match` returns.
 *
 * @example
 * ```ts
 * import { recordRouteMatch, traceRouteMatch } from "@quartet/kit/trace";
 *
 * const routes = new Map([["/", "home"]]);
 * const page = traceRouteMatch(() => {
 *   recordRouteMatch("/");
 *   return routes.get("/");
 * });
 * console.assert(page === "home");
 * ```
 */
export function traceRouteMatch<T>(match: (span: Span) => T): T {
  return inSpan("route.match", "routing", match);
}

/**
 * Notes which route was found, on the active span and on that of the request
 * (`http.route` of the OpenTelemetry semantic conventions).
 *
 * @param pattern The route's pattern, such as `/countries/:code`.
 */
export function recordRouteMatch(pattern: string): void {
  const span = getActiveSpan();
  span?.setAttribute("http.route", pattern);
  span?.root.setAttribute("http.route", pattern);
}
