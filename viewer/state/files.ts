/**
 * Imports and exports traces: files and the clipboard.
 *
 * @module
 */

import { toChromeTrace } from "../../trace/export/chrome.ts";
import { toOTLP } from "../../trace/export/otlp_writer.ts";
import { packTraces } from "../../trace/export/pack.ts";
import type { SerializedTrace } from "../../trace/types.ts";
import { formatCount, formatPlural } from "../model/format.ts";
import { importText } from "../model/import_file.ts";
import type { TraceEntry } from "../model/summary.ts";
import { messageOf } from "../model/text.ts";
import { notify, notifyFailure } from "./notices.ts";
import { addEntries, dataState } from "./traces.ts";

/** A format of exports. */
export interface ExportFormat {
  /** Its name. */
  readonly label: string;
  /** The end of its files' names. */
  readonly suffix: string;
  /** Returns the text of the file, or a value to write as JSON. */
  convert(traces: readonly SerializedTrace[]): unknown;
}

/** All formats. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  {
    label: "HTML page",
    suffix: ".html",
    convert: async (traces) => pageWith(await packTraces(traces)),
  },
  { label: "JSON", suffix: ".json", convert: (traces) => traces },
  { label: "OTLP/JSON", suffix: ".otlp.json", convert: toOTLP },
  { label: "Chrome trace", suffix: ".chrome.json", convert: toChromeTrace },
];

/** Adds the traces of files, and notifies about each file. */
async function importFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    try {
      const read = await importText(await file.text());
      if (read.length === 0) notifyFailure(`${file.name} holds no traces.`);
      else {
        const { fresh, joined, same } = addEntries(read);
        dataState.value = { kind: "ready" };
        notify(
          `Added ${formatPlural(fresh, "trace")} from ${file.name}.` +
            (joined > 0
              ? ` ${formatCount(joined)} joined a trace of the page.`
              : "") +
            (same > 0 ? ` The page already had ${formatCount(same)}.` : ""),
        );
      }
    } catch (error) {
      notifyFailure(`${file.name}: ${messageOf(error)}`);
    }
  }
}

/** Opens files that are dropped anywhere on the page. */
export function startDropping(): void {
  const { classList } = document.documentElement;
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    classList.remove("dropping");
    importFiles(event.dataTransfer?.files ?? []);
  });
}

/** Opens the browser's file dialog. */
export function chooseFiles(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = ".json,.jsonl,.ndjson,.html,.otlp";
  input.onchange = () => importFiles(input.files ?? []);
  input.click();
}

/** Writes traces to a file that the browser saves. */
export async function exportTraces(
  entries: readonly TraceEntry[],
  { label, suffix, convert }: ExportFormat,
  name: string,
): Promise<void> {
  try {
    const traces = entries.map((entry) => entry.load());
    const content = await convert(traces);
    const [text, type] = typeof content === "string"
      ? [content, "text/html"]
      : [JSON.stringify(content), "application/json"];
    save(new Blob([text], { type }), `${name}${suffix}`);
    notify(`Saved ${formatPlural(traces.length, "trace")} as ${label}.`);
  } catch (error) {
    notifyFailure(`The export failed: ${messageOf(error)}`);
  }
}

/** Selects elements that the build didn't write. */
const ADDED_LATER =
  ":is(head, body) > :not(meta, title, #viewer-icon, #viewer-style, #app, #trace-data, #viewer-code)";

/**
 * Returns this page with packed traces, which are safe in any element. It has the
 * elements that the build wrote, and none that were added later.
 */
function pageWith(packed: string): string {
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  for (const name of page.getAttributeNames()) {
    if (name !== "lang") page.removeAttribute(name);
  }
  for (const element of page.querySelectorAll(ADDED_LATER)) element.remove();
  page.querySelector("#app")!.replaceChildren();
  const data = page.querySelector<HTMLElement>("#trace-data")!;
  data.textContent = packed;
  data.dataset.encoding = "packed";
  // Parsers move text after the body into it, which would add up.
  const end = "</body></html>";
  const content = page.outerHTML.slice(0, -end.length).trimEnd();
  return `<!DOCTYPE html>\n${content}\n${end}\n`;
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Puts a text on the clipboard, with a notice and maybe a hint. */
export async function copyText(
  text: string,
  what: string,
  hint = "",
): Promise<void> {
  try {
    // Pages over HTTP from other machines have no `clipboard`.
    if (isSecureContext) await navigator.clipboard.writeText(text);
    else copySelection(text);
    notify(`Copied ${what}.${hint}`);
  } catch {
    notifyFailure(`The browser doesn't let this page copy ${what}.`);
  }
}

/** Copies with `execCommand()`, through a text field. */
function copySelection(text: string): void {
  const field = document.createElement("textarea");
  const focused = document.activeElement as HTMLElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused.focus();
  if (!copied) throw new Error("refused");
}
