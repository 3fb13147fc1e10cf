import type { SpanData } from "../types.ts";
import { LINK, UPGRADE_LINK } from "./semantics.ts";

/** The ids of a `traceparent`. */
export interface SpanReference {
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses a link. `undefined` if it isn't a `traceparent`. */
export function parseLink(value: unknown): SpanReference | undefined {
  if (typeof value !== "string" || value.length < 55) return undefined;
  const [, traceId, spanId] =
    /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(value) ?? [];
  return traceId === undefined || spanId === undefined
    ? undefined
    : { traceId, spanId };
}

/** Returns the spans that a span links to. */
export function linksOf({ attributes }: SpanData): SpanReference[] {
  return [parseLink(attributes[LINK]), parseLink(attributes[UPGRADE_LINK])]
    .filter((link) => link !== undefined);
}
