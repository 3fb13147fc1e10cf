/**
 * Redacts the values of secret fields and headers in the output of `inspect()`,
 * in JSON, or in the dump of a request:
 *
 * ```
 * { password: "hunter2", totp: 123456 }     "apiKey":"abc"
 * Map { "x-auth-token" => "abc" }           [ "cookie", "a=b" ]
 * authorization: Basic YTpi                 Sec-WebSocket-Protocol: bearer, abc
 * token: [ "abc" ]                          X-Api-Key: abc
 * ```
 *
 * @module
 */

import { REDACTED } from "./redact_url.ts";
import { isSecretProperty } from "./secret_names.ts";

/** The separator between a name and a quoted value, a number, or a list. */
const SEPARATOR =
  /(?::|=>|,)[ \t]{0,8}\\{0,8}["'`]|["'`]:[ \t]{0,8}\d|: [ \t]{0,8}\d|(?::|=>)[ \t]{0,8}(?:[A-Z]\w{0,63}(?:\(\d{1,9}\))? )?[[{]/g;

/** The end of a header's name. The unquoted value fills the rest of the line. */
const HEADER_END = /[\w-][ \t]{0,8}:[ \t]{0,8}/g;

/** Headers with secrets, in addition to all that begin with `X-`. */
const HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "sec-websocket-protocol",
  "set-cookie",
]);

/** Maximum characters of a name. */
const MAX_NAME = 64;
const QUOTES = "\"'`";
/**
 * Characters before an unquoted name, besides white space. `\\` and `n` stand
 * for escaped line breaks.
 */
const BEFORE_NAME = `{,([<>\n\\${QUOTES}`;

/** Redacts the values of secret fields and headers. */
export function redactFields(text: string): string {
  const fields = text.matchAll(SEPARATOR);
  const shown = redactValues(text, fields, ({ 0: match, index }) => {
    const after = index + match.length;
    if (/[[{]$/.test(match)) {
      return [index, index + match.search(/[A-Z[{]/), endOfList(text, after)];
    }
    if (!/\d$/.test(match)) {
      return [index, after, endOfQuote(text, after, match)];
    }
    // A count isn't secret: `{ total_tokens: 512 }`.
    const isCount = /^tokens$/i.test(text.slice(Math.max(0, index - 6), index));
    return [index, after - 1, isCount ? after - 1 : endOfNumber(text, after)];
  });
  const headers = shown.matchAll(HEADER_END);
  return redactValues(shown, headers, ({ 0: match, index }) => {
    const after = index + match.length;
    // Quoted values were redacted above.
    const isQuoted = QUOTES.includes(shown[after] ?? " ");
    const isHeader = !isQuoted && endsHeaderName(shown, index + 1);
    return [index + 1, after, isHeader ? endOfLine(shown, after) : after];
  });
}

/** Whether the name of a possibly secret header ends before an index. */
function endsHeaderName(text: string, end: number): boolean {
  const name = nameBefore(text, end)?.toLowerCase() ?? "";
  // After an escaped line break, its `n` is a part of the name.
  return [name, name.replace(/^n/, "")].some((name) =>
    name.startsWith("x-") || HEADERS.has(name)
  );
}

/** Indexes: the end of the name, the start and the end of the value. */
type Place = readonly [name: number, start: number, end: number];

function redactValues(
  text: string,
  matches: Iterable<RegExpExecArray>,
  placeOf: (match: RegExpExecArray) => Place,
): string {
  let result = "";
  let rest = 0;
  for (const match of matches) {
    // The match is inside a redacted value.
    if (match.index < rest) continue;
    const [at, start, end] = placeOf(match);
    const name = nameBefore(text, at);
    if (start === end || name === undefined || !isSecretProperty(name)) {
      continue;
    }
    result += text.slice(rest, start) + REDACTED;
    rest = end;
  }
  return result + text.slice(rest);
}

/**
 * Returns the field name that ends before an index. A field name is quoted, or
 * at the start of a line or of an entry.
 */
function nameBefore(text: string, index: number): string | undefined {
  let end = back(text, index, " \t", 8);
  const isQuoted = QUOTES.includes(text[index]!) ||
    (end > 0 && QUOTES.includes(text[end - 1]!));
  if (isQuoted) {
    // The match may begin with the quotation mark itself.
    if (!QUOTES.includes(text[index]!)) end--;
    end = back(text, end, "\\", 8);
  }
  let start = end;
  const limit = Math.max(0, end - MAX_NAME);
  while (start > limit && /[\w.-]/.test(text[start - 1]!)) start--;
  if (start === end) return undefined;
  const before = isQuoted ? 0 : back(text, start, " \t", MAX_NAME);
  return before === 0 || BEFORE_NAME.includes(text[before - 1]!)
    ? text.slice(start, end)
    : undefined;
}

/** Moves an index back over at most `max` of the given characters. */
function back(text: string, index: number, over: string, max: number): number {
  const limit = Math.max(0, index - max);
  let at = index;
  while (at > limit && over.includes(text[at - 1]!)) at--;
  return at;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

function endOfNumber(text: string, start: number): number {
  let end = start;
  while (end < text.length && /[\w.]/.test(text[end]!)) end++;
  return end;
}

/** Returns the end of a list or an object that is open at `start`. */
function endOfList(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if ("[{".includes(character)) depth++;
    else if ("]}".includes(character) && --depth === 0) return at + 1;
    else if (QUOTES.includes(character)) {
      at = endOfQuote(
        text,
        at + 1,
        text.slice(back(text, at, "\\", 8), at + 1),
      );
      // The backslashes before the closing quote.
      while (text[at] === "\\") at++;
    }
  }
  return text.length;
}

/** Where a value ends whose opening quotation mark the match ends with. */
function endOfQuote(text: string, start: number, match: string): number {
  const quote = match.at(-1)!;
  const last = match.length - 1;
  const escapes = last - back(match, last, "\\", last);
  for (let at = start;; at++) {
    at = text.indexOf(quote, at);
    if (at === -1) return text.length;
    const found = at - back(text, at, "\\", escapes + 1);
    // A quote after more backslashes is part of the value.
    if (found <= escapes) return at - found;
  }
}
