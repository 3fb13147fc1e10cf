/**
 * Functions that run work in a span below the active one, for each layer. If
 * nothing is traced, they only run the work.
 *
 * @module
 */

import { isResponse } from "../../core/http/message.ts";
import { attempt, whenDone } from "../../core/promises.ts";
import { isDevCommand } from "../../core/runtime/environment.ts";
import { currentScope } from "../../core/request_scope.ts";
import { noopTracer } from "../noop_tracer.ts";
import { getActiveSpan, getTracer, inSpan } from "../record/context.ts";
import type { Layer, Span, Tracer } from "../types.ts";

/**
 * Traces work of your own. Outside of a request it only does the work, and
 * under `dev --trace` it prints that once. `tracer.withSpan` starts a trace
 * there.
 *
 * @param name The name of the work.
 * @param layer The part of the application that does it.
 * @param fn Does it. It gets the span.
 * @returns The result of `fn`. A result with a `then` method becomes a promise.
 *
 * @example
 * ```ts
 * import { withSpan } from "@quartet/kit/trace";
 *
 * const sorted = withSpan("sort", "custom", (span) => {
 *   span.setAttribute("items", 3);
 *   return [3, 1, 2].sort();
 * });
 * console.assert(sorted[0] === 1);
 * ```
 */
export function withSpan<T>(
  name: string,
  layer: Layer,
  fn: (span: Span) => T,
): T {
  noteOutside(name);
  return inSpan(name, layer, fn);
}

let isNoted = false;

/** Prints once, under `dev --trace`, that a span has no trace to belong to. */
function noteOutside(name: string): void {
  if (isNoted || !isDevCommand() || currentScope() !== undefined) return;
  if (getTracer() === noopTracer) return;
  isNoted = true;
  console.warn(
    "Traces: withSpan(%s) records nothing outside of a request. To start a trace there, call getTracer().withSpan().",
    JSON.stringify(name),
  );
}

/**
 * Traces the search for a route, as a span `route.match`.
 *
 * @param match Finds the route.
 * @returns The result of `match`.
 *
 * @example
 * ```ts
 * import { recordRouteMatch, traceRouteMatch } from "@quartet/kit/trace";
 *
 * const routes = new Map([["/", "home"]]);
 * const page = traceRouteMatch(() => {
 *   recordRouteMatch("/");
 *   return routes.get("/");
 * });
 * console.assert(page === "home");
 * ```
 */
export function traceRouteMatch<T>(match: (span: Span) => T): T {
  return inSpan("route.match", "routing", match);
}

/**
 * Traces the loading of a route's data, as a span `loader:<name>`.
 *
 * @param name The name of the loader.
 * @param load Loads the data.
 * @returns The result of `load`.
 *
 * @example
 * ```ts
 * import { traceLoader } from "@quartet/kit/trace";
 *
 * const country = await traceLoader("country", () => Promise.resolve("FRA"));
 * console.assert(country === "FRA");
 * ```
 */
export function traceLoader<T>(name: string, load: (span: Span) => T): T {
  return inSpan(`loader:${name}`, "data", load);
}

/**
 * Traces work on a cache, as a span `cache.<operation>` of the data layer.
 *
 * @param operation The operation: `get`, `set`, `delete`, …
 * @param key The key of the entry.
 * @param run Does it. It may set `app.cache.result` to `hit`, `stale` or `miss`.
 * @returns The result of `run`.
 */
export function traceCacheOperation<T>(
  operation: string,
  key: string,
  run: (span: Span) => T,
): T {
  return inSpan(`cache.${operation}`, "data", run, { "app.cache.key": key });
}

/**
 * Traces the handling of a submitted form, as a span `form:<name>`.
 *
 * @param name The name of the form.
 * @param submit Handles it.
 * @returns The result of `submit`.
 *
 * @example
 * ```ts
 * import { recordFormValidation, traceFormSubmit } from "@quartet/kit/trace";
 *
 * const saved = traceFormSubmit("sign-up", () => {
 *   recordFormValidation({ errors: { email: "is required" } });
 *   return false;
 * });
 * console.assert(saved === false);
 * ```
 */
