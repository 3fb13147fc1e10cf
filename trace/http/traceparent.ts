/** What a `traceparent` header says. */
export interface TraceParent {
  /** The trace to continue: 32 lower-case hex digits. */
  readonly traceId: string;
  /** The span that called: 16 lower-case hex digits. */
  readonly parentId: string;
  /** Whether the caller says that it records the trace. */
  readonly sampled: boolean;
}

/** Version 00 of the header, or what a higher version begins with. */
const PATTERN =
  /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;

/**
 * Reads a `traceparent` header (W3C Trace Context §3.2 and §4.3).
 *
 * @returns What it says, or `undefined` if it is absent or malformed. Then the
 * caller is to begin a trace of its own.
 */
export function parseTraceparent(
  header: string | null,
): TraceParent | undefined {
  if (header === null) return undefined;
  const match = PATTERN.exec(header);
  if (match === null) return undefined;
  const [, version, traceId, parentId, flags, rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) {
    return undefined;
  }
  if (ZEROS.test(traceId!) || ZEROS.test(parentId!)) return undefined;
  const sampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return { traceId: traceId!, parentId: parentId!, sampled };
}

/** Writes a `traceparent` header, which says whether the trace is recorded. */
export function formatTraceparent(
  span: { readonly traceId: string; readonly id: string },
  isSampled = true,
): string {
  return `00-${span.traceId}-${span.id}-${isSampled ? "01" : "00"}`;
}
