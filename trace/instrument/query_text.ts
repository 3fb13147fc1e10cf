import { clip, MAX_VALUE_LENGTH } from "../limits.ts";

/** What can be told from the text of a query. */
export interface QueryDescription {
  /** Its first word in capitals, such as `SELECT` (`db.operation.name`). */
  readonly operation: string;
  /** The first table it names (`db.collection.name`). */
  readonly collection: string | undefined;
  /** Both, as a short name for the query (`db.query.summary`). */
  readonly summary: string;
  /** Whether it only reads. */
  readonly reads: boolean;
}

const LEADING_COMMENTS = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/|\()+/;
const NAME = /(?:"[^"]+"|'[^']+'|`[^`]+`|\[[^\]]+\]|[\w$]+)/.source;
const TABLE = new RegExp(
  `\\b(?:from|into|update|join|table(?:\\s+if\\s+(?:not\\s+)?exists)?)\\s+(${NAME}(?:\\.${NAME})*)`,
  "i",
);
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
  /\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from)\b/i;

/** Describes a query by its text, without claiming to parse SQL. */
export function describeQuery(text: string): QueryDescription {
  const query = clip(text, MAX_VALUE_LENGTH).replace(LEADING_COMMENTS, "");
  const operation = (/^\w+/.exec(query)?.[0] ?? "").toUpperCase();
  const collection = TABLE.exec(query)?.[1]?.replace(QUOTES, "");
  return {
    operation,
    collection,
    summary: collection === undefined
      ? operation
      : `${operation} ${collection}`,
    reads: READING.has(operation) &&
      !(operation === "WITH" && WRITING_INSIDE.test(query)),
  };
}
