/**
 * Normalizes paths of requests and of invalidations, so that equal ones match.
 *
 * @module
 */

import { show } from "../core/check/rules.ts";
import type { RequestContext } from "../core/context.ts";
import { pathOf } from "../core/http/message.ts";
import type { RequestScope } from "../core/request_scope.ts";
import { trimEnd } from "../core/trim_end.ts";
import { MAX_NAME } from "./scope_name.ts";

/** Paths in normal form: without dots, escapes and query. */
const PLAIN = /^(?:\/[\w~!$&'()*+,;=:@-]+)+$/;

/**
 * Characters whose escape the normal form decodes: all that a URL parser leaves as
 * they are. `%2F` and `%25` have a different meaning than `/` and `%`.
 */
const DECODED = /[\w.~!$&'()*+,;=:@|^[\]-]/;

/**
 * Returns the normal form of a path. It has no query, fragment or trailing slashes.
 * Its escapes are equal for all paths that give routes the same parameters:
 * `/café/@a` and `/caf%c3%a9/%40a/` are `/caf%C3%A9/@a`.
 */
export function normalizePath(path: string): string {
  if (path === "/" || PLAIN.test(path)) return path;
  const parsed = URL.parse(`http://localhost${path}`)?.pathname ?? path;
  const spelled = parsed.replaceAll(/%[\da-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(parseInt(escape.slice(1), 16));
    return DECODED.test(char) ? char : escape.toUpperCase();
  });
  return trimEnd(spelled, "/") || "/";
}

/**
 * Returns the scopes `/`, `/posts/`, … of everything that has `path` below it.
 *
 * @param maxLength The length of the longest one. So a path has few prefixes, however
 * long it is.
 */
export function prefixesOf(path: string, maxLength = MAX_NAME): string[] {
  const prefixes = ["/"];
  for (
    let i = path.indexOf("/", 1);
    i !== -1 && i < maxLength;
    i = path.indexOf("/", i + 1)
  ) prefixes.push(path.slice(0, i + 1));
  return prefixes;
}

/**
 * Reads a path, or a pattern that ends in `/*`.
 *
 * @returns An exact path, or the prefix of all paths below one. Of a prefix that is
 * too long, the part that isn't: it matches more paths.
 * @throws {TypeError} If it is neither.
 */
export function readPattern(pattern: string, operation: string) {
  const cut = pattern.search(/[?#]/);
  const path = cut === -1 ? pattern : pattern.slice(0, cut);
  const isPrefix = path.endsWith("*");
  const expected = !path.startsWith("/")
    ? 'begin with "/"'
    : isPrefix && !path.endsWith("/*")
    ? 'end in "/*" to match all paths below one'
    : undefined;
  if (expected !== undefined) {
    throw new TypeError(
      `Cannot ${operation}: a path must ${expected}, received ${show(pattern)}`,
    );
  }
  // The whole pattern, because a URL drops white space at its end, but not before
  // a query.
  if (!isPrefix) return { path: normalizePath(pattern) };
  const parent = normalizePath(path.slice(0, -1));
  return {
    prefix: parent === "/" ? parent : prefixesOf(`${parent}/`).at(-1)!,
  };
}

const known = new WeakMap<RequestContext, string>();

/** Returns the path of the request in a scope, if its context has one. */
export function pathOfScope(
  scope: RequestScope | undefined,
): string | undefined {
  const context = scope?.context;
  if (context === undefined) return undefined;
  const path = known.get(context);
  if (path !== undefined) return path;
  const url = urlOf(context);
  if (url === undefined) return undefined;
  let normalized = normalizePath(pathOf(url));
  // A part of a string keeps the whole string in memory, such as a long query.
  if (url.length > normalized.length + MAX_NAME) {
    normalized = JSON.parse(JSON.stringify(normalized));
  }
  known.set(context, normalized);
  return normalized;
}

/** The kit's context has the request as `request`, Hono's as `req`. */
function urlOf(context: RequestContext): string | undefined {
  const { request, req } = context as {
    readonly request?: { readonly url?: unknown };
    readonly req?: { readonly url?: unknown };
  };
  const url = request?.url ?? req?.url;
  return typeof url === "string" ? url : undefined;
}
