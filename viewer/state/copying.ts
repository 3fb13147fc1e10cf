/**
 * What of a trace goes to the clipboard.
 *
 * @module
 */

import { curlCommand } from "../model/curl.ts";
import { copyText } from "./files.ts";
import { rows, selectedIndex, tree } from "./selection.ts";

/** Where a recorded request went if its span doesn't say. */
function defaultOrigin(): string {
  return location.protocol.startsWith("http")
    ? location.origin
    : "http://localhost:8000";
}

/** The span that copying is about: the selected one, else the root. */
function spanInQuestion() {
  const open = tree.value;
  if (open === undefined) return undefined;
  return rows.value[selectedIndex.value]?.node.span ??
    open.byId.get(open.trace.rootSpanId)?.span;
}

/** The `curl` command of the selected span, or else of the whole request. */
export function currentCurl(): string | undefined {
  const open = tree.value;
  const span = spanInQuestion();
  const root = open?.byId.get(open.trace.rootSpanId)?.span;
  return (span && curlCommand(span, defaultOrigin())) ??
    (root && curlCommand(root, defaultOrigin()));
}

/** Copies the selected span, else the whole trace. */
export function copyJson(): void {
  const selected = rows.value[selectedIndex.value];
  const value = selected?.group?.members.map(({ span }) => span) ??
    selected?.node.span ?? tree.value?.trace;
  if (value === undefined) return;
  const what = selected === undefined ? "the trace" : "the span";
  copyText(JSON.stringify(value, null, 2), `${what} as JSON`);
}

/** Copies the request as a `curl` command. */
export function copyCurl(): void {
  const command = currentCurl();
  if (command !== undefined) copyText(command, "the request as curl");
}
