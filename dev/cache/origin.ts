import type { ObservedSpan } from "../../core/observed_span.ts";
import { formatTraceparent } from "../../trace/trace_context.ts";
import type { Span } from "../../trace/types.ts";

/** The span that caused something, such as an invalidation. */
export interface Origin {
  /** The name of its request or job, such as `POST /posts/7`. */
  readonly name: string;
  /** The span, as `traceparent` writes it. */
  readonly traceparent: string;
  readonly root: WeakRef<ObservedSpan>;
}

/** Returns the origin of what happens in a span. `undefined` outside a trace. */
export function originOf(span: ObservedSpan | undefined): Origin | undefined {
  // Only the tracer adds spans to a scope, so they are full spans.
  const { root } = (span ?? {}) as Partial<Span & ObservedSpan>;
  const { name } = Object(root) as { readonly name?: unknown };
  if (root === undefined || typeof name !== "string") return undefined;
  const traceparent = formatTraceparent(span as Span & ObservedSpan);
  return { name, traceparent, root: new WeakRef(root) };
}

/** Whether code in a span belongs to the request of an origin. */
export function isSameRequest(span: ObservedSpan, { root }: Origin): boolean {
  return root.deref() === span.root;
}
