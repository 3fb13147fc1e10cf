/**
 * Copies parts of a trace.
 *
 * @module
 */

import { curlCommand, omittedHeaders } from "../model/curl.ts";
import { copyText } from "./files.ts";
import { tree } from "./opened.ts";
import { selected } from "./selection.ts";

/** Returns the origin of a request whose span doesn't name it. */
function defaultOrigin(): string {
  return location.protocol.startsWith("http")
    ? location.origin
    : "http://localhost:8000";
}

/** Returns the `curl` command of the selected span, or of the request. */
export function currentRequest() {
  const open = selected.value?.tree ?? tree.value;
  const root = open?.byId.get(open.trace.rootSpanId);
  for (const node of [selected.value?.unit.node, root]) {
    const command = node && curlCommand(node.span, defaultOrigin());
    if (command !== undefined) return { command, span: node!.span };
  }
}

/** Copies the selected span, or the whole trace. */
export function copyJson(): void {
  const unit = selected.value?.unit;
  const spans = unit?.members.map(({ span }) => span) ?? [];
  const value = spans.length > 1 ? spans : spans[0] ?? tree.value?.trace;
  if (value === undefined) return;
  const what = unit === undefined ? "the trace" : "the span";
  copyText(JSON.stringify(value, null, 2), `${what} as JSON`);
}

/** Copies the request as a `curl` command. */
export function copyCurl(): void {
  const request = currentRequest();
  if (request === undefined) return;
  const omitted = omittedHeaders(request.span);
  const without = omitted.length > 0 ? `, without ${omitted.join(", ")}` : "";
  copyText(request.command, `the request as curl${without}`);
}
