import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { whenDone } from "../../core/maybe_async.ts";
import { runSpan } from "../../core/observe.ts";
import { checkWork, getActiveSpan } from "../record/context.ts";
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
 * the number of rows if the result is an array, or has one in `rows`.
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
  checkWork("a query", run);
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

/** Records the number of rows, if the result shows it. */
export function countRows<R>(span: Span, result: R): R {
  const rows = rowsOf(result);
  if (Array.isArray(rows)) {
    span.setAttribute("db.response.returned_rows", rows.length);
  }
  return result;
}

/**
 * Returns the rows of a driver's result: an array, `rows` of pg and libSQL,
 * `results` of D1, or the first of the pair of rows and columns of mysql2.
 */
function rowsOf(result: unknown): unknown {
  const { rows, results, length, 0: first, 1: columns } = Object(result);
  if (!Array.isArray(result)) return rows ?? results;
  const isPair = length === 2 &&
    (columns === undefined || columns?.[0]?.columnType !== undefined);
  return isPair ? first : result;
}
