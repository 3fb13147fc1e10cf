/**
 * Reads cookies from a request's `Cookie` header. A long value is in several
 * cookies. No value is decoded: what this package sets needs no decoding, and
 * `%E0%A4%A` of another program must not fail a request.
 *
 * @module
 */

import type { CookieSettings } from "./cookie_settings.ts";

/** `.0` to `.9`: more chunks than the longest token has. */
const CHUNK = /^\.\d$/;

/**
 * Returns the value under a name, joined from its chunks, or `undefined` if the
 * request has neither the cookie nor a chunk. An incomplete or ambiguous cookie
 * has no value.
 *
 * Two values under one name mean that another site has set one, on a parent
 * domain or a deeper path. The header doesn't say which is ours, so neither is
 * trusted.
 */
export function findCookie(
  header: string | null,
  name: string,
): { value: string | undefined; isAmbiguous: boolean } | undefined {
  if (header === null) return undefined;
  const at = header.indexOf(name);
  if (at === -1) return undefined;
  // The common case: one cookie, whole, and no other text like its name.
  const begin = at + name.length + 1;
  if (header[begin - 1] === "=" && isStart(header, at)) {
    const end = header.indexOf(";", begin);
    const value = end === -1 ? header.slice(begin) : header.slice(begin, end);
    if (end === -1 || header.indexOf(name, end) === -1) {
      return { value, isAmbiguous: false };
    }
  }
  const pieces = new Map<string, string>();
  let isAmbiguous = false;
  for (const [piece, value] of cookiesOf(header, name)) {
    isAmbiguous ||= (pieces.get(piece) ?? value) !== value;
    pieces.set(piece, value);
  }
  if (pieces.size === 0) return undefined;
  const whole = pieces.get(name);
  isAmbiguous ||= whole !== undefined && pieces.size > 1;
  const chunks = Array.from(pieces, (_, i) => pieces.get(`${name}.${i}`));
  const joined = chunks.includes(undefined) ? undefined : chunks.join("");
  return { value: isAmbiguous ? undefined : whole ?? joined, isAmbiguous };
}

/** Whether a name belongs to a cookie or to one of its chunks. */
export function isPieceOf(name: string, cookie: string): boolean {
  return name === cookie ||
    name.startsWith(cookie) && CHUNK.test(name.slice(cookie.length));
}

/** Returns all names of the session's cookie, its chunks and OAuth sign-ins. */
export function namesOfCookies({ name }: CookieSettings): readonly string[] {
  const chunks = Array.from({ length: 10 }, (_, index) => `${name}.${index}`);
  return [name, ...chunks, `${name}.oauth.*`];
}

/**
 * Returns the cookies whose names begin with a text.
 *
 * @param isWanted Selects names. Default: the text itself and its chunks' names.
 */
export function* cookiesOf(
  header: string,
  name: string,
  isWanted: (found: string) => boolean = (found) => isPieceOf(found, name),
): Generator<readonly [name: string, value: string]> {
  let start = -1;
  while ((start = header.indexOf(name, start + 1)) !== -1) {
    if (!isStart(header, start)) continue;
    let end = header.indexOf(";", start);
    if (end === -1) end = header.length;
    // Searched only within the pair. Otherwise a header of names without values
    // would take quadratic time.
    const pair = header.slice(start, end);
    start = end;
    const equals = pair.indexOf("=");
    if (equals === -1) continue;
    const found = pair.slice(0, equals).trimEnd();
    if (isWanted(found)) yield [found, pair.slice(equals + 1)];
  }
}

/** Whether a cookie begins here, after blanks at most. */
function isStart(header: string, at: number): boolean {
  for (let i = at - 1; i >= 0; i--) {
    const char = header[i];
    if (char === ";") return true;
    if (char !== " " && char !== "\t") return false;
  }
  return true;
}
