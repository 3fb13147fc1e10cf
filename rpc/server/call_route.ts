/**
 * What the span of a request says of the calls in it. They all go to one
 * address; as `http.route` the address of the procedure itself is told, so
 * that each has figures of its own (OpenTelemetry, HTTP server spans).
 *
 * @module
 */

import { currentScope } from "../../core/request_scope.ts";
import type { ObservedSpan } from "../../core/observed_span.ts";
import type { RPCError } from "../error.ts";

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

/** Notes why the present request came to no procedure. */
export function noteRefusal({ code }: RPCError): void {
  currentScope()?.span?.root.setAttribute("rpc.status_code", code);
}

/** Notes why one of the calls of a batch came to no procedure. */
export function noteRefusedCall({ code }: RPCError): void {
  const attributes = { "rpc.status_code": code };
  currentScope()?.span?.root.event("rpc.refused", attributes);
}
