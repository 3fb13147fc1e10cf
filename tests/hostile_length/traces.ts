/**
 * Traces with a long text in each field, and traces with many parts.
 *
 * @module
 */

import type { SerializedTrace } from "@quartet/kit/trace";
import { span, trace } from "../viewer/make_trace.ts";
import type { Text } from "./texts.ts";
import { numbered, repeat, TEXTS } from "./texts.ts";

/** Near-misses of SQL. */
export const SQL: readonly Text[] = [
  ...TEXTS,
  ...[
    "select ",
    "from ",
    "from [",
    'from "',
    "from `a",
    "from a.",
    '"a".',
    "update ",
    "update a ",
    "update a set ",
    "insert into ",
    "table if not ",
    "table if not exists ",
    "-- ",
    "--\n",
    "/*",
    "/* */",
    "/*/",
    "('a', 1), ",
    "''",
    "'a",
    "1.",
    "1 ",
    "left outer join ",
    "and or ",
    "delete from ",
    "(\n",
    "($1, $2), ",
    "do update ",
    "u d ",
    "update; ",
  ].map((text) => repeat(text)),
  repeat(" ", "with a as (select 1) update"),
  repeat("a", "with a as (select 1) update "),
  repeat("from [", "select ", " from a"),
  numbered((i) => `, column_${i}`),
];

/** A trace with the text as name, attribute, event, statement and URL. */
export function traceOf(text: string): SerializedTrace {
  const event = {
    name: "exception",
    time: 2,
    attributes: {
      "exception.type": text,
      "exception.message": text,
      "exception.stacktrace": text,
    },
  };
  const attributes = {
    "http.request.method": "GET",
    "url.path": text,
    "url.query": text,
    "http.request.header.referer": text,
    "db.query.text": text,
    "error.type": text,
    [text]: text,
  };
  const also = { attributes, events: [event], status: "error" as const };
  return trace(
    span("GET /", 0, 10, [
      span(text, 1, 5, [], { ...also, layer: "database" }),
      span(text, 1, 5, [], { ...also, layer: "data" }),
      span("other", 5, 9, [], { ...also, layer: "routing" }),
    ], { ...also, layer: "request" }),
    { method: "GET", pathname: text, statusCode: 500 },
  );
}

/** Traces with one span for each 50 characters of the text. */
export const SHAPES: Readonly<
  Record<string, (length: number) => SerializedTrace>
> = {
  "deep": (length) => {
    let below = span("leaf", 0, 1);
    for (let i = 0; i < Math.min(length / 50, 4000); i++) {
      below = span(`span ${i}`, 0, 1, [below]);
    }
    return trace(span("GET /", 0, 1, [below], { layer: "request" }));
  },
  "wide": (length) => wide(length, (i) => `span ${i}`, () => [0, 1]),
  "of the same spans": (length) => wide(length, () => "same", () => [0, 1]),
  "of spans after each other": (length) =>
    wide(length, () => "same", (i) => [i, i + 1]),
  "of spans that overlap": (length) =>
    wide(length, (i) => `span ${i}`, (i, count) => [i, i + count]),
  "of spans in reverse": (length) =>
    wide(length, (i) => `span ${i}`, (i, count) => [count - i, 2 * count - i]),
};

/** Returns the trace with ids of other tools. */
export function withHexIds(record: SerializedTrace): SerializedTrace {
  const hex = (length: number, id: number) =>
    (id + 1).toString(16).padStart(length, "0");
  const ids = new Map(record.spans.map(({ id }, i) => [id, hex(16, i)]));
  const traceId = hex(32, 0);
  return {
    ...record,
    id: traceId,
    rootSpanId: ids.get(record.rootSpanId)!,
    spans: record.spans.map((span) => ({
      ...span,
      traceId,
      id: ids.get(span.id)!,
      parentId: span.parentId === null ? null : ids.get(span.parentId)!,
      children: span.children.map((id) => ids.get(id)!),
    })),
  };
}

function wide(
  length: number,
  name: (index: number) => string,
  time: (index: number, count: number) => [start: number, end: number],
): SerializedTrace {
  const count = Math.ceil(length / 50);
  const below = Array.from(
    { length: count },
    (_, i) => span(name(i), ...time(i, count)),
  );
  return trace(span("GET /", 0, 2 * count, below, { layer: "request" }));
}
