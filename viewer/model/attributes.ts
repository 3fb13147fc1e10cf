/**
 * What the viewer reads out of a span's attributes. Names follow
 * OpenTelemetry's semantic conventions; the deprecated ones are understood
 * too, because imported files have them.
 *
 * @module
 */

import type { SpanData, SpanEvent } from "../../trace/types.ts";

/** An attribute as text, or `undefined` if the span hasn't got it. */
export function attributeText(
  span: SpanData,
  ...names: string[]
): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(span.attributes, name)
      ? span.attributes[name]
      : undefined;
    if (value !== undefined) return String(value);
  }
  return undefined;
}

/** The statement that a database span ran. */
export function statementOf(span: SpanData): string | undefined {
  return attributeText(span, "db.query.text", "db.statement");
}

/** The last `exception` event of a span. */
export function exceptionOf(span: SpanData): SpanEvent | undefined {
  return span.events.findLast((event) => event.name === "exception");
}

/**
 * The one thing about a span that its name doesn't say: a statement, a path, a
 * cache key. `undefined` if nothing stands out.
 */
export function detailOf(span: SpanData): string | undefined {
  const detail = attributeText(
    span,
    "db.query.summary",
    "db.query.text",
    "db.statement",
    "rpc.method",
    "http.route",
    "cache.key",
    "url.path",
    "url.full",
    "code.function.name",
  );
  if (detail === undefined || span.name.includes(detail)) return undefined;
  return detail.length > 200 ? detail.slice(0, 200) : detail;
}
