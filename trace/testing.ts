/**
 * Checks of traces for tests: limits for queries, spans by name, failed spans and
 * cache hits. {@linkcode recordTrace} records the work of a function, and
 * {@linkcode expectTrace} checks a trace. It works with `Deno.test`, `node:test`,
 * `bun:test` and any other test runner.
 *
 * Durations can't be checked. They depend on the machine and its load, so such a
 * test would fail at random.
 *
 * @example Limit the queries of a page
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { traceQuery } from "@quartet/kit/trace";
 * import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
 *
 * const app = createApp({
 *   routes: [{
 *     path: "/",
 *     loader: () => traceQuery("SELECT name FROM city", () => ["Rome"]),
 *   }],
 * });
 *
 * const { trace, result } = await recordTrace(() =>
 *   app.fetch(new Request("http://localhost/"))
 * );
 * expectTrace(trace).noErrors().queries({ max: 1 });
 * console.assert(result.status === 200);
 * await app.close();
 * ```
 *
 * @module
 */

export * from "./testing/record_trace.ts";
export { expectTrace, type TraceExpectation } from "./testing/expect_trace.ts";
export type {
  CacheCheckOptions,
  CountRange,
  QueryCheckOptions,
  SpanCheckOptions,
} from "./testing/check_options.ts";
