/**
 * Texts of findings. They are redacted, and fit into one line.
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { redactText } from "../../core/redact/redact.ts";
import type { SpanData } from "../../trace/types.ts";
import { truncate } from "../../trace/report/terminal.ts";

/** Maximum characters of a message. */
const MAX_LENGTH = 200;

/** Returns a message as one redacted line. */
export function messageText(text: string): string {
  return truncate(printable(redactText(text.slice(0, 2_000))), MAX_LENGTH);
}

/** The columns of a query: everything before its first `FROM`. */
const COLUMNS = /^(select) .*? (from)\b/i;

/** Returns the shape of a statement without the columns that it selects. */
export function shortStatement(shape: string): string {
  return shape.trim().replace(COLUMNS, "$1 … $2");
}

/** Returns the file and line of a span, to compare it. Empty if unknown. */
export function lineOf({ attributes }: Pick<SpanData, "attributes">): string {
  const { "code.file.path": path = "", "code.line.number": line = "" } =
    attributes;
  return path === "" ? "" : `${path}:${line}`;
}

/** Returns a duration, such as `0.4 ms`, `120 ms` or `1.2 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds >= 1_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** Whether a statement reads, as far as its first word says. */
export function isReading(statement: string): boolean {
  return /^\s*(?:select|with|values|table)\b/i.test(statement);
}
