/**
 * What `--trace` adds. Only imported then, so that without it no code of the
 * tracer is even loaded on behalf of the dev command.
 *
 * @module
 */

import type { Plugin } from "../core/plugin.ts";
import { isLocalRequest } from "../trace/http/access.ts";
import { setTracer } from "../trace/record/context.ts";
import { tracePlugin } from "../trace/http/plugin.ts";
import { createCLIReporter } from "../trace/report/cli.ts";
import { createTracer } from "../trace/record/tracer.ts";
import { exportTracesHTML } from "../trace/http/viewer.ts";
import { DevError } from "./dev_error.ts";

/** Tracing, switched on. */
export interface Tracing {
  /** Traces requests and shows them. */
  readonly plugin: Plugin;
  /** Stops printing, and writes the file that was asked for. */
  stop(): Promise<void>;
}

/**
 * Makes a tracer that prints what it records, for all that is imported.
 *
 * @param exportFile The file to write the traces to in the end.
 * @throws {DevError} If that file can't be written.
 */
export async function startTracing(
  exportFile: string | undefined,
): Promise<Tracing> {
  // Now, rather than when there are traces to lose.
  if (exportFile !== undefined) await checkWritable(exportFile);
  const tracer = createTracer();
  setTracer(tracer);
  const reporter = createCLIReporter(tracer);
  return {
    // Explicit, because without --allow-env the process counts as production.
    plugin: tracePlugin(tracer, { authorize: isLocalRequest }),
    async stop() {
      reporter.close();
      if (exportFile === undefined) return;
      await Deno.writeTextFile(exportFile, await exportTracesHTML(tracer));
      const { length } = tracer.getTraces();
      const traces = length === 1 ? "1 trace" : `${length} traces`;
      console.log(`Wrote ${traces} to ${exportFile}`);
    },
  };
}

async function checkWritable(path: string): Promise<void> {
  try {
    const isNew = await Deno.lstat(path).then(() => false, () => true);
    (await Deno.open(path, { create: true, write: true })).close();
    if (isNew) await Deno.remove(path);
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    throw new DevError(`Cannot write ${path}: ${reason}`);
  }
}
