import { getTracer } from "../record/context.ts";
import type { Span, Tracer } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces a whole build, as a span `build:<name>`: a trace of its own, or part
 * of the active one.
 *
 * @param name Names the build.
 * @param build Builds.
 * @param tracer Keeps the trace. Default: the one of `setTracer`.
 * @returns What `build` returns.
 *
 * @example
 * ```ts
 * import { createTracer, traceBuild, traceBuildStage } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * await traceBuild("site", async () => {
 *   await traceBuildStage("bundle", () => Promise.resolve());
 *   await traceBuildStage("minify", () => Promise.resolve());
 * }, tracer);
 * console.assert(tracer.getTraces()[0]?.spans.size === 3);
 * ```
 */
export function traceBuild<T>(
  name: string,
  build: (span: Span) => T,
  tracer: Tracer = getTracer(),
): T {
  return tracer.withSpan(`build:${name}`, "build", build);
}

/**
 * Traces one stage of a build, as a span `build:<stage>`.
 *
 * @param stage Names the stage, such as `bundle`.
 * @param run Runs it.
 * @returns What `run` returns.
 */
export function traceBuildStage<T>(
  stage: string,
  run: (span: Span) => T,
): T {
  return inSpan(`build:${stage}`, "build", run);
}
