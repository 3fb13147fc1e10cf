/**
 * The headers of W3C Trace Context: `traceparent` and `tracestate`.
 *
 * @module
 */

import type { Span } from "./types.ts";

/** The content of a `traceparent` header. */
export interface TraceParent {
  /** The trace to continue: 32 lower-case hex digits. */
  readonly traceId: string;
  /** The span that called: 16 lower-case hex digits. */
  readonly parentId: string;
  /** Whether the caller says that it records the trace. */
  readonly sampled: boolean;
}

/** Version 00 of the header, or the start of a higher version. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Maximum members of a `tracestate` (section 3.3.1.1). */
const MAX_MEMBERS = 32;

/**
 * Parses a `traceparent` header (sections 3.2 and 4.3).
 *
 * @returns The content, or `undefined` if the header is absent or malformed.
 */
export function parseTraceparent(
  header: string | null = null,
): TraceParent | undefined {
  const match = header === null ? null : TRACEPARENT.exec(header);
  if (match === null) return undefined;
  const [, version, traceId, parentId, flags, rest] = match;
  if (version === "00" && rest !== undefined) return undefined;
  const sampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return { traceId: traceId!, parentId: parentId!, sampled };
}

/**
 * Returns a `traceparent` header. Its flag says whether the trace is recorded.
 */
export function formatTraceparent(
  { traceId, id }: Pick<Span, "traceId" | "id">,
  isSampled = true,
): string {
  return `00-${traceId}-${id}-${isSampled ? "01" : "00"}`;
}

/** The `tracestate` of the request that a span is the root of. */
const states = new WeakMap<Span, string>();

/**
 * Keeps a request's `tracestate` for outgoing requests. It belongs to other
 * systems, so it is passed on unchanged (section 3.3.1.3), or dropped if it is
 * too long.
 */
export function keepTracestate(root: Span, headers: Headers): void {
  const state = headers.get("tracestate");
  if (!state || state.split(",", MAX_MEMBERS + 1).length > MAX_MEMBERS) return;
  states.set(root, state);
}

/** Returns the `tracestate` to send with `traceparent` from within a span. */
export function tracestateOf(span: Span): string | undefined {
  const { root } = span;
  // It may be another request inside, or work of the same layer.
  const { parent } = root as { readonly parent?: Span | null };
  return states.get(root) ?? (parent ? tracestateOf(parent) : undefined);
}
