/**
 * The spans of calls.
 *
 * All calls of a router have one URL. The request's `http.route` gets the path
 * of the procedure, so that each has statistics of its own.
 *
 * @module
 */

import { isResponse } from "../../core/http/message.ts";
import { runSpan } from "../../core/observe.ts";
import type { Attributes, ObservedSpan } from "../../core/observed_span.ts";
import { currentScope } from "../../core/request_scope.ts";
import { isA } from "../../core/check/rules.ts";
import { definitionOf } from "../../core/runtime/environment.ts";
import { UnavailableError } from "../../core/error_response.ts";
import { RPCError } from "../error.ts";
import type { Call } from "./call.ts";
import { refusalReason } from "./report.ts";

/** The endpoint of a request and its number of calls, by its root span. */
const requests = new WeakMap<
  ObservedSpan,
  { endpoint: string; calls: number }
>();

/** Records the endpoint of the current request, if it is traced. */
export function recordEndpoint(endpoint: string): void {
  const root = currentScope()?.span?.root;
  if (root === undefined) return;
  root.setAttribute("http.route", endpoint);
  requests.set(root, { endpoint, calls: 0 });
}

/** Records a call of the current request. A batch isn't a single one. */
export function recordCall(path: string): void {
  const root = currentScope()?.span?.root;
  const request = root && requests.get(root);
  if (request === undefined) return;
  const { endpoint } = request;
  const isOnly = ++request.calls === 1;
  root!.setAttribute("http.route", isOnly ? `${endpoint}/${path}` : endpoint);
}

/** Records why the current request reached no procedure. */
export function recordRefusal(error: RPCError): void {
  const root = currentScope()?.span?.root;
  root?.setAttribute("rpc.status_code", error.code);
  root?.setAttribute("app.reason", refusalReason(error));
}

/** Records why a call of a batch reached no procedure. */
export function recordRefusedCall(error: RPCError): void {
  const root = currentScope()?.span?.root;
  if (root === undefined) return;
  root.event("rpc.refused", {
    "rpc.status_code": error.code,
    "app.reason": refusalReason(error),
  });
}

/** Returns the attributes of a call's span. */
export function spanAttributes(
  { path, type, procedure }: Call,
): Attributes {
  return {
    ...definitionOf(procedure.handler),
    "rpc.system.name": "quartet",
    "rpc.method": path,
    "app.rpc.type": type,
  };
}

/**
 * Runs `fn` in the span of a call. The span records every error code, and fails
 * only with errors that aren't meant for the caller.
 */
export async function inSpan<T>(
  span: ObservedSpan,
  call: Call,
  fn: () => T | Promise<T>,
): Promise<T> {
  call.span = span;
  let thrown: { error: unknown } | undefined;
  const result = await runSpan(span, async () => {
    try {
      return await fn();
    } catch (error) {
      thrown = { error };
      if (isA(error, RPCError) || isA(error, UnavailableError)) {
        span.setAttribute("rpc.status_code", error.code);
        if (error.status >= 500) span.error(error);
        else if (error.code !== "VALIDATION_ERROR") {
          span.setAttribute("app.reason", refusalReason(error));
        }
      } else if (!isResponse(error)) span.error(error);
      else if (error.status >= 400) {
        span.setAttribute("app.reason", `refused: status ${error.status}`);
      }
    }
  });
  if (thrown !== undefined) throw thrown.error;
  return result as T;
}
