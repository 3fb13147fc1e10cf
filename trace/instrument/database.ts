import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aString } from "../../core/check/rules.ts";
import { whenDone } from "../../core/promises.ts";
import { runSpan } from "../../core/observe.ts";
import { clip } from "../../core/redact/redact.ts";
import { noopSpan } from "../noop_tracer.ts";
import { checkWork, getActiveSpan } from "../record/context.ts";
import { MAX_VALUE_LENGTH } from "../record/limits.ts";
import type { Span } from "../types.ts";

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
 * @throws {TypeError} If an argument has a wrong type, or an option is unknown.
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
  checkValue(text, "text", aString, "trace a query");
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

/** Attributes of the database. */
export interface QueryOptions {
  /** The product, such as `sqlite` or `postgresql` (`db.system.name`). */
  readonly system?: string;
  /** The database's name (`db.namespace`). */
  readonly namespace?: string;
}

const LEADING_COMMENTS = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/|\()+/;
const BEFORE_TABLE =
  /\b(?:from|into|update|join|table(?:\s+if)?(?:\s+not)?(?:\s+exists)?)\s+/gi;
const WORD = /[\w$]+/y;
/** The closing quote of a name, by its opening quote. */
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "[": "]",
};
const QUOTES = /["'`[\]]/g;
const READING = new Set([
  "SELECT",
  "WITH",
  "VALUES",
  "SHOW",
  "EXPLAIN",
  "DESCRIBE",
  "PRAGMA",
]);
const WRITING_INSIDE =
  /\binsert\s+into\b|\bupdate\s+\S+\s+set\b|\bdelete\s+from\b/i;

/** Opens a span of a query below another span. */
export type QueryOpener = (parent: Span) => Span;

/**
 * Returns a function that opens spans of a query. The first one describes the
 * query by its text.
 */
export function queryOpener(text: string, options: QueryOptions): QueryOpener {
  let query: ReturnType<typeof describeQuery> | undefined;
  return (parent) => {
    query ??= describeQuery(text, options);
    return parent.child(query.name, "database", query.attributes);
  };
}

/** Describes a query by its text. This isn't an SQL parser. */
function describeQuery(text: string, options: QueryOptions) {
  const query = clip(text, MAX_VALUE_LENGTH).replace(LEADING_COMMENTS, "");
  const operation = (/^\w+/.exec(query)?.[0] ?? "").toUpperCase();
  const table = tableOf(query)?.replace(QUOTES, "");
  const reads = READING.has(operation) &&
    !(operation === "WITH" && WRITING_INSIDE.test(query));
  return {
    name: reads ? "db.query" : "db.execute",
    attributes: {
      "db.query.text": text,
      "db.query.summary": table === undefined
        ? operation
        : `${operation} ${table}`,
      "db.operation.name": operation,
      "db.collection.name": table,
      "db.system.name": options.system,
      "db.namespace": options.namespace,
    },
  };
}

/** Returns the first table name, with its quotes. */
function tableOf(query: string): string | undefined {
  for (const { index, 0: words } of query.matchAll(BEFORE_TABLE)) {
    const start = index + words.length;
    let end = nameEnd(query, start);
    if (end === start) continue;
    if (end === 0) return undefined;
    let next: number;
    while (query[end] === "." && (next = nameEnd(query, end + 1)) > end + 1) {
      end = next;
    }
    return query.slice(start, end);
  }
  return undefined;
}

/**
 * Returns the end of the name that begins at an index. Without a name, this is
 * the index itself. If the name's quotes are never closed, it's 0.
 */
function nameEnd(query: string, start: number): number {
  const closing = CLOSING[query[start] ?? ""];
  if (closing === undefined) {
    WORD.lastIndex = start;
    return WORD.test(query) ? WORD.lastIndex : start;
  }
  const end = query.indexOf(closing, start + 1);
  return end === start + 1 ? start : end + 1;
}
