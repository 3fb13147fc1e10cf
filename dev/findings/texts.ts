/**
 * Texts of findings. They are redacted, and fit into one line.
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { redactText } from "../../core/redact/redact.ts";
import { codeLineOf } from "../../trace/export/attributes.ts";
import type { Finding } from "../../trace/finding.ts";
import { type Paint, truncate } from "../../trace/report/terminal.ts";
import type { SpanData } from "../../trace/types.ts";

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

/** The comments and parentheses before a statement's first word. */
const START = /^(?:[\s(]|--.*|\/\*[^]*?\*\/)*/;

/** Whether a statement reads, as far as its first word says. */
export function isReading(statement: string): boolean {
  return /^(?:select|with|values|table|h?get|hgetall)\b/i
    .test(statement.replace(START, ""));
}

/**
 * Formats a finding as one line, such as
 * `! 12 × SELECT … FROM post WHERE id = ? posts.ts:41 (GET /posts)`.
 *
 * @param width Maximum columns. A long message is cut first, or a long route.
 */
export function formatFinding(
  { message, location = "", route = "" }: Finding,
  paint: Paint,
  width: number,
): string {
  const place = location === "" ? "" : ` ${printable(location)}`;
  const isNamed = route === "" || message.startsWith(route);
  const where = isNamed ? "" : ` (${printable(route)})`;
  const room = width - PREFIX.length - place.length;
  // A short route says more than the end of a long message.
  const kept = where.length <= width / 4 && room - where.length >= MIN_MESSAGE
    ? where.length
    : 0;
  const cause = truncate(printable(message), Math.max(20, room - kept));
  const rest = room - cause.length;
  return [
    paint("yellow", PREFIX),
    paint("bold", cause),
    paint("cyan", place),
    rest < MIN_ROUTE ? "" : paint("dim", truncate(where, rest)),
  ].join("") + "\n";
}

const PREFIX = "   ! ";
/** The columns of a message beside a route. */
const MIN_MESSAGE = 50;
/** Less of a route says nothing. */
const MIN_ROUTE = 12;
