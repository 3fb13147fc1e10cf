import { printable } from "../../core/redact/printable.ts";
import { attributeText } from "../export/attributes.ts";
import { isDetached } from "../export/semantics.ts";
import type { SpanData, TraceData } from "../types.ts";
import {
  actionOf,
  failureOf,
  formatDuration,
  messageOf,
  type Paint,
  refusalReasonOf,
  type Style,
  truncate,
} from "./terminal.ts";

/** Options of a printed trace. */
export interface TraceFormat {
  /** Styles text. */
  readonly paint: Paint;
  /** Minimum duration that stands out, in milliseconds. */
  readonly slow: number;
  /** Maximum columns of a line. */
  readonly width: number;
  /** Printed below the tree. */
  readonly link: string | undefined;
  /** Lines to print below the line of a span, by the span's id. */
  readonly notes: SpanNotes;
  /** Returns the line of user code behind a span, such as `posts.ts:41`. */
  readonly lineOf: (span: SpanData) => string | undefined;
}

/** Lines to print below the lines of spans, by the spans' ids. */
export type SpanNotes = ReadonlyMap<string, readonly string[]>;

/** Maximum lines of a trace. Further spans are counted. */
const MAX_LINES = 60;
const DURATION_WIDTH = 8;
/** Minimum columns for the work of a span. */
const MIN_WIDTH = 20;

const LAYER_STYLES: Readonly<Partial<Record<string, Style>>> = {
  routing: "blue",
  data: "cyan",
  forms: "cyan",
  rpc: "magenta",
  database: "yellow",
  auth: "green",
  errors: "red",
};

/** One line of the tree: a span, or several similar siblings in a row. */
interface Row {
  /** The first span. */
  readonly span: SpanData;
  readonly ids: readonly string[];
  readonly duration: number;
  /** The branches before it. */
  readonly prefix: string;
  /** The branches before the lines below it. */
  readonly below: string;
}

/** Formats a trace as a tree, ending in a line break. */
export function formatTrace(trace: TraceData, format: TraceFormat): string {
  const root = trace.spans.get(trace.rootSpanId)!;
  const { rows, hidden } = treeOf(trace, root);
  const labelWidth = Math.max(...rows.map(labelLength), 0);
  const notes = new Map(format.notes);
  const notesOf = (ids: Iterable<string>, prefix: string) =>
    [...ids].flatMap((id) => {
      const lines = notes.get(id) ?? [];
      notes.delete(id);
      return lines.map((line) => format.paint("dim", prefix) + line);
    });
  const lines = [
    rootLine(trace, root, format),
    ...notesOf([root.id], branchAbove(root)),
    ...rows.flatMap((row) => [
      line(row, labelWidth, format),
      ...notesOf(row.ids, row.below + branchAbove(row.span)),
    ]),
  ];
  if (hidden > 0) lines.push(format.paint("dim", `   … ${hidden} more lines`));
  lines.push(...notesOf(notes.keys(), "   "));
  const { droppedSpans = 0 } = trace.metadata;
  if (droppedSpans > 0) {
    const note = `   ! ${droppedSpans} more spans were not recorded`;
    lines.push(format.paint("yellow", note));
  }
  const { link } = format;
  if (link !== undefined) lines.push(format.paint("dim", `   ${link}`));
  return `${lines.join("\n")}\n`;
}

/**
 * Returns the first rows below the root, and the number of further ones. It has
 * its own stack, because spans may be nested deeper than calls can be.
 */
function treeOf(
  trace: TraceData,
  root: SpanData,
): { rows: Row[]; hidden: number } {
  const rows: Row[] = [];
  let hidden = 0;
  const stack: Row[] = [];
  const pushChildren = (span: SpanData, indent: string) => {
    const children = span.children.flatMap((id) => trace.spans.get(id) ?? []);
    const groups = groupAlike(children, isAlike).reverse();
    for (const [index, group] of groups.entries()) {
      const [branch, space] = index === 0 ? ["└─", "  "] : ["├─", "│ "];
      const prefix = `${indent}${branch} `;
      stack.push({
        span: group[0]!,
        ids: group.map(({ id }) => id),
        duration: group.reduce((sum, { duration }) => sum + duration, 0),
        prefix,
        below: `${indent}${space} `,
      });
    }
  };
  pushChildren(root, "");
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    if (rows.length < MAX_LINES) rows.push(row);
    else hidden++;
    pushChildren(row.span, hidden > 0 ? "" : row.below);
  }
  return { rows, hidden };
}

/** Returns the branch between a span's line and its children, if there are any. */
function branchAbove({ children }: SpanData): string {
  return children.length > 0 ? "│  " : "   ";
}

