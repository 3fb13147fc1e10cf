/**
 * Which requests are traced, where not all of them are.
 *
 * @module
 */

import { refuseOption } from "./check.ts";
import { generateTraceId } from "./ids.ts";
import type { TraceParent } from "./traceparent.ts";

/**
 * A share of the requests from 0 to 1, or what decides about each. It gets
 * what the caller says: that it keeps the trace, or doesn't; `undefined` if
 * it has sent no valid `traceparent`.
 */
export type Sample =
  | number
  | ((request: Request, sampled: boolean | undefined) => boolean);

/** What has been decided about a request. */
export interface Decision {
  /** The trace that it is part of. */
  readonly traceId: string;
  /** Whether it is traced. */
  readonly isKept: boolean;
}

/**
 * Makes what decides about requests, by what came in `traceparent` with them.
 *
 * @throws {TypeError} If it is neither a share nor a function.
 */
export function createSampler(
  sample: Sample,
): (request: Request, parent: TraceParent | undefined) => Decision {
  const isShare = typeof sample === "number" && sample >= 0 && sample <= 1;
  if (!isShare && typeof sample !== "function") {
    const must = "sample must be a number from 0 to 1 or a function";
    refuseOption("trace requests", must, sample);
  }
  return (request, parent) => {
    const traceId = parent?.traceId ?? generateTraceId();
    const isKept = typeof sample === "function"
      ? checkBoolean(sample(request, parent?.sampled))
      : parent?.sampled !== false && randomnessOf(traceId) >= 1 - sample;
    return { traceId, isKept };
  };
}

/** A promise, which code without types may give, would be taken for a yes. */
function checkBoolean(answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  refuseOption("trace a request", "sample must give true or false", answer);
}

/**
 * The randomness that all services read from a trace id alike, from 0 up to
 * 1: the 7 bytes at its end (OpenTelemetry, "Probability sampling"; W3C Trace
 * Context Level 2 §3.2.2.3), of which a double holds 52 bits.
 */
function randomnessOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-14, -1), 16) / 2 ** 52;
}
