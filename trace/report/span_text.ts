/**
 * The texts of a span in the terminal.
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import {
  attributeText,
  detailOf,
  exceptionOf,
  statementOf,
} from "../export/attributes.ts";
import type { SpanData } from "../types.ts";

/** Returns a short text for the work of a span. */
export function actionOf(span: SpanData): string {
  const statement = statementOf(span);
  if (statement !== undefined) return statement.replace(/\s+/g, " ").trim();
  const detail = detailOf(span);
  if (detail !== undefined && span.layer === "routing") return detail;
  const result = attributeText(span, "app.reason", "app.cache.result") ??
    refusalOf(span);
  // The line of a failed span ends with its message.
  const isSaid = result?.endsWith(messageOf(span) ?? "\n");
  return [
    span.name,
    detail === result ? undefined : detail,
    isSaid ? undefined : result,
  ].filter((part) => part !== undefined).join(" ");
}

/** Returns the code of a call that was refused without a failure. */
export function refusalOf(span: SpanData): string | undefined {
  return span.status === "ok"
    ? attributeText(span, "rpc.status_code")
    : undefined;
}

/**
 * Returns the problem of a span, such as `TypeError: x is undefined`, or an
 * empty text.
 */
export function failureOf(span: SpanData): string {
  if (span.status === "ok") return "";
  if (span.status === "timeout") return "did not end";
  const { "error.type": known } = span.attributes;
  // The type of a request's error is its status, which the line has already.
  const type = known === undefined || /^[45]\d\d$/.test(`${known}`)
    ? exceptionOf(span)?.attributes?.["exception.type"] ?? known
    : known;
  const text = [typeof type === "string" ? type : "error", messageOf(span)]
    .filter((part) => part !== undefined).join(": ");
  return printable(text);
}

export function messageOf(span: SpanData): string | undefined {
  const message = exceptionOf(span)?.attributes?.["exception.message"];
  return typeof message === "string" && message !== "" ? message : undefined;
}

/**
 * Formats a duration with three significant digits: `0.12ms`, `12.3ms`,
 * `1.23s`.
 */
export function formatDuration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)}s`;
  return `${milliseconds.toFixed(milliseconds >= 10 ? 1 : 2)}ms`;
}