function labelLength({ prefix, span }: Row): number {
  return prefix.length + printable(span.layer).length;
}

function rootLine(
  trace: TraceData,
  root: SpanData,
  format: TraceFormat,
): string {
  const { paint, slow, width } = format;
  const { method, pathname, statusCode } = trace.metadata;
  // A subscription isn't slow because it runs for long.
  const least = isDetached(root) ? Infinity : slow;
  const status = statusCode === undefined
    ? ""
    : paint(statusStyle(statusCode), String(statusCode));
  // A status of 500 already shows the failure.
  const failure = statusCode === undefined || messageOf(root) !== undefined
    ? truncate(printable(failureOf(root)), Math.floor(width / 3))
    : "";
  const refusal = truncate(
    printable(
      refusalReasonOf(root) ?? attributeText(root, "app.rpc.end") ?? "",
    ),
    Math.floor(width * 0.4),
  );
  const room = width - failure.length - refusal.length - 16;
  const name = method !== undefined && pathname !== undefined
    ? `${method} ${pathname}`
    : root.name;
  const isSlow = trace.duration >= least;
  const [title, place] = fit(() => name, root, isSlow, room, format);
  return [
    paint("bold", title),
    status,
    paintDuration(trace.duration, least, paint),
    refusal,
    paintFailure(root, failure, paint),
  ].filter((part) => part !== "").join(" ") + place;
}

function line(row: Row, labelWidth: number, format: TraceFormat): string {
  const { paint, slow, width } = format;
  const { span, ids: { length: count }, prefix } = row;
  const style = LAYER_STYLES[span.layer];
  const text = printable(span.layer);
  const layer = style ? paint(style, text) : text;
  const padding = " ".repeat(labelWidth - labelLength(row));
  const repeated = count > 1 ? ` × ${count}` : "";
  const failure = truncate(
    printable(failureOf(span)),
    Math.floor(width / 3),
  );
  const room = width - labelWidth - DURATION_WIDTH - repeated.length -
    failure.length - 4;
  const isSlow = row.duration >= slow;
  const textOf = (most: number) => actionOf(span, most);
  const [action, place] = fit(textOf, span, isSlow, room, format);
  return [
    `${paint("dim", prefix)}${layer}${padding}`,
    paintDuration(row.duration, slow, paint, DURATION_WIDTH),
    ` ${action}${paint("bold", repeated)}`,
    paintFailure(span, failure, paint),
  ].filter((part) => part !== "").join(" ") + place;
}

/**
 * Returns a text and the line of user code behind a slow or failed span, as far
 * as there is room. Without the line, the text may become longer.
 *
 * @param textOf Returns the text for a width, if possible.
 */
function fit(
  textOf: (most: number) => string,
  span: SpanData,
  isSlow: boolean,
  room: number,
  { paint, lineOf }: TraceFormat,
): [text: string, place: string] {
  const isNoted = isSlow || span.status !== "ok";
  const line = isNoted ? printable(lineOf(span) ?? "") : "";
  const hasRoom = line !== "" && line.length < room - MIN_WIDTH;
  const place = hasRoom ? ` ${line}` : "";
  const most = Math.max(MIN_WIDTH, room - place.length);
  return [truncate(printable(textOf(most)), most), paint("dim", place)];
}

function paintFailure(span: SpanData, failure: string, paint: Paint): string {
  return paint(span.status === "timeout" ? "yellow" : "red", failure);
}

function statusStyle(status: number): Style {
  if (status >= 500) return "red";
  if (status >= 400) return "yellow";
  return status >= 300 ? "cyan" : "green";
}

function paintDuration(
  duration: number,
  slow: number,
  paint: Paint,
  width = 0,
): string {
  const text = formatDuration(duration).padStart(width);
  if (duration >= slow * 5) return paint("red", text);
  return paint(duration >= slow ? "yellow" : "dim", text);
}

/** Groups consecutive spans that are alike. */
export function groupAlike(
  spans: readonly SpanData[],
  isAlike: (a: SpanData, b: SpanData) => boolean,
): SpanData[][] {
  const groups: SpanData[][] = [];
  for (const span of spans) {
    const group = groups.at(-1);
    if (group !== undefined && isAlike(group[0]!, span)) group.push(span);
    else groups.push([span]);
  }
  return groups;
}

/** Whether two spans did the same and have no children. */
function isAlike(a: SpanData, b: SpanData): boolean {
  return a.children.length === 0 && b.children.length === 0 &&
    a.layer === b.layer && a.name === b.name && a.status === b.status &&
    actionOf(a) === actionOf(b);
}
