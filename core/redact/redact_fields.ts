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
import { isSecretProperty, nameAtEnd } from "./secret_names.ts";

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

const QUOTES = "\"'`";
/**
 * Characters before an unquoted name, besides white space. `\\` and `n` stand
 * for escaped line breaks.
 */
const BEFORE_NAME = `{,([<>\n\\${QUOTES}`;

/** Redacts the values of secret fields and headers. */
export function redactFields(text: string): string {
  return redactValues(
    redactValues(text, SEPARATOR, fieldAt),
    HEADER_END,
    headerAt,
  );
}

/** A name with a value. The value's end is searched only if the name is secret. */
interface Field {
  readonly nameEnd: number;
  readonly start: number;
  readonly findEnd: (name: string) => number;
}

type Match = Readonly<RegExpExecArray>;

function redactValues(
  text: string,
  separator: RegExp,
  fieldAt: (text: string, match: Match) => Field,
): string {
  let result = "";
  let rest = 0;
  for (const match of text.matchAll(separator)) {
    // The match is inside a redacted value.
    if (match.index < rest) continue;
    const { nameEnd, start, findEnd } = fieldAt(text, match);
    const name = nameBefore(text, nameEnd);
    if (name === undefined || !isSecretProperty(name)) continue;
    const end = findEnd(name);
    if (start === end) continue;
    result += text.slice(rest, start) + REDACTED;
    rest = end;
  }
  return result + text.slice(rest);
}

function fieldAt(text: string, { 0: match, index }: Match): Field {
  const after = index + match.length;
  if (/[[{]$/.test(match)) {
    return {
      nameEnd: index,
      start: index + match.search(/[A-Z[{]/),
      findEnd: () => endOfList(text, after),
    };
  }
  if (/\d$/.test(match)) {
    return {
      nameEnd: index,
      start: after - 1,
      // A count isn't secret: `{ total_tokens: 512 }`.
      findEnd: (name) =>
        /tokens$/i.test(name) ? after - 1 : endBefore(text, after, /[^\w.]/),
    };
  }
  return {
    nameEnd: index,
    start: after,
    findEnd: () => endOfQuote(text, after, match),
  };
}

function headerAt(text: string, { 0: match, index }: Match): Field {
  const start = index + match.length;
  // Quoted values were redacted above.
  const isQuoted = QUOTES.includes(text[start] ?? " ");
  return {
    nameEnd: index + 1,
    start,
    findEnd: (name) =>
      !isQuoted && isHeader(name.toLowerCase())
        ? endBefore(text, start, /\n/)
        : start,
  };
}

function isHeader(name: string): boolean {
  // After an escaped line break, its `n` is a part of the name.
  return [name, name.replace(/^n/, "")].some((name) =>
    name.startsWith("x-") || HEADERS.has(name)
  );
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
  const name = nameAtEnd(text.slice(0, end));
  if (name === "") return undefined;
  const before = isQuoted ? 0 : back(text, end - name.length, " \t", 64);
  return before === 0 || BEFORE_NAME.includes(text[before - 1]!)
    ? name
    : undefined;
}

/** Moves an index back over at most `max` of the given characters. */
function back(text: string, index: number, over: string, max: number): number {
  const limit = Math.max(0, index - max);
  let at = index;
  while (at > limit && over.includes(text[at - 1]!)) at--;
  return at;
}

function endBefore(text: string, start: number, pattern: RegExp): number {
  const length = text.slice(start).search(pattern);
  return length === -1 ? text.length : start + length;
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
