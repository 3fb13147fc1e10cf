/**
 * Formats SQL: one clause a line, with keywords marked. The words and their
 * order stay as they were.
 *
 * @module
 */

/** The kind of a piece of a statement. */
export type SqlKind = "keyword" | "string" | "number" | "comment" | "other";

/** A piece of a statement. */
export interface SqlToken {
  /** Its kind. */
  readonly kind: SqlKind;
  /** Its text. */
  readonly text: string;
}

/** Longer statements are shown as they are. */
const MAX_LENGTH = 20_000;

/** Keywords in upper or lower case. */
const KEYWORD =
  /^(select|from|where|join|left|right|inner|full|cross|outer|on|and|or|not|in|is|null|as|order|group|by|having|limit|offset|union|insert|into|values|update|set|delete|returning|with)$/i;

/** Words that start a line. `AND` and `OR` start an indented line. */
const CLAUSE =
  /^(from|where|(?:(?:left|right|inner|full|cross) (?:outer )?)?join|order by|group by|having|limit|union|values|set|returning|(and|or))\b/i;

const TOKEN =
  /(--[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*'?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_][\w$]*)|(\s+)|[^]/g;

/** Splits a statement into pieces, with a line break before each clause. */
export function formatSql(sql: string): SqlToken[] {
  const source = sql.trim();
  if (source.length > MAX_LENGTH) return [{ kind: "other", text: source }];
  const tokens: SqlToken[] = [];
  const oneLine = !source.includes("\n");
  let depth = 0;
  let lineEnd = 0;
  for (const match of source.matchAll(TOKEN)) {
    const [text, comment, string, number, word, space] = match;
    if (text === "(") depth++;
    if (text === ")") depth--;
    if (space !== undefined && oneLine && depth === 0) {
      const next = source.slice(match.index + text.length);
      const clause = CLAUSE.exec(next);
      // Not within a clause at the start of a line: `LEFT JOIN`, `DELETE FROM`.
      const within = match.index < lineEnd ||
        /^delete$|\bupdate$/i.test(
          source.slice(Math.max(0, match.index - 7), match.index),
        );
      if (clause !== null && !within) {
        lineEnd = match.index + text.length + clause[0].length;
        tokens.push({ kind: "other", text: clause[2] ? "\n  " : "\n" });
        continue;
      }
    }
    tokens.push({
      kind: word !== undefined && KEYWORD.test(word)
        ? "keyword"
        : comment !== undefined
        ? "comment"
        : string !== undefined
        ? "string"
        : number !== undefined
        ? "number"
        : "other",
      text: space !== undefined && oneLine ? " " : text,
    });
  }
  return tokens;
}
