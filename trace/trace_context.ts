/**
 * The ids and headers of W3C Trace Context: `traceparent` and `tracestate`.
 *
 * @module
 */

import { isHex, toHex } from "../core/bytes/bytes.ts";
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

/** Fills an array with random bytes, as `crypto.getRandomValues` does. */
export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => void;

/**
 * Whether a value is an id of some bytes: 16 for a trace, 8 for a span. An
 * all-zero id is invalid.
 */
export function isId(value: unknown, bytes: number): value is string {
  return typeof value === "string" && isHex(value, bytes) &&
    !ZEROS.startsWith(value);
}

/** Creates ids from one source of randomness. */
export interface IdGenerator {
  /** 32 lower-case hex digits, never all zero. */
  traceId(): string;
  /** 16 lower-case hex digits, never all zero. */
  spanId(): string;
}

const ZEROS = "0".repeat(32);

/**
 * The number of random bytes for each call, which costs more than the bytes.
 */
const POOL_SIZE = 4096;

/**
 * Creates a generator of ids (W3C Trace Context §3.2.2.3 and §3.2.2.4).
 *
 * @param random The source of randomness. Default: the system's.
 */
export function createIdGenerator(
  random: RandomSource = (bytes) => crypto.getRandomValues(bytes),
): IdGenerator {
  const pool = new Uint8Array(POOL_SIZE);
  let used = POOL_SIZE;

  /** An all-zero id is invalid, so another one is drawn. */
  function next(length: number): string {
    while (true) {
      if (used + length > POOL_SIZE) {
        random(pool);
        used = 0;
      }
      const id = toHex(pool.subarray(used, used += length));
      if (!ZEROS.startsWith(id)) return id;
    }
  }

  return { traceId: () => next(16), spanId: () => next(8) };
}

/** The generator for tracers without their own `random`. */
export const systemIds: IdGenerator = createIdGenerator();

/**
 * Returns a random trace id (W3C Trace Context §3.2.2.3).
 *
 * @returns 32 lower-case hex digits, never all zero.
 *
 * @example
 * ```ts
 * import { generateTraceId } from "@quartet/kit/trace";
 *
 * console.assert(/^[0-9a-f]{32}$/.test(generateTraceId()));
 * ```
 */
export function generateTraceId(): string {
  return systemIds.traceId();
}

/**
 * Returns a random span id (W3C Trace Context §3.2.2.4).
 *
 * @returns 16 lower-case hex digits, never all zero.
 *
 * @example
 * ```ts
 * import { generateSpanId } from "@quartet/kit/trace";
 *
 * console.assert(/^[0-9a-f]{16}$/.test(generateSpanId()));
 * ```
 */
export function generateSpanId(): string {
  return systemIds.spanId();
}
