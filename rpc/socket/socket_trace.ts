/**
 * Subscriptions run when the request that opened their socket is long over.
 * Each gets a trace of its own, with that request as its parent.
 *
 * @module
 */

import { currentScope } from "../../core/request_scope.ts";
import type { SpanOpener } from "../../core/observed_span.ts";

const openers = new WeakMap<object, SpanOpener>();

/** Remembers for a connection the span that is open now, if one is. */
export function rememberTrace(data: object): void {
  const span = currentScope()?.span;
  if (span !== undefined) openers.set(data, span.continuation());
}

/** What opens a span under the request that opened a connection. */
export function traceOf(data: object): SpanOpener | undefined {
  return openers.get(data);
}
