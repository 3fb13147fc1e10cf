/**
 * Decides which requests are traced.
 *
 * @module
 */

import type { ConnectionInfo } from "../../core/context.ts";
import { show } from "../../core/check/rules.ts";
import { generateTraceId, type TraceParent } from "../trace_context.ts";

/**
 * A share of the requests from 0 to 1, or a function that decides about each.
 * The function gets the decision of a trusted caller: `true` if it records the
 * trace, `false` if it doesn't. It gets `undefined` if the request has no valid
 * `traceparent` or `trustParent` doesn't trust its caller.
 */
export type Sample =
  | number
  | ((request: Request, sampled: boolean | undefined) => boolean);

/**
 * Whether to trust the `sampled` flag of a request's `traceparent`: for all
 * requests, for none, or for those that a function accepts. The function gets
 * the request and its connection, as far as the host knows it.
 */
export type TrustParent =
  | boolean
  | ((request: Request, info: ConnectionInfo | undefined) => boolean);

/**
 * Decides about a request and its `traceparent`: which trace it is part of, and
 * whether it is recorded.
 */
export type Sampler = (
  request: Request,
  parent: TraceParent | undefined,
  info: ConnectionInfo | undefined,
) => { readonly traceId: string; readonly isKept: boolean };

/**
 * Creates the sampler of a server.
 *
 * Anyone can send any trace id and any flag, so neither counts without trust. A
 * caller's trace is continued, but chance decides whether it is recorded.
 *
 * @returns The sampler, or `undefined` if all requests are traced.
 */
export function createSampler(
  sample: Sample | undefined,
  trustParent: TrustParent = false,
): Sampler | undefined {
  if (sample === undefined && trustParent === false) return undefined;

  const isTrusted = typeof trustParent === "function"
    ? (request: Request, info: ConnectionInfo | undefined) =>
      checkBoolean("trustParent", trustParent(request, info))
    : () => trustParent;

  return (request, parent, info) => {
    const traceId = parent?.traceId ?? generateTraceId();
    const sampled = parent !== undefined && isTrusted(request, info)
      ? parent.sampled
      : undefined;
    if (typeof sample === "function") {
      const isKept = checkBoolean("sample", sample(request, sampled));
      return { traceId, isKept };
    }
    if (sampled !== undefined) return { traceId, isKept: sampled };
    const chance = parent === undefined ? traceId : generateTraceId();
    // The id's last 7 bytes, cut to the 52 bits of a double, from 0 up to 1
    // (OpenTelemetry, "Probability sampling"; W3C Trace Context Level 2
    // §3.2.2.3). So services agree about a trace.
    const randomness = Number.parseInt(chance.slice(-14, -1), 16) / 2 ** 52;
    return { traceId, isKept: randomness >= 1 - (sample ?? 1) };
  };
}

/** Untyped code may return a promise, which is truthy. */
function checkBoolean(name: string, answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  const received = show(answer);
  throw new TypeError(
    `Cannot trace a request: ${name} must return true or false, received ${received}`,
  );
}
