/**
 * What the tracing middleware is told, and what is left out in any case.
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { checkMethods, refuseOption } from "../record/check.ts";
import type { Sample, TrustParent } from "../record/sampling.ts";
import type { Tracer } from "../types.ts";

/** Settings of the trace middleware. */
export interface TraceMiddlewareOptions {
  /**
   * Paths that are not traced, in addition to `/__app/` and `/favicon.ico`:
   * exact ones, or prefixes ending in `/`.
   */
  readonly exclude?: readonly string[];
  /**
   * Request headers to keep as attributes: names, or `true` for all. Cookies,
   * credentials and API keys are never kept. Default: none.
   */
  readonly recordHeaders?: boolean | readonly string[];
  /**
   * Which requests are traced: a share of them from 0 to 1, or a function that
   * decides about each. Of the others nothing is recorded.
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

/** The keys of {@linkcode TraceMiddlewareOptions}. */
export const TRACE_MIDDLEWARE: OptionRules<TraceMiddlewareOptions> = {
  exclude: true,
  recordHeaders: true,
  sample: true,
  trustParent: true,
};

const TRACE = "trace requests";

const NEVER_TRACED = ["/__app/", "/favicon.ico"];

/** @throws {TypeError} If an option is wrong or unknown. */
export function checkMiddleware(
  tracer: Tracer,
  options: TraceMiddlewareOptions,
): void {
  checkOptions(options, TRACE_MIDDLEWARE, TRACE);
  const { exclude = [], recordHeaders = false } = options;
  checkMethods(TRACE, "tracer", tracer, ["startTrace"]);
  checkPaths(exclude);
  checkHeaders(recordHeaders);
}

/** Makes what tells whether a path is left out. */
export function createExclusion(
  exclude: readonly string[],
): (path: string) => boolean {
  const excluded = [...NEVER_TRACED, ...exclude];
  return (path) =>
    excluded.some((entry) =>
      entry.length > 1 && entry.endsWith("/")
        ? path.startsWith(entry)
        : path === entry
    );
}

/** Others match no request, which has a path without query and fragment. */
function checkPaths(exclude: readonly unknown[]): void {
  if (!Array.isArray(exclude)) {
    refuseOption(TRACE, "exclude must be an array of paths", exclude);
  }
  for (const path of exclude) {
    if (typeof path === "string" && /^\/[^?#]*$/.test(path)) continue;
    const must = 'exclude must be paths such as "/health", without a query';
    refuseOption(TRACE, must, path);
  }
}

/** A token of RFC 9110 §5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;

function checkHeaders(recordHeaders: boolean | readonly unknown[]): void {
  if (typeof recordHeaders === "boolean") return;
  if (!Array.isArray(recordHeaders)) {
    const must = "recordHeaders must be a boolean or an array of names";
    refuseOption(TRACE, must, recordHeaders);
  }
  for (const name of recordHeaders) {
    if (typeof name === "string" && HEADER_NAME.test(name)) continue;
    refuseOption(TRACE, "recordHeaders must be names of headers", name);
  }
}
