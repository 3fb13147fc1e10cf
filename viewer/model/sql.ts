/**
 * SQL made readable: one clause a line, keywords told apart. Whatever it is
 * given, the words and their order stay as they were.
 *
 * @module
 */

/** What a piece of a statement is. */
export type SqlKind = "keyword" | "string" | "number" | "comment" | "other";

/** A piece of a statement. */
export interface SqlToken {
  /** What it is. */
  readonly kind: SqlKind;
  /** Its text, with the white space after it. */
  readonly text: string;
}

/** Longer statements are shown as they are. */
const MAX_LENGTH = 20_000;

const KEYWORDS = new Set(
  ("SELECT FROM WHERE JOIN LEFT RIGHT INNER OUTER FULL CROSS ON AND OR NOT " +
    "IN IS NULL AS ORDER GROUP BY HAVING LIMIT OFFSET UNION ALL DISTINCT " +
    "INSERT INTO VALUES UPDATE SET DELETE RETURNING WITH CASE WHEN THEN " +
    "ELSE END ASC DESC LIKE BETWEEN EXISTS USING CONFLICT DO NOTHING BEGIN " +
    "COMMIT ROLLBACK CREATE TABLE INDEX DROP ALTER PRAGMA").split(" "),
);

/** Keywords that begin a line. `AND` and `OR` begin an indented one. */
const CLAUSES = new Set(
  ("FROM WHERE JOIN LEFT RIGHT INNER FULL CROSS ORDER GROUP HAVING LIMIT " +
    "UNION VALUES SET RETURNING").split(" "),
);

/** Words that go on with the clause that the word before has begun. */
const CONTINUES: Readonly<Record<string, readonly string[]>> = {
  JOIN: ["LEFT", "RIGHT", "INNER", "OUTER", "FULL", "CROSS"],
  FROM: ["DELETE"],
  SET: ["UPDATE", "DO"],
};

const TOKEN =
  /(--[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*'?|"(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_][\w$]*)|(\s+)|([^])/g;

/** Splits a statement into pieces, with a line break before each clause. */
export function formatSql(sql: string): SqlToken[] {
  const source = sql.trim();
  if (source.length > MAX_LENGTH) return [{ kind: "other", text: source }];
  const tokens: SqlToken[] = [];
  let previous = "";
  let depth = 0;
  for (const match of source.matchAll(TOKEN)) {
    const [text, comment, string, number, word, space] = match;
    if (space !== undefined) {
      pushSpace(tokens, source.includes("\n") ? space : " ");
      continue;
    }
    if (text === "(") depth++;
    if (text === ")") depth--;
    const upper = word?.toUpperCase() ?? "";
    const keyword = KEYWORDS.has(upper);
    if (keyword && depth === 0 && !source.includes("\n")) {
      breakLine(tokens, upper, previous);
    }
    tokens.push({
      kind: keyword
        ? "keyword"
        : comment !== undefined
        ? "comment"
        : string !== undefined
        ? "string"
        : number !== undefined
        ? "number"
        : "other",
      text,
    });
    previous = upper;
  }
  return tokens;
}

function pushSpace(tokens: SqlToken[], space: string): void {
  const last = tokens.at(-1);
  if (last !== undefined) {
    tokens[tokens.length - 1] = { ...last, text: last.text + space };
  }
}

function breakLine(tokens: SqlToken[], upper: string, previous: string): void {
  const last = tokens.at(-1);
  if (last === undefined) return;
  const inner = upper === "AND" || upper === "OR";
  if (!inner && !CLAUSES.has(upper)) return;
  if (CONTINUES[upper]?.includes(previous)) return;
  tokens[tokens.length - 1] = {
    ...last,
    text: `${last.text.trimEnd()}\n${inner ? "  " : ""}`,
  };
}
