/**
 * What `--trace` adds. Only imported then, so that without it no code of the
 * tracer is even loaded on behalf of the dev command.
 *
 * @module
 */

import type { Plugin } from "../app/plugin.ts";
import { setTracer } from "../trace/context.ts";
import { tracePlugin } from "../trace/plugin.ts";
import { createCLIReporter } from "../trace/report/cli.ts";
import { createTracer } from "../trace/tracer.ts";

/** Tracing, switched on. */
export interface Tracing {
  /** Traces requests and shows them. */
  readonly plugin: Plugin;
  /** Stops printing. */
  stop(): void;
}

/** Makes a tracer that prints what it records, for all that is imported. */
export function startTracing(): Tracing {
  const tracer = createTracer();
  setTracer(tracer);
  const reporter = createCLIReporter(tracer);
  return { plugin: tracePlugin(tracer), stop: () => reporter.stop() };
}
