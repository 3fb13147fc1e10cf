import { clip } from "../../core/redact/size.ts";
import { MAX_VALUE_LENGTH } from "../record/limits.ts";
import type { Span } from "../types.ts";

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
