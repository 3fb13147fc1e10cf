/**
 * Adds tracing for `--trace`. Without that option this file isn't imported, so
 * the dev command loads no code of the tracer.
 *
 * @module
 */

import { appendFile, lstat, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import type { Middleware } from "../core/middleware.ts";
import type { Plugin } from "../core/plugin.ts";
import { isLocalRequest } from "../trace/http/access.ts";
import { setTracer } from "../trace/record/context.ts";
import { deferToApp } from "../trace/http/own_settings.ts";
import { tracePlugin } from "../trace/http/plugin.ts";
import { reportTraces } from "../trace/report/cli.ts";
import { createTracer } from "../trace/record/tracer.ts";
import { startFindings } from "./findings/start.ts";
import { exportTracesHTML } from "../trace/http/viewer.ts";
import type { DevOptions } from "./arguments.ts";
import { watchCaches } from "./cache/start.ts";
import { DevError } from "./dev_error.ts";
import { traceFetch } from "./fetch/trace_fetch.ts";
import { recordLocations } from "./locations/locations.ts";
import { captureConsole } from "./logs/capture_console.ts";
import { logLines } from "./logs/log_lines.ts";
import { addMCP } from "./mcp/mcp.ts";
import { startRuns } from "./runs/runs.ts";
import { startPanel } from "./panel/start.ts";
import { showErrors } from "./show_errors.ts";

/**
 * A page, its resources and all their spans fit into one trace. Its requests are
 * traces of their own until the page has been loaded.
 */
const LIMITS = { maxTraces: 1_000, maxSpansPerTrace: 2_000 };

/**
 * How long the traces of cut off responses may end after the server, in
 * milliseconds.
 */
const CUT_OFF = 20;

/** The tracing of a dev command. */
export interface Tracing {
  /** Traces requests and shows them. */
  readonly plugin: Plugin;
  /** Shows unhandled errors to browsers. */
  readonly showErrors: Middleware;
  /** Adds the panel to pages. Absent with `--no-panel`. */
  readonly panel: Middleware | undefined;
  /** Called with the server's URL. The terminal then links to each trace. */
  onListen(url: string): void;
  /** Stops printing, writes the export file, and sends the last traces. */
  close(): Promise<void>;
}

/**
 * Creates a tracer that prints its traces, and makes it the default tracer.
 *
 * @throws {DevError} If the export file can't be written.
 */
export async function startTracing(
  { exportFile, to, entry, fresh, panel: hasPanel }: DevOptions,
): Promise<Tracing> {
  // Checked first: later there would be traces to lose.
  if (exportFile !== undefined) await checkWritable(exportFile);
  const tracer = createTracer(LIMITS);
  const stop = to === undefined
    ? undefined
    : (await import("./forwarding.ts")).forwardTraces(tracer, to, entry);
  setTracer(tracer);
  deferToApp(tracer);
  const parts = [
    recordLocations(tracer),
    watchCaches(tracer),
    traceFetch(),
  ];
  let viewerURL: string | undefined;
  addMCP(tracer);
  const logs = captureConsole(tracer);
  const reporter = reportTraces(
    tracer,
    { viewerURL: () => viewerURL },
    (trace, paint) => logLines(logs.take(trace), paint),
  );
  const findings = startFindings(tracer);
  const closeRuns = await startRuns(tracer, {
    cwd: process.cwd(),
    entry,
    fresh,
    limits: LIMITS,
    onSlower: findings.add,
  });
  const panel = hasPanel ? startPanel(tracer, findings) : undefined;
  return {
    onListen(url) {
      viewerURL = `${url}__app/traces`;
      console.log(`Traces at    ${viewerURL}`);
      console.log(
        to === undefined
          ? `Services set OTEL_EXPORTER_OTLP_ENDPOINT=${viewerURL}/otlp`
          : `Traces go to ${to.origin}/__app/traces`,
      );
      console.log(`Assistants   connect to ${viewerURL}/mcp by MCP over HTTP`);
    },
    // Explicit, because without --allow-env the process counts as production.
    plugin: tracePlugin(tracer, { authorize: isLocalRequest }),
    showErrors: showErrors(tracer),
    panel: panel?.middleware,
    async close() {
      await new Promise((resolve) => setTimeout(resolve, CUT_OFF));
      logs.close();
      reporter.close();
      findings.close();
      for (const end of parts) end();
      await panel?.close();
      await stop?.();
      await closeRuns();
      if (exportFile === undefined) return;
      const present = tracer.getTraces().filter(({ metadata }) =>
        metadata.run === undefined
      );
      await writeFile(exportFile, await exportTracesHTML(present));
      const { length } = present;
      const traces = length === 1 ? "1 trace" : `${length} traces`;
      console.log(`Wrote ${traces} to ${exportFile}`);
    },
  };
}

async function checkWritable(path: string): Promise<void> {
  try {
    const isNew = await lstat(path).then(() => false, () => true);
    // Appending nothing leaves an existing file as it is.
    await appendFile(path, "");
    if (isNew) await rm(path);
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    throw new DevError(`Cannot write ${path}: ${reason}`);
  }
}
