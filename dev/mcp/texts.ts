/**
 * Short texts for assistants: one line for each fact, and a note about what was
 * left out.
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { failureOf, truncate } from "../../trace/report/terminal.ts";
import type { SpanData } from "../../trace/types.ts";
import { shortLocation } from "../locations/short_location.ts";
import { ageText } from "../texts.ts";

/** Maximum characters of an answer. */
const MAX_ANSWER = 12_000;
/** Maximum characters of the note about what was left out. */
const MAX_NOTE = 60;
/** Maximum characters of a line. */
const MAX_LINE = 300;

/** Returns a text as one line of bounded length. */
export function oneLine(text: string, width = MAX_LINE): string {
  return truncate(printable(text.trim()), width);
}

/** Joins lines to an answer of bounded size. */
export function answerOf(lines: readonly string[]): string {
  const kept: string[] = [];
  let size = 0;
  for (const line of lines) {
    const text = truncate(line, MAX_LINE * 2);
    size += text.length + 1;
    if (size > MAX_ANSWER - MAX_NOTE) {
      const rest = lines.length - kept.length;
      kept.push(`… ${rest} more lines were left out: ask for less`);
      break;
    }
    kept.push(text);
  }
  return kept.join("\n");
}

/** Returns the first items as lines, and a note about the others. */
export function listOf<T>(
  items: readonly T[],
  limit: number,
  linesOf: (item: T) => readonly string[],
  note: string,
): string[] {
  const lines = items.slice(0, limit).flatMap(linesOf);
  const rest = items.length - limit;
  return rest > 0 ? [...lines, `… ${rest} more: ${note}`] : lines;
}

/** Returns how long ago a time was, such as `12 s ago`. */
export function agoText(time: number): string {
  return `${ageText(Date.now() - time)} ago`;
}

/** Returns the text of a span's error, or an empty text. */
export function errorText(span: SpanData): string {
  return span.status === "error" ? oneLine(failureOf(span)) : "";
}

/** Returns the line of user code behind a span, with a space before it. */
export function atLine(span: SpanData): string {
  const location = shortLocation(span);
  return location === undefined ? "" : ` ${oneLine(location)}`;
}
