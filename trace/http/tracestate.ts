import type { Span } from "../types.ts";

/** What came with the request that a span is the root of. */
const states = new WeakMap<Span, string>();

/** The most members that there may be (W3C Trace Context §3.3.1.1). */
const MAX_MEMBERS = 32;

/**
 * Keeps what a request's `tracestate` says, for those that the request makes
 * in its turn. It is other systems' own matter, so it is handed on as it came
 * (W3C Trace Context §3.3.1.3), or not at all if it is longer than allowed.
 */
export function keepTracestate(root: Span, headers: Headers): void {
  const state = headers.get("tracestate");
  if (!state || state.split(",", MAX_MEMBERS + 1).length > MAX_MEMBERS) return;
  states.set(root, state);
}

/** The `tracestate` to send with `traceparent` from within a span. */
export function tracestateOf(span: Span): string | undefined {
  return states.get(span.root);
}
