/**
 * The documentation of the traces API, for people and scripts.
 *
 * @module
 */

import { routesOf } from "../http/access.ts";
import { LAYERS } from "../export/semantics.ts";
import type { Tracer } from "../types.ts";

const PARAMETERS = `\
GET /__app/traces/api returns { traces, total } as JSON, the newest first.
Each parameter narrows the result:

  id=…           one trace, or 404; all other parameters are ignored
  traceId=…      the trace with this id, in the form of a list
  method=GET     the method of a request
  path=/books    text that the path of a request contains
  status=404     the status of a request, or a class such as 5xx
  layer=…        a layer that a span has: ${LAYERS.slice(0, 6).join(", ")},
                 ${LAYERS.slice(6).join(", ")}
  minDuration=…  least duration, in milliseconds
  after=…        start after this time, in epoch milliseconds
  run=present    the present run, or the start of an earlier run of the dev
                 command, in epoch milliseconds
  limit=100      maximum traces

A trace has id, startTime, endTime and duration in milliseconds, metadata and
spans. A span has name, layer, status, attributes and events. Logs are events
with the name log, and log.severity and log.body.

Other paths:

  /__app/traces                the viewer
  /__app/traces/ws             a WebSocket with the traces, live
  /__app/traces/otlp/v1/…      takes traces and logs of other services by OTLP
`;

/** The paths that the dev command adds. */
const ADDED = {
  "/findings": "causes that were found, as JSON; traceId=… for one trace",
  "/runs": "the runs of the app and how their routes differ, as JSON",
  "/cache": "the caches of the app, as JSON",
  "/mcp": "tools for assistants, by the Model Context Protocol",
};

/** Whether a request asks for the documentation. */
export function wantsHelp(
  { headers }: Request,
  query: URLSearchParams,
): boolean {
  return query.has("help") ||
    /^text\/plain\b/i.test(headers.get("accept")?.trim() ?? "");
}

/** Returns the documentation of the paths that a tracer has. */
export function helpText(tracer: Tracer): string {
  const added = Object.entries(ADDED)
    .filter(([path]) => routesOf(tracer).has(path))
    .map(([path, text]) => `  ${`/__app/traces${path}`.padEnd(28)} ${text}\n`);
  return PARAMETERS + added.join("");
}
