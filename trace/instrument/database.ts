import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { isThenable } from "../../core/maybe_async.ts";
import { getActiveSpan, inSpan } from "../record/context.ts";
import { noopSpan } from "../noop_tracer.ts";
import type { Attributes, Span } from "../types.ts";
import { describeQuery } from "./query_text.ts";

/** Attributes of the database. */
export interface QueryOptions {
  /** The product, such as `sqlite` or `postgresql` (`db.system.name`). */
  readonly system?: string;
  /** The database's name (`db.namespace`). */
  readonly namespace?: string;
}

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
  return runQuery(() => queryOf(text, options), run);
}

/** The description of a query, for any number of runs. */
export interface DescribedQuery {
  /** The name of its spans. */
  readonly name: "db.query" | "db.execute";
  /** Their attributes. */
  readonly attributes: Attributes;
}

/** Describes a query by its text. */
export function queryOf(text: string, options: QueryOptions): DescribedQuery {
  const { operation, collection, summary, reads } = describeQuery(text);
  return {
    name: reads ? "db.query" : "db.execute",
    attributes: {
      "db.query.text": text,
      "db.query.summary": summary,
      "db.operation.name": operation,
      "db.collection.name": collection,
      "db.system.name": options.system,
      "db.namespace": options.namespace,
    },
  };
}

/** Runs a query in a span. If nothing is traced, the query isn't described. */
export function runQuery<T>(
  describe: () => DescribedQuery,
  run: (span: Span) => T,
): T {
  if (getActiveSpan() === undefined) return run(noopSpan);
  const { name, attributes } = describe();
  return inSpan(name, "database", (span) => {
    const result: unknown = run(span);
    // A lazy query starts again with each call of its `then`.
    return isThenable(result)
      ? Promise.resolve(result).then((rows) => countRows(span, rows))
      : countRows(span, result);
  }, attributes) as T;
}

/** Records the number of rows, if the result is an array. */
export function countRows<R>(span: Span, rows: R): R {
  if (Array.isArray(rows)) {
    span.setAttribute("db.response.returned_rows", rows.length);
  }
  return rows;
}
