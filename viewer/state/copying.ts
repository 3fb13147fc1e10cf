/**
 * Copies parts of a trace.
 *
 * @module
 */

import { attributeText } from "../../trace/export/attributes.ts";
import { curlCommand, missingParts, omittedHeaders } from "../model/curl.ts";
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
  const calls = open?.nodes.filter(({ span }) => span.layer === "rpc") ?? [];
  const procedure = calls.length === 1
    ? attributeText(calls[0]!.span, "rpc.method")
    : undefined;
  for (const node of [selected.value?.unit.node, root]) {
    const command = node && curlCommand(node.span, defaultOrigin(), procedure);
    if (command !== undefined) return { command, span: node!.span, procedure };
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
  const { command, span, procedure } = request;
  const omitted = omittedHeaders(span);
  const without = omitted.length > 0 ? `, without ${omitted.join(", ")}` : "";
  const toWrite = missingParts(span, procedure)
    .map(({ what, file }) => `${what} into ${file}`).join(" and ");
  const hint = toWrite === "" ? "" : ` Put ${toWrite}.`;
  copyText(command, `the request as curl${without}`, hint);
}
