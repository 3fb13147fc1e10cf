/**
 * What of a trace goes to the clipboard.
 *
 * @module
 */

import { curlCommand } from "../model/curl.ts";
import { copyText } from "./files.ts";
import { tree } from "./opened.ts";
import { selected } from "./selection.ts";

/** Where a recorded request went if its span doesn't say. */
function defaultOrigin(): string {
  return location.protocol.startsWith("http")
    ? location.origin
    : "http://localhost:8000";
}

/** The `curl` command of the selected span, or else of the whole request. */
export function currentCurl(): string | undefined {
  const open = selected.value?.tree ?? tree.value;
  const root = open?.byId.get(open.trace.rootSpanId);
  return [selected.value?.unit.node, root]
    .map((node) => node && curlCommand(node.span, defaultOrigin()))
    .find((command) => command !== undefined);
}

/** Copies the selected span, else the whole trace. */
export function copyJson(): void {
  const unit = selected.value?.unit;
  const value = unit?.group?.members.map(({ span }) => span) ??
    unit?.node.span ?? tree.value?.trace;
  if (value === undefined) return;
  const what = unit === undefined ? "the trace" : "the span";
  copyText(JSON.stringify(value, null, 2), `${what} as JSON`);
}

/** Copies the request as a `curl` command. */
export function copyCurl(): void {
  const command = currentCurl();
  if (command !== undefined) copyText(command, "the request as curl");
}
