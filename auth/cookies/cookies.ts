/**
 * Reads cookies out of a request's `Cookie` header, and cuts long values into
 * several. No value is decoded: what this package sets needs no decoding, and
 * `%E0%A4%A` of anybody else must not fail a request.
 *
 * @module
 */

import type { CookieSettings } from "./cookie_settings.ts";
import { formatCookie } from "./cookie_settings.ts";

/** What browsers take at least of a cookie, attributes included, in bytes. */
const MAX_COOKIE = 4096;
/** `.0` to `.9`: more chunks than the longest token has. */
const CHUNK = /^\.(\d)$/;

/** A cookie of a request. */
interface RequestCookie {
  readonly name: string;
  readonly value: string;
}

/** What a request carries under a name and its chunks' names. */
export interface FoundCookie {
  /** The value. Absent if there is none, or none that can be relied on. */
  readonly value: string | undefined;
  /** Whether there are several different ones. */
  readonly isAmbiguous: boolean;
  /** Whether the request carries anything at all under these names. */
  readonly isPresent: boolean;
}

const NOTHING: FoundCookie = {
  value: undefined,
  isAmbiguous: false,
  isPresent: false,
};

/**
 * The value under a name, put together if it was cut.
 *
 * Two different values under one name mean that somebody else has set one, on
 * a parent domain or a deeper path, and the header doesn't tell whose comes
 * first. Neither is trusted.
 */
export function findCookie(header: string | null, name: string): FoundCookie {
  if (header === null) return NOTHING;
  const at = header.indexOf(name);
  if (at === -1) return NOTHING;
  // Nearly always there is one, whole, and no other text like it.
  const begin = at + name.length + 1;
  if (header[begin - 1] === "=" && isStart(header, at)) {
    const end = header.indexOf(";", begin);
    const value = end === -1 ? header.slice(begin) : header.slice(begin, end);
    if (end === -1 || header.indexOf(name, end) === -1) {
      return { value, isAmbiguous: false, isPresent: true };
    }
  }
  let whole: string | undefined;
  let chunks: (string | undefined)[] | undefined;
  let isAmbiguous = false;
  for (const cookie of cookiesOf(header, name)) {
    const rest = cookie.name.slice(name.length);
    if (rest === "") {
      isAmbiguous ||= whole !== undefined && whole !== cookie.value;
      whole = cookie.value;
    } else {
      const index = Number(CHUNK.exec(rest)?.[1]);
      chunks ??= [];
      isAmbiguous ||= chunks[index] !== undefined &&
        chunks[index] !== cookie.value;
      chunks[index] = cookie.value;
    }
  }
  if (whole === undefined && chunks === undefined) return NOTHING;
  isAmbiguous ||= whole !== undefined && chunks !== undefined;
  // A hole in the array is a chunk that is missing.
  const joined = chunks?.includes(undefined) ? undefined : chunks?.join("");
  return {
    value: isAmbiguous ? undefined : whole ?? joined,
    isAmbiguous,
    isPresent: true,
  };
}

/** Whether a name is that of a cookie, or of one of its chunks. */
export function isPieceOf(name: string, cookie: string): boolean {
  return name === cookie ||
    name.startsWith(cookie) && CHUNK.test(name.slice(cookie.length));
}

/** All names of the session's cookie, its chunks and its sign-ins. */
export function namesOfCookies({ name }: CookieSettings): readonly string[] {
  const chunks = Array.from({ length: 10 }, (_, index) => `${name}.${index}`);
  return [name, ...chunks, `${name}.oauth.*`];
}

/** The names that a request carries of a cookie and its chunks. */
function namesOf(header: string | null, name: string): string[] {
  return header === null
    ? []
    : [...new Set(Array.from(cookiesOf(header, name), ({ name }) => name))];
}

/** The cookies under a name, and under those of its chunks. */
function* cookiesOf(header: string, name: string): Generator<RequestCookie> {
  let start = -1;
  while ((start = header.indexOf(name, start + 1)) !== -1) {
    if (!isStart(header, start)) continue;
    let end = header.indexOf(";", start);
    if (end === -1) end = header.length;
    // Looked for in the pair alone: a header of names without values would be
    // searched to its end for each of them.
    const pair = header.slice(start, end);
    start = end;
    const equals = pair.indexOf("=");
    if (equals === -1) continue;
    const found = pair.slice(0, equals).trimEnd();
    if (found.length !== name.length && !CHUNK.test(found.slice(name.length))) {
      continue;
    }
    yield { name: found, value: pair.slice(equals + 1) };
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

/**
 * The values of `Set-Cookie` that keep a value under a name, in as many pieces
 * as it takes, and remove what else the request carries under these names.
 */
export function cookiesToSet(
  settings: CookieSettings,
  value: string,
  maxAge: number,
  header: string | null,
): string[] {
  const { name } = settings;
  const set = new Map<string, string>();
  for (const [piece, part] of cut(settings, value, maxAge)) {
    set.set(piece, formatCookie(settings, piece, part, maxAge));
  }
  for (const old of namesOf(header, name)) {
    if (!set.has(old)) set.set(old, formatCookie(settings, old, "", 0));
  }
  return [...set.values()];
}

/** The values of `Set-Cookie` that remove a cookie and all of its chunks. */
export function cookiesToClear(
  settings: CookieSettings,
  header: string | null,
): string[] {
  const names = new Set([settings.name, ...namesOf(header, settings.name)]);
  return Array.from(names, (name) => formatCookie(settings, name, "", 0));
}

function* cut(
  settings: CookieSettings,
  value: string,
  maxAge: number,
): Generator<readonly [name: string, part: string]> {
  const { name } = settings;
  const room = MAX_COOKIE -
    formatCookie(settings, `${name}.0`, "", maxAge).length;
  if (value.length <= room) {
    yield [name, value];
    return;
  }
  for (let i = 0, at = 0; at < value.length; i++, at += room) {
    yield [`${name}.${i}`, value.slice(at, at + room)];
  }
}
