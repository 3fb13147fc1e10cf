/**
 * Adds tracing for `--trace`. Without that option this file isn't imported, so
 * the dev command loads no code of the tracer.
 *
 * @module
 */

import process from "node:process";
import type { Middleware } from "../core/middleware.ts";
import type { Plugin } from "../core/plugin.ts";
import { isLocalRequest } from "../trace/http/access.ts";
import { deferring } from "../trace/http/middleware_options.ts";
import { tracePlugin } from "../trace/http/plugin.ts";
import { setTracer } from "../trace/record/context.ts";
import { createTracer } from "../trace/record/tracer.ts";
import type { DevOptions } from "./arguments.ts";
import { startCaches } from "./cache/start.ts";
import { startExport } from "./export_file.ts";
import { startFetch } from "./fetch/start.ts";
import { startFindings } from "./findings/start.ts";
import { startLocations } from "./locations/start.ts";
import { startTerminal } from "./logs/start.ts";
import { startMCP } from "./mcp/start.ts";
import { startPanel } from "./panel/start.ts";
import { startRuns } from "./runs/start.ts";
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
  /** Shows unhandled errors to browsers, and adds the panel to pages. */
  readonly middleware: readonly Middleware[];
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
  let viewerURL: string | undefined;
  const tracer = createTracer(LIMITS);
  const exported = exportFile === undefined
    ? undefined
    : await startExport(tracer, exportFile);
  setTracer(tracer);
  deferring.add(tracer);
  const findings = startFindings(tracer);
  const runs = await startRuns(tracer, {
    cwd: process.cwd(),
    entry,
    fresh,
    limits: LIMITS,
    onSlower: findings.add,
  });
  const panel = hasPanel ? startPanel(tracer, findings) : undefined;
  startMCP({ tracer, findings, runs });
  /** Closed in this order. Writing a trace looks up its lines of code. */
  const parts = [
    startTerminal(tracer, () => viewerURL),
    startCaches(tracer),
    startFetch(),
    findings,
    panel,
    to && (await import("./forwarding.ts")).startForwarding(tracer, to, entry),
    runs,
    exported,
    startLocations(tracer),
  ];
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
    middleware: [showErrors(tracer), ...panel ? [panel.middleware] : []],
    async close() {
      await new Promise((resolve) => setTimeout(resolve, CUT_OFF));
      for (const part of parts) await part?.close();
    },
  };
}
