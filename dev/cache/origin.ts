import type { ObservedSpan } from "../../core/observed_span.ts";
import { formatTraceparent } from "../../trace/trace_context.ts";
import type { Span } from "../../trace/types.ts";

/** The span that caused something, such as an invalidation. */
export interface Origin {
  /** The name of its request or job, such as `POST /posts/7`, with a procedure. */
  readonly name: string;
  /** The span, as `traceparent` writes it. */
  readonly traceparent: string;
  readonly root: WeakRef<ObservedSpan>;
}

/** A span of the tracer. */
interface FullSpan extends Span {
  readonly name?: string;
  readonly parent?: FullSpan | null;
}

/** Returns the origin of what happens in a span. `undefined` outside a trace. */
export function originOf(span: ObservedSpan | undefined): Origin | undefined {
  // Only the tracer adds spans to a scope, so they are full spans.
  const full = span as FullSpan | undefined;
  const root = full?.root as FullSpan | undefined;
  // A span that isn't recorded has no name.
  if (root?.name === undefined) return undefined;
  const name = `${procedureOf(full!)}${root.name}`;
  const traceparent = formatTraceparent(full!);
  return { name, traceparent, root: new WeakRef(root) };
}

/** All calls of a router are requests with one name, so the procedure is added. */
function procedureOf({ root, parent }: FullSpan): string {
  for (let span = parent; span && span !== root; span = span.parent) {
    if (span.name?.startsWith("rpc:")) return `${span.name} in `;
  }
  return "";
}

/** Returns the name of an origin's request, as seen from another span. */
export function requestName(
  { name, root }: Origin,
  span: ObservedSpan,
): string {
  return root.deref() === span.root ? "this request" : name;
}
