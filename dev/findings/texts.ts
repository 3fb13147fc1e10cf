/**
 * Texts of findings. They are redacted, and fit into one line.
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { redactText } from "../../core/redact/redact.ts";
import { codeLineOf } from "../../trace/export/code_line.ts";
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

/** Returns the absolute path and line of a span. Empty if unknown. */
export function lineOf(span: Pick<SpanData, "attributes">): string {
  return codeLineOf(span, "") ?? "";
}

/** Whether a statement reads, as far as its first word says. */
export function isReading(statement: string): boolean {
  return /^\s*(?:select|with|values|table)\b/i.test(statement);
}
