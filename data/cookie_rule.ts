/**
 * Decides by a request's cookies whether it may get a shared page.
 *
 * A page can depend on any cookie: a cart, a theme, another library's session.
 * So a page is shared only if each cookie is known not to affect it.
 *
 * @module
 */

import { matching } from "../core/check/rules.ts";

/** A token (RFC 6265, section 4.1.1). Only a trailing `*` has a meaning. */
export const aCookieName = matching(
  'the name of a cookie, such as "theme" or "_ga*"',
  /^(?=.)[!#$%&'+\-.^_`|~\w]*\*?$/,
);

/** Matches values of the kit's own cookies: tokens and ids. */
const VALUE = /^[\w.-]*$/;

/** Matches names of cookies. */
type CookieMatcher = (name: string) => boolean;

/** Returns a matcher. `_ga*` matches all names that begin with `_ga`. */
export function matchCookies(names: readonly string[]): CookieMatcher {
  return (cookie) =>
    names.some((name) =>
      name.endsWith("*")
        ? cookie.startsWith(name.slice(0, -1))
        : cookie === name
    );
}

/**
 * Returns why cookies stand in the way of a shared page, or `undefined` if none
 * does.
 *
 * @param cookies The names of the request's cookies.
 * @param allowed The names of those that don't affect the page.
 */
export function cookieObstacle(
  cookies: readonly string[],
  allowed: readonly string[],
): string | undefined {
  const isAllowed = matchCookies(allowed);
  const found = cookies.find((name) => !isAllowed(name));
  if (found === undefined) return undefined;
  const name = found === "" ? "an unusual cookie" : `the cookie ${found}`;
  return `the request has ${name}, which isn't in ignoreCookies`;
}

/**
 * Returns the names in a `Cookie` header that `ignores` doesn't match.
 *
 * A cookie without a name gets the empty string, which no list contains. So does
 * a cookie with a value that the kit never sets: another parser may find other
 * cookies in that value.
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
    if (ignores(name)) continue;
    names.push(VALUE.test(text.slice(equals + 1)) ? name : "");
  }
  return names;
}
