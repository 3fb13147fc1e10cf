/**
 * Redacts the values of secret fields and headers in the output of `inspect()`,
 * in JSON, or in the dump of a request:
 *
 * ```
 * { password: "hunter2", totp: 123456 }     "apiKey":"abc"
 * Map { "x-auth-token" => "abc" }           [ "cookie", "a=b" ]
 * authorization: Basic YTpi                 Sec-WebSocket-Protocol: bearer, abc
 * token: [ "abc" ]                          X-Api-Key: abc
 * { name: "password", value: "abc" }        <password type="x">abc</password>
 * password: abc123    password:abc123       Key (token)=(abc) already exists.
 * { auth: "ada:abc123" }                    { [Symbol(token)]: "abc" }
 * ```
 *
 * @module
 */

import { isSecretProperty, nameAtEnd, REDACTED } from "./redact_url.ts";

/**
 * The separator between a name and a quoted value, a number, a list, the text of
 * an XML element, or a value in parentheses. A quoted text after a comma isn't a
 * value if it's a key.
 */
const SEPARATOR =
  /(?::|=>?|,\s{0,64}\\{0,8}["'`]?value\\{0,8}["'`]?:)[ \t]{0,8}\\{0,8}["'`]|,[ \t]{0,8}\\{0,8}["'`](?![\w-]{0,64}\\{0,8}["'`]:)|["'`]:[ \t]{0,8}\d|: [ \t]{0,8}\d|\)=\((?=([^)]+))|>(?<=<([\w.:-]{1,64})(\s[^<>]{0,256})?>)(?=([^<>]+)<\/\2>)|(?::|=>)[ \t]{0,8}(?:[A-Z]\w{0,63}(?:\(\d{1,9}\))? )?[[{]/g;

/** The end of a header's name. The unquoted value fills the rest of the line. */
const HEADER_END = /[\w-][ \t]{0,8}:[ \t]{0,8}/g;

/**
 * Headers with secrets, if their name sounds like one. After an escaped line
 * break, its `n` is a part of the name.
 */
const HEADER =
  /^n?(?:x-|(?:(?:proxy-)?authorization|(?:set-)?cookie|sec-websocket-protocol)$)/i;

const QUOTES = "\"'`";
/**
 * Characters before an unquoted name, besides white space. `\\` and `n` stand
 * for escaped line breaks.
 */
const BEFORE_NAME = `:{,([<>\n\\${QUOTES}`;

/**
 * An unquoted value after a name. Without digits, it may be a plain word. Without
 * a space, `token:abc1` may be the tag of a cache, and a password isn't.
 */
const WORD =
  /(?<=([\w-]{1,64})["'`]?[ \t]{0,8}[:=][ \t]{1,8}|(?<![^\s,;{([])([\w.-]{0,32}(?:password|passwd|pwd|passphrase)):(?![:=/]))(?=[^\s"'`<>()[\]{},;]{1,64}\d)[^\d\s"'`<>()[\]{},;][^\s"'`<>()[\]{},;]{5,}/g;

/** A user and a password with a digit, as in `auth: "ada:abc123"`. */
const USER =
  /^[^\s:"'`]{1,64}:(?!\d{1,5}\b)(?=[^\s"'`]{0,64}\d)[^\s"'`/][^\s"'`]{5}/;

/** A symbol or a hidden field as `inspect()` shows it, such as `[Symbol(token)]`. */
const SYMBOL = /(?:\[(?:Symbol\()?|Symbol\()[\w.-]{1,64}(\)?\]?)$/;

/** Redacts the values of secret fields and headers. */
export function redactFields(text: string): string {
  const fields = redactValues(text, text.matchAll(SEPARATOR), fieldAt);
  const headers = redactValues(fields, fields.matchAll(HEADER_END), headerAt);
  return headers.replace(
    WORD,
    (word, name, tight) => isSecretProperty(name ?? tight) ? REDACTED : word,
  );
}

/**
 * The index of a name's end, the index of its value's start, and a function that
 * finds the value's end. It is called for secret values only.
 */
type Field = readonly [
  nameEnd: number,
  start: number,
  findEnd: (name: string) => number,
];

function redactValues(
  text: string,
  separators: Iterable<RegExpExecArray>,
  fieldAt: (text: string, match: RegExpExecArray) => Field,
): string {
  let result = "";
  let rest = 0;
  for (const match of separators) {
    // The match is inside a redacted value.
    if (match.index < rest) continue;
    const [nameEnd, start, findEnd] = fieldAt(text, match);
    const name = nameBefore(text, nameEnd);
    if (name === undefined) continue;
    // In `["pass", "fail"]` and `{ pass: 12 }`, it's a result.
    const isPassword = /^pass$/i.test(name) &&
      /[:=>][ \t\\]*["'`]$/.test(match[0]);
    const isUser = /^auth$/i.test(name) && /["'`]$/.test(match[0]) &&
      USER.test(text.slice(start, start + 130));
    if (!isPassword && !isUser && !isSecretProperty(name)) continue;
    const end = findEnd(name);
    if (start === end) continue;
    result += text.slice(rest, start) + REDACTED;
    rest = end;
  }
  return result + text.slice(rest);
}

function fieldAt(
  text: string,
  { 0: match, 1: row, 3: attributes = "", 4: value = row, index }:
    RegExpExecArray,
): Field {
  const after = index + match.length;
  if (/[[{]$/.test(match)) {
    const start = index + match.search(/[A-Z[{]/);
    return [index, start, () => endOfList(text, after)];
  }
  if (value) {
    return [index - attributes.length, after, () => after + value.length];
  }
  if (!/\d$/.test(match)) return [index, after, () => endOfQuote(text, after)];
  const start = after - 1;
  // A count isn't secret: `{ total_tokens: 512 }`.
  const findEnd = (name: string) =>
    /tokens$/i.test(name)
      ? start
      : endOf(text, after, text.slice(after).search(/[^\w.]/));
  return [index, start, findEnd];
}

function headerAt(text: string, { 0: match, index }: RegExpExecArray): Field {
  const start = index + match.length;
  // Quoted values were redacted above.
  const isQuoted = QUOTES.includes(text[start] ?? " ");
  const findEnd = (name: string) =>
    !isQuoted && HEADER.test(name)
      ? endOf(text, start, text.slice(start).search(/\n/))
      : start;
  return [index + 1, start, findEnd];
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
  } else if (")]".includes(text[end - 1] ?? " ")) {
    const symbol = SYMBOL.exec(text.slice(Math.max(0, end - 80), end));
    end -= symbol?.[1]?.length ?? 0;
  }
  const name = nameAtEnd(text.slice(0, end));
  if (name === "") return undefined;
  // In `host=db password="…"`, the name follows a value.
  const isPair = text[index] === "=" && text[index + 1] !== ">";
  const before = isQuoted || isPair
    ? 0
    : back(text, end - name.length, " \t", 64);
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

/** Returns the index after `length` characters, or the end of the text for -1. */
function endOf(text: string, start: number, length: number): number {
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
      at = endOfQuote(text, at + 1);
      // The backslashes before the closing quote.
      while (text[at] === "\\") at++;
    }
  }
  return text.length;
}

/** Returns the end of the value whose opening quote is before `start`. */
function endOfQuote(text: string, start: number): number {
  const open = start - 1;
  const escapes = open - back(text, open, "\\", 8);
  for (let at = start;; at++) {
    at = text.indexOf(text[open]!, at);
    if (at === -1) return text.length;
    const found = at - back(text, at, "\\", escapes + 1);
    // A quote after more backslashes is part of the value.
    if (found <= escapes) return at - found;
  }
}
