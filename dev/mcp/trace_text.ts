/**
 * One trace as compact text: a line for each step, indented by depth, with the
 * line of code that caused it.
 *
 * ```
 * GET /books 200 41 ms #4c95…
 *   rpc books.list 38 ms books.ts:12 #93aa…
 *     72 × database 30 ms SELECT … WHERE id = ? authors.ts:41
 *     log warn: slow
 * ```
 *
 * @module
 */

import {
  detailOf,
  exceptionOf,
  statementOf,
} from "../../trace/export/attributes.ts";
import { isOpenSpan, metadataOf } from "../../trace/export/semantics.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import { groupAlike } from "../../trace/report/format_trace.ts";
import type { SpanData, SpanEvent, TraceData } from "../../trace/types.ts";
import { countText, durationText } from "../texts.ts";
import { atLine, errorText, oneLine } from "./texts.ts";

/** Characters of a statement or another detail. */
const MAX_DETAIL = 160;
/** Lines of a stack. */
const MAX_FRAMES = 3;

/** Similar spans in a row. */
interface Row {
  readonly spans: SpanData[];
  readonly depth: number;
}

/** Returns the lines of a trace, or of the part below one of its spans. */
export function traceLines(
  trace: TraceData,
  from: SpanData,
  maxLines: number,
): string[] {
  const lines: string[] = [];
  let hidden = 0;
  // Spans may be nested deeper than calls can be.
  const stack: Row[] = [{ spans: [from], depth: 0 }];
  while (stack.length > 0) {
    const { spans, depth } = stack.pop()!;
    const [span] = spans as [SpanData];
    if (lines.length >= maxLines) hidden += spans.length;
    else {
      const indent = "  ".repeat(Math.min(depth, 20));
      const notes = spans.flatMap(notesOf);
      // Steps in one row mostly have the same reason. A step may log twice.
      const shown = spans.length > 1 ? new Set(notes) : notes;
      lines.push(
        indent + rowText(spans),
        ...Array.from(shown, (text) => `${indent}  ${text}`),
      );
    }
    const children = span.children.flatMap((id) => trace.spans.get(id) ?? []);
    for (const spans of groupAlike(children, isAlike).reverse()) {
      stack.push({ spans, depth: depth + 1 });
    }
  }
  const shown = lines.slice(0, maxLines);
  hidden += lines.length - shown.length;
  return hidden === 0 ? shown : [
    ...shown,
    `… ${hidden} more: pass span to see the part below a span, whose id follows its #`,
  ];
}

function rowText(spans: readonly SpanData[]): string {
  const [span] = spans as [SpanData];
  const { statusCode } = metadataOf(span);
  const duration = spans.reduce((sum, { duration }) => sum + duration, 0);
  const detail = oneLine(detailText(span), MAX_DETAIL);
  const isNamed = span.layer === "request" || span.layer === "custom";
  return [
    spans.length > 1 ? `${spans.length} ×` : "",
    isNamed ? "" : span.layer,
    span.layer === "database" && detail !== "" ? "" : oneLine(span.name),
    span.layer === "request" ? statusCode : "",
    isOpenSpan(span) ? "running" : durationText(duration),
    detail,
    atLine(span).trim(),
    span.children.length > 0 || span.parentId === null ? `#${span.id}` : "",
  ].filter((part) => part !== "" && part !== undefined).join(" ");
}

function detailText(span: SpanData): string {
  const statement = statementOf(span);
  return statement === undefined
    ? detailOf(span) ?? ""
    : statementShape(statement);
}

/** Returns the reason, cause, error and logs of a span. */
function notesOf(span: SpanData): string[] {
  const { "app.reason": reason, "app.cause": cause } = span.attributes;
  const notes: string[] = [];
  if (reason !== undefined && reason !== detailText(span)) {
    notes.push(`reason: ${oneLine(String(reason))}`);
  }
  const [, causeId] = String(cause ?? "").split("-");
  if (causeId) notes.push(`caused by trace ${oneLine(causeId, 32)}`);
  const error = errorText(span);
  if (error !== "") notes.push(`error: ${error}`);
  const stack = exceptionOf(span)?.attributes?.["exception.stacktrace"];
  const frames = String(stack ?? "").split("\n").map((line) => line.trim())
    .filter((line) => line.startsWith("at "));
  notes.push(...frames.slice(0, MAX_FRAMES).map((frame) => oneLine(frame)));
  notes.push(...logsOf(span).map((event) => logLine(event)));
  const { droppedEvents = 0 } = span;
  if (droppedEvents > 0) {
    notes.push(`${countText(droppedEvents, "event")} weren't recorded`);
  }
  return notes;
}

/** Returns the logs of a span. */
export function logsOf({ events }: SpanData): SpanEvent[] {
  return events.filter(({ name }) => name === "log");
}

/** Returns a log as one line. */
export function logLine({ attributes = {} }: SpanEvent, width = 300): string {
  const severity = String(attributes["log.severity"] ?? "info");
  const body = String(attributes["log.body"] ?? "");
  return `log ${oneLine(severity, 20)}: ${oneLine(body, width)}`;
}

/** Whether two spans did the same, and have nothing below them. */
function isAlike(a: SpanData, b: SpanData): boolean {
  return [a, b].every(({ children, events, status }) =>
    children.length + events.length === 0 && status === "ok"
  ) && a.layer === b.layer && a.name === b.name &&
    detailText(a) === detailText(b) && atLine(a) === atLine(b);
}