export function traceFormSubmit<T>(name: string, submit: (span: Span) => T): T {
  return inSpan(`form:${name}`, "forms", submit);
}

/**
 * Traces the call of a procedure, as a span `rpc:<path>`.
 *
 * @param path The procedure's dotted path, such as `posts.list`.
 * @param type The kind of procedure.
 * @param call Calls it.
 * @returns The result of `call`.
 *
 * @example
 * ```ts
 * import { traceRPCCall } from "@quartet/kit/trace";
 *
 * const sum = traceRPCCall("math.add", "query", () => 1 + 2);
 * console.assert(sum === 3);
 * ```
 */
export function traceRPCCall<T>(
  path: string,
  type: "query" | "mutation" | "subscription",
  call: (span: Span) => T,
): T {
  return inSpan(`rpc:${path}`, "rpc", call, {
    "rpc.system.name": "quartet",
    "rpc.method": path,
    "app.rpc.type": type,
  });
}

/**
 * Traces an access check, as a span `auth:<check>`. A boolean result is
 * recorded as `app.auth.allowed`.
 *
 * @param check The name of the check, such as `session` or `role:admin`.
 * @param run Does the check.
 * @returns The result of `run`. A result with a `then` method becomes a
 * promise.
 *
 * @example
 * ```ts
 * import { traceAuthCheck } from "@quartet/kit/trace";
 *
 * const allowed = await traceAuthCheck("role:admin", () => Promise.resolve(true));
 * console.assert(allowed);
 * ```
 */
export function traceAuthCheck<T>(check: string, run: (span: Span) => T): T {
  return inSpan(`auth:${check}`, "auth", (span) => {
    const note = (result: unknown) => {
      if (typeof result === "boolean") {
        span.setAttribute("app.auth.allowed", result);
      }
      return result;
    };
    return whenDone(run(span), note);
  }) as T;
}

/**
 * Traces the hydration of an island, as a span `hydrate:<component>`.
 *
 * @param component The name of the component.
 * @param hydrate Hydrates it.
 * @returns The result of `hydrate`.
 *
 * @example
 * ```ts
 * import { traceHydration } from "@quartet/kit/trace";
 *
 * const root = traceHydration("Cart", () => ({ mounted: true }));
 * console.assert(root.mounted);
 * ```
 */
export function traceHydration<T>(
  component: string,
  hydrate: (span: Span) => T,
): T {
  return inSpan(`hydrate:${component}`, "islands", hydrate, {
    "app.island.component": component,
  });
}

/**
 * Traces a whole build, as a span `build:<name>`: a trace of its own, or part of
 * the active one.
 *
 * @param name The name of the build.
 * @param build Builds.
 * @param tracer Keeps the trace. Default: the one of `setTracer`.
 * @returns The result of `build`.
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
 * @param stage The name of the stage, such as `bundle`.
 * @param run Runs it.
 * @returns The result of `run`.
 */
export function traceBuildStage<T>(stage: string, run: (span: Span) => T): T {
  return inSpan(`build:${stage}`, "build", run);
}

/**
 * Wraps a function so that its errors are recorded on the active span. A thrown
 * `Response` isn't an error.
 *
 * @param fn Any function.
 * @returns A function of the same type, with the same `this`. In a trace, a
 * result with a `then` method, such as a lazy query, becomes a promise.
 *
 * @example
 * ```ts
 * import { withErrorCapture } from "@quartet/kit/trace";
 *
 * const parse = withErrorCapture((text: string) => JSON.parse(text));
 * console.assert(parse("1") === 1);
 * ```
 */
export function withErrorCapture<
  // deno-lint-ignore no-explicit-any -- unknown[] excludes parameters, never[] those without a type
  F extends (this: any, ...args: any[]) => unknown,
>(fn: F): F {
  return function (this: ThisParameterType<F>, ...args: Parameters<F>) {
    const span = getActiveSpan();
    if (span === undefined) return fn.apply(this, args);
    return attempt(() => fn.apply(this, args), (error) => {
      if (!isResponse(error)) span.error(error);
      throw error;
    });
  } as F;
}
