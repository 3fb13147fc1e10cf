import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { whenDone } from "../../core/maybe_async.ts";
import { runSpan } from "../../core/observe.ts";
import { getActiveSpan } from "../record/context.ts";
import { noopSpan } from "../noop_tracer.ts";
import type { Span } from "../types.ts";
import {
  type QueryOpener,
  queryOpener,
  type QueryOptions,
} from "./query_text.ts";

/** The keys of {@linkcode QueryOptions}. */
export const QUERY: OptionRules<QueryOptions> = {
  system: true,
  namespace: true,
};

/**
 * Traces a database query, as a span `db.query`, or `db.execute` if it changes
 * data. The span contains the text without the values of its parameters, and
 * the number of rows if the result is an array.
 *
 * @param text The query's text, with placeholders.
 * @param run Sends the query.
 * @param options Attributes of the database.
 * @returns The result of `run`. A result with a `then` method becomes a
 * promise.
 *
 * @example
 * ```ts
 * import { traceQuery } from "@quartet/kit/trace";
 *
 * const rows = await traceQuery(
 *   "SELECT name FROM country WHERE code = ?",
 *   () => Promise.resolve([{ name: "France" }]),
 *   { system: "sqlite" },
 * );
 * console.assert(rows.length === 1);
 * ```
 */
export function traceQuery<T>(
  text: string,
  run: (span: Span) => T,
  options: QueryOptions = {},
): T {
  checkOptions(options, QUERY, "trace a query");
  return runQuery(queryOpener(text, options), run);
}

/** Runs a query in a span. If nothing is traced, the query isn't described. */
export function runQuery<T>(open: QueryOpener, run: (span: Span) => T): T {
  const parent = getActiveSpan();
  if (parent === undefined) return run(noopSpan);
  // A lazy query starts again with each call of its `then`.
  return runSpan(
    open(parent),
    (span) => whenDone(run(span), (rows) => countRows(span, rows)),
  ) as T;
}

/** Records the number of rows, if the result is an array. */
export function countRows<R>(span: Span, rows: R): R {
  if (Array.isArray(rows)) {
    span.setAttribute("db.response.returned_rows", rows.length);
  }
  return rows;
}
