/**
 * The options of the tracing middleware, also under the dev command.
 *
 * The dev command traces each request before the app sees it. The first tracing
 * middleware of the app doesn't trace the request again: it changes the trace
 * that the command has started.
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { matching, rule, show } from "../../core/check/rules.ts";
import type { RequestScope } from "../../core/request_scope.ts";
import { SpanImpl } from "../record/span.ts";
import { checkTracer, settingsOf } from "../record/tracer_options.ts";
import type { Attributes, Span, Tracer } from "../types.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { generateTraceId, type TraceParent } from "../trace_context.ts";

/** Settings of the trace middleware. */
export interface TraceMiddlewareOptions {
  /**
   * Paths that aren't traced, in addition to `/__app/` and `/favicon.ico`:
   * exact paths, with or without a slash at their end, or prefixes that end in
   * `/`.
   */
  readonly exclude?: readonly string[];
  /**
   * Request headers to keep as attributes: names, or `true` for all. Cookies,
   * credentials and API keys are never kept. Default: none.
   */
  readonly recordHeaders?: boolean | readonly string[];
  /**
   * Which requests are traced: a share of them from 0 to 1, or a function that
   * decides about each. Unsampled requests aren't recorded.
   *
   * A caller can neither force nor suppress the recording. Chance decides rather
   * than the trace id or the flag in `traceparent`. To follow the decision of
   * some callers, set `trustParent`.
   *
   * Default: all of them.
   */
  readonly sample?: Sample;
  /**
   * The callers whose decision to record is trusted: `true` for all, or a
   * function that accepts some, such as those behind your gateway. A trusted
   * decision replaces a share. A `sample` function gets it as second argument.
   * The trace id is continued in any case.
   *
   * Default: `false`, no caller.
   */
  readonly trustParent?: TrustParent;
}

/** The rules of {@linkcode TraceMiddlewareOptions}. */
export const TRACE_MIDDLEWARE: OptionRules<TraceMiddlewareOptions> = {
  exclude: rule("an array of paths", Array.isArray),
  recordHeaders: rule(
    "a boolean or an array of names",
    (value) => typeof value === "boolean" || Array.isArray(value),
  ),
  sample: rule(
    "a number from 0 to 1 or a function",
    (value) =>
      typeof value === "function" ||
      typeof value === "number" && value >= 0 && value <= 1,
  ),
  trustParent: rule(
    "a boolean or a function",
    (value) => typeof value === "boolean" || typeof value === "function",
  ),
};

/** Other strings, such as globs, would match no request. */
const aPath = matching(
  'paths such as "/health", or prefixes such as "/static/", without a query or "*"',
  /^\/[^?#*]*$/,
);

/** A token (RFC 9110, section 5.6.2). */
const aHeaderName = matching("names of headers", /^[!#$%&'*+\-.^_`|~\w]+$/);

/** @throws {TypeError} If an option is wrong or unknown. */
export function checkMiddlewareOptions(
  tracer: Tracer,
  options: TraceMiddlewareOptions,
): void {
  const operation = "trace requests";
  checkOptions(options, TRACE_MIDDLEWARE, operation);
  checkTracer(tracer, operation, "startTrace");
  for (const path of options.exclude ?? []) {
    checkValue(path, "exclude", aPath, operation);
  }
  const { recordHeaders } = options;
  for (const name of Array.isArray(recordHeaders) ? recordHeaders : []) {
    checkValue(name, "recordHeaders", aHeaderName, operation);
  }
}

const NEVER_TRACED = ["/__app/", "/favicon.ico"];

/** Creates a predicate for paths that aren't traced. */
export function createExclusion(
  exclude: readonly string[],
): (path: string) => boolean {
  const all = [...NEVER_TRACED, ...exclude];
  const prefixes = all.filter((entry) => entry.length > 1 && hasSlash(entry));
  const exact = new Set(all);
  return (path) =>
    exact.has(path) ||
    // Routes match with and without the slash.
    hasSlash(path) && exact.has(path.slice(0, -1)) ||
    prefixes.some((prefix) => path.startsWith(prefix));
}

function hasSlash(path: string): boolean {
  return path.endsWith("/");
}

/** The tracers whose traces follow the settings of the app's own tracing. */
export const deferring = new WeakSet<Tracer>();

/** The requests whose trace the app's own tracing may still decide about. */
export const undecided = new WeakSet<Span>();

/** Whether the caller may decide about a request's trace. Only the first may. */
export function isUndecided(root: Span): root is SpanImpl {
  return undecided.delete(root) && root instanceof SpanImpl;
}

/** Removes the trace of an excluded request. Its spans are no longer recorded. */
export function dropTrace(
  root: SpanImpl,
  scope: RequestScope | undefined,
): void {
  for (; scope !== undefined; scope = scope.outer) {
    if (scope.span === root) scope.span = scope.tracedRequest = undefined;
  }
  root.trace.follow({ minDurationMs: Infinity });
  root.end();
}

/** Applies the settings of the app's tracer, and adds attributes of the request. */
export function adjustTrace(
  root: SpanImpl,
  tracer: Tracer,
  attributes: Attributes,
): void {
  root.trace.follow(settingsOf.get(tracer) ?? {});
  for (const [key, value] of Object.entries(attributes)) {
    root.setAttribute(key, value);
  }
}

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
