/**
 * Applies an app's own tracing settings under the dev command.
 *
 * The dev command traces each request before the app sees it. The first tracing
 * middleware of the app doesn't trace the request again: it changes the trace
 * that the command has started.
 *
 * @module
 */

import type { RequestScope } from "../../core/request_scope.ts";
import { SpanImpl } from "../record/span.ts";
import { settingsOf } from "../record/trace_settings.ts";
import type { Attributes, Span, Tracer } from "../types.ts";

/** The tracers whose traces follow the settings of the app's own tracing. */
export const deferring = new WeakSet<Tracer>();

/** The requests whose trace the app's own tracing may still decide about. */
export const undecided = new WeakSet<Span>();

/** Whether the caller may decide about a request's trace. Only the first may. */
export function isUndecided(root: Span): root is SpanImpl {
  return undecided.delete(root) && root instanceof SpanImpl;
}

/** Removes the trace of an excluded request. Its spans are no longer recorded. */
export function dropTrace(
  root: SpanImpl,
  scope: RequestScope | undefined,
): void {
  for (; scope !== undefined; scope = scope.outer) {
    if (scope.span === root) scope.span = scope.tracedRequest = undefined;
  }
  root.trace.follow({ minDurationMs: Infinity });
  root.end();
}

/** Applies the settings of the app's tracer, and adds attributes of the request. */
export function adjustTrace(
  root: SpanImpl,
  tracer: Tracer,
  attributes: Attributes,
): void {
  root.trace.follow(settingsOf.get(tracer) ?? {});
  for (const [key, value] of Object.entries(attributes)) {
    root.setAttribute(key, value);
  }
}
