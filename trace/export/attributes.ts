/**
 * Reads a span's attributes and events to show them. Names follow
 * OpenTelemetry's semantic conventions. Deprecated ones are read too, because
 * imported files have them.
 *
 * @module
 */

import type { SpanData, SpanEvent } from "../types.ts";

/** The part of a span with its attributes. */
export type Attributed = Pick<SpanData, "attributes">;

/** The attributes with the statement of a database span. */
export const STATEMENT_ATTRIBUTES: readonly string[] = [
  "db.query.text",
  "db.statement",
];

/** The attributes that describe a span, the best first. */
const DETAIL_ATTRIBUTES = [
  "db.query.summary",
  ...STATEMENT_ATTRIBUTES,
  "rpc.method",
  "http.route",
  "app.cache.key",
  "app.reason",
  "app.auth.reason",
  "app.auth.result",
  "url.path",
  "url.full",
  "code.function.name",
];

/** The first of these attributes that a span has, as text. */
export function attributeText(
  { attributes }: Attributed,
  ...names: readonly string[]
): string | undefined {
  const name = names.find((name) => Object.hasOwn(attributes, name));
  return name === undefined ? undefined : String(attributes[name]);
}

/** The method of a request. */
export function methodOf(span: Attributed): string | undefined {
  return attributeText(
    span,
    "http.request.method_original",
    "http.request.method",
    "http.method",
  );
}

/** The statement that a database span ran. */
export function statementOf(span: SpanData): string | undefined {
  return attributeText(span, ...STATEMENT_ATTRIBUTES);
}

/**
 * Whether a span is a query. A transaction isn't: its statements have spans of
 * their own.
 */
export function isQuery(span: SpanData): boolean {
  return span.layer === "database" &&
    (statementOf(span) !== undefined || span.children.length === 0) &&
    span.name !== "db.transaction";
}

/** The last `exception` event of a span. */
export function exceptionOf(
  { events }: Pick<SpanData, "events">,
): SpanEvent | undefined {
  return events.findLast((event) => event.name === "exception");
}

/**
 * Returns the most useful detail that a span's name doesn't contain: a
 * statement, a path, a cache key, a reason, or how a subscription ended.
 * `undefined` if there is none.
 */
export function detailOf(span: SpanData): string | undefined {
  const end = endOf(span);
  if (end !== undefined) return end;
  const detail = attributeText(span, ...DETAIL_ATTRIBUTES) ?? "";
  // `fetch GET example.com/users` is named after its address, without the query.
  const [said = "", query] = detail.replace(/^https?:\/\//, "").split(/(?=\?)/);
  return span.name.includes(said)
    ? query ?? attributeText(span, "app.reason")
    : detail;
}

/** Returns how a subscription ended, or why a page opened a socket again. */
function endOf(span: SpanData): string | undefined {
  const end = attributeText(span, "app.rpc.end");
  const code = attributeText(span, "app.websocket.close_code");
  if (code === undefined) return end?.replaceAll("_", " ");
  return end === undefined ? `after code ${code}` : `closed with ${code}`;
}

/**
 * Returns the line of code behind a span, such as `posts.ts:41`, or
 * `../shared/db.ts:7` for a file outside of the folder. `undefined` if the line
 * is unknown.
 *
 * @param folder The absolute path that the result is relative to.
 */
export function codeLineOf(
  { attributes }: Attributed,
  folder: string,
): string | undefined {
  const path = attributes["code.file.path"];
  const line = attributes["code.line.number"];
  if (typeof path !== "string" || path === "") return undefined;
  const short = relativePath(segmentsOf(folder), segmentsOf(path));
  return typeof line === "number" ? `${short}:${line}` : short;
}

function segmentsOf(path: string): string[] {
  return path.replaceAll("\\", "/").split("/");
}

function relativePath(from: string[], to: string[]): string {
  let shared = 0;
  while (shared < to.length - 1 && from[shared] === to[shared]) shared++;
  // Another drive, or nothing in common but the root.
  if (shared < 2) return to.join("/");
  return [...from.slice(shared).fill(".."), ...to.slice(shared)].join("/");
}
