/**
 * Decides by the cookies of a request whether a page may be shared with it.
 *
 * A page may show whatever a cookie says: a cart, a theme, the session of
 * another library. So pages are shared only if every cookie is known to have
 * no say in them.
 *
 * @module
 */

import { checkStrings } from "./check.ts";

/** A token as in RFC 6265, section 4.1.1, with `*` at the end only. */
const NAME = /^[!#$%&'+\-.^_`|~\w]*\*?$/;

/** Matches names of cookies. */
export type CookieMatcher = (name: string) => boolean;

/**
 * Reads a list of names.
 *
 * @throws {TypeError} If one of them is no name of a cookie.
 */
export function readCookieNames(
  names: unknown,
  option: string,
  doing: string,
): readonly string[] {
  checkStrings(names, option, doing);
  for (const name of names) {
    if (NAME.test(name)) continue;
    throw new TypeError(
      `Cannot ${doing}: ${option} must hold names of cookies, such as "theme" or "_ga*", received ${
        JSON.stringify(name)
      }`,
    );
  }
  return [...names];
}

const matchers = new WeakMap<readonly string[], CookieMatcher>();

/** Gives a matcher: `_ga*` matches all names that begin with `_ga`. */
export function matchCookies(names: readonly string[]): CookieMatcher {
  let matcher = matchers.get(names);
  if (matcher === undefined) matchers.set(names, matcher = compile(names));
  return matcher;
}

function compile(names: readonly string[]): CookieMatcher {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const name of names) {
    if (name.endsWith("*")) prefixes.push(name.slice(0, -1));
    else exact.add(name);
  }
  return (name) =>
    exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * The names in a `Cookie` header that `ignores` does not match.
 *
 * Text without a name is a cookie as well: its name is the empty string, which
 * no list holds.
 */
export function cookieNames(
  header: string | null,
  ignores: CookieMatcher,
): readonly string[] {
  if (header === null) return [];
  const names: string[] = [];
  for (const pair of header.split(";")) {
    const text = pair.trim();
    if (text === "") continue;
    const equals = text.indexOf("=");
    const name = equals === -1 ? "" : text.slice(0, equals).trimEnd();
    if (!ignores(name)) names.push(name);
  }
  return names;
}
