/**
 * Traces in and out of the page: files, and the clipboard.
 *
 * @module
 */

import type { SerializedTrace } from "../../trace/types.ts";
import { toChromeTrace } from "../../trace/export/chrome.ts";
import { insertTraceData } from "../../trace/export/html.ts";
import { toOTLP } from "../../trace/export/otlp.ts";
import { packTraces } from "../../trace/export/pack.ts";
import { formatPlural } from "../model/format.ts";
import { importText } from "../model/import_file.ts";
import { complain, tell } from "./notices.ts";
import { addEntries, dataState } from "./traces.ts";

/** What traces can be written as. */
export type ExportFormat = "html" | "json" | "otlp" | "chrome";

/** What each format is called, and the end of its file's name. */
export const EXPORT_FORMATS: readonly {
  readonly format: ExportFormat;
  readonly label: string;
  readonly suffix: string;
}[] = [
  { format: "html", label: "HTML page", suffix: ".html" },
  { format: "json", label: "JSON", suffix: ".json" },
  { format: "otlp", label: "OTLP/JSON", suffix: ".otlp.json" },
  { format: "chrome", label: "Chrome trace", suffix: ".chrome.json" },
];

/** Adds the traces of files, and says how that went. */
export async function importFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    try {
      const added = await importText(await file.text());
      if (added.length === 0) complain(`${file.name} holds no traces.`);
      else {
        addEntries(added);
        dataState.value = { kind: "ready" };
        tell(`Added ${formatPlural(added.length, "trace")} from ${file.name}.`);
      }
    } catch (error) {
      complain(`${file.name}: ${messageOf(error)}`);
    }
  }
}

/** Opens the browser's file dialog. */
export function chooseFiles(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = ".json,.jsonl,.ndjson,.html,.otlp,application/json,text/html";
  input.onchange = () => importFiles(input.files ?? []);
  input.click();
}

/** Writes traces to a file that the browser saves. */
export async function exportTraces(
  traces: readonly SerializedTrace[],
  format: ExportFormat,
  name: string,
): Promise<void> {
  try {
    const { suffix, label } = EXPORT_FORMATS.find((entry) =>
      entry.format === format
    )!;
    const text = await write(traces, format);
    const type = format === "html" ? "text/html" : "application/json";
    save(new Blob([text], { type }), `${name}${suffix}`);
    tell(`Saved ${formatPlural(traces.length, "trace")} as ${label}.`);
  } catch (error) {
    complain(`The export failed: ${messageOf(error)}`);
  }
}

async function write(
  traces: readonly SerializedTrace[],
  format: ExportFormat,
): Promise<string> {
  switch (format) {
    case "html":
      return insertTraceData(emptyPage(), {
        encoding: "packed",
        text: await packTraces(traces),
      });
    case "json":
      return JSON.stringify(traces);
    case "otlp":
      return JSON.stringify(toOTLP(traces));
    case "chrome":
      return JSON.stringify(toChromeTrace(traces));
  }
}

/**
 * This page as it was delivered, without data: only the elements that the
 * build wrote, none that came later.
 */
function emptyPage(): string {
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  for (const name of page.getAttributeNames()) {
    if (name !== "lang") page.removeAttribute(name);
  }
  for (const element of page.querySelectorAll("head > *, body > *")) {
    if (
      !element.matches(
        "meta, title, #viewer-style, #app, #trace-data, #viewer-code",
      )
    ) {
      element.remove();
    }
  }
  page.querySelector("#app")!.replaceChildren();
  const data = page.querySelector<HTMLElement>("#trace-data")!;
  data.replaceChildren();
  data.dataset.encoding = "none";
  return `<!DOCTYPE html>\n${page.outerHTML}\n`;
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
    await navigator.clipboard.writeText(text);
    tell(`Copied ${what}.`);
  } catch {
    complain(`The browser doesn't let this page copy ${what}.`);
  }
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
