import { parseTraceparent } from "../trace_context.ts";
import type { Attributed } from "./attributes.ts";
import { LINK, UPGRADE_LINK } from "./semantics.ts";

/** The ids of a `traceparent`. */
export interface SpanReference {
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses a link. `undefined` if it isn't a `traceparent`. */
export function parseLink(value: unknown): SpanReference | undefined {
  const link = typeof value === "string" ? parseTraceparent(value) : undefined;
  return link && { traceId: link.traceId, spanId: link.parentId };
}

/** Returns the spans that a span links to. */
export function linksOf({ attributes }: Attributed): SpanReference[] {
  const { [LINK]: link, [UPGRADE_LINK]: upgrade } = attributes;
  // Most spans have none, and long traces are searched for them often.
  if (link === undefined && upgrade === undefined) return [];
  return [link, upgrade].map(parseLink).filter((link) => link !== undefined);
}
