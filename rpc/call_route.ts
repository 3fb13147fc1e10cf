/**
 * What the span of a request says of the calls in it. They all go to one
 * address; as `http.route` the address of the procedure itself is told, so
 * that each has figures of its own (OpenTelemetry, HTTP server spans).
 *
 * @module
 */

import { currentScope } from "../app/scope.ts";
import type { ObservedSpan } from "../app/scope.ts";

interface Route {
  readonly endpoint: string;
  calls: number;
}

const routes = new WeakMap<ObservedSpan, Route>();

/** Notes the endpoint that the present request goes to, if it is traced. */
export function noteEndpoint(endpoint: string): void {
  const root = currentScope()?.span?.root;
  if (root === undefined) return;
  root.setAttribute("http.route", endpoint);
  routes.set(root, { endpoint, calls: 0 });
}

/** Notes a call of the present request. A batch is not one of them. */
export function noteCall(path: string): void {
  const root = currentScope()?.span?.root;
  if (root === undefined) return;
  const route = routes.get(root);
  if (route === undefined) return;
  const { endpoint } = route;
  const isOnly = ++route.calls === 1;
  root.setAttribute("http.route", isOnly ? `${endpoint}/${path}` : endpoint);
}
