/**
 * Traces in and out of the page: files, and the clipboard.
 *
 * @module
 */

import type { SerializedTrace } from "../../trace/types.ts";
import { toChromeTrace } from "../../trace/export/chrome.ts";
import { toOTLP } from "../../trace/export/otlp.ts";
import { packTraces } from "../../trace/export/pack.ts";
import { formatPlural } from "../model/format.ts";
import { importText } from "../model/import_file.ts";
import type { TraceEntry } from "../model/summary.ts";
import { messageOf } from "../model/text.ts";
import { complain, reportError } from "./notices.ts";
import { addEntries, dataState } from "./traces.ts";

/** Something that traces can be written as. */
export interface ExportFormat {
  /** What it is called. */
  readonly label: string;
  /** The end of its file's name. */
  readonly suffix: string;
  /** Gives the file's text. */
  write(traces: readonly SerializedTrace[]): string | Promise<string>;
}

/** All formats. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  {
    label: "HTML page",
    suffix: ".html",
    write: async (traces) => pageWith(await packTraces(traces)),
  },
  { label: "JSON", suffix: ".json", write: (traces) => JSON.stringify(traces) },
  {
    label: "OTLP/JSON",
    suffix: ".otlp.json",
    write: (traces) => JSON.stringify(toOTLP(traces)),
  },
  {
    label: "Chrome trace",
    suffix: ".chrome.json",
    write: (traces) => JSON.stringify(toChromeTrace(traces)),
  },
];

/** Adds the traces of files, and says how that went. */
async function importFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    try {
      const added = await importText(await file.text());
      if (added.length === 0) complain(`${file.name} holds no traces.`);
      else {
        addEntries(added);
        dataState.value = { kind: "ready" };
        reportError(
          `Added ${formatPlural(added.length, "trace")} from ${file.name}.`,
        );
      }
    } catch (error) {
      complain(`${file.name}: ${messageOf(error)}`);
    }
  }
}

/** Takes files that are dropped anywhere on the page. */
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
  { label, suffix, write }: ExportFormat,
  name: string,
): Promise<void> {
  try {
    const traces = entries.map((entry) => entry.load());
    const type = suffix === ".html" ? "text/html" : "application/json";
    save(new Blob([await write(traces)], { type }), `${name}${suffix}`);
    reportError(`Saved ${formatPlural(traces.length, "trace")} as ${label}.`);
  } catch (error) {
    complain(`The export failed: ${messageOf(error)}`);
  }
}

/**
 * This page as it was delivered, but with packed traces, which are safe in any
 * element: only the elements that the build wrote, none that came later.
 */
function pageWith(packed: string): string {
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  for (const name of page.getAttributeNames()) {
    if (name !== "lang") page.removeAttribute(name);
  }
  for (
    const element of page.querySelectorAll(
      ":is(head, body) > :not(meta, title, #viewer-style, #app, #trace-data, #viewer-code)",
    )
  ) {
    element.remove();
  }
  page.querySelector("#app")!.replaceChildren();
  const data = page.querySelector<HTMLElement>("#trace-data")!;
  data.textContent = packed;
  data.dataset.encoding = "packed";
  // What follows the body is read as its end: it would grow each time.
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

/** Puts a text on the clipboard, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    // There is no `clipboard` on pages that come by plain HTTP from elsewhere.
    if (isSecureContext) await navigator.clipboard.writeText(text);
    else copySelection(text);
    reportError(`Copied ${what}.`);
  } catch {
    complain(`The browser doesn't let this page copy ${what}.`);
  }
}

/** Copies in the way of old: what is selected in a text field. */
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
