/**
 * Sends the traces of this process to the viewer of another one, for `--to`.
 *
 * @module
 */

import { basename, dirname, resolve } from "node:path";
import { redactMessage } from "../core/redact/redact.ts";
import { runOutside } from "../core/request_scope.ts";
import { createOTLPExporter } from "../trace/export/otlp_exporter.ts";
import type { Tracer } from "../trace/types.ts";

/** How long traces wait for others, in milliseconds. */
const DELAY = 100;

/** How long the end of the process waits for the last ones, in milliseconds. */
const CLOSE_TIMEOUT = 200;

/**
 * Sends the traces of a tracer to another process. Spans that it received from
 * other services aren't sent: their processes send these themselves.
 *
 * @param to The address of the other process.
 * @param entry The file of this process's app, which names the service.
 */
export function startForwarding(
  tracer: Tracer,
  to: URL,
  entry: string,
): { close(): Promise<void> } {
  // The app may replace the global one, as by mocks.
  const { fetch } = globalThis;
  const exporter = createOTLPExporter({
    fetch: (input, init) => runOutside(() => fetch(input, init)),
    url: new URL("/__app/traces/otlp/v1/traces", to).href,
    serviceName: serviceNameOf(entry),
    batch: { maxDelayMs: DELAY },
    onError: ({ message }) =>
      console.warn(
        `${redactMessage(message)}. Is dev --trace running there?`,
      ),
  });
  exporter.attach(tracer);
  return { close: () => exporter.close({ timeoutMs: CLOSE_TIMEOUT }) };
}

/** File names that don't say what the app is. Its folder does. */
const ENTRY_NAME = /^(?:main|index|mod|app|server)$/;

function serviceNameOf(entry: string): string {
  const name = basename(entry).replace(/\.\w+$/, "");
  return ENTRY_NAME.test(name) ? basename(dirname(resolve(entry))) : name;
}
