/**
 * The path of an absolute URL, as `new URL(url).pathname` gives it.
 *
 * Parsing a URL costs more than everything else a small request does, so the
 * hot paths of the kit cut the path out of the string. A server may be sent
 * anything, though: where a parser would give something else than what stands
 * there, it is asked. Otherwise a request for `/admin/../x`, or one whose
 * `Host` holds a `?`, would have one path for the routes and another one for a
 * middleware that looks at `context.url`.
 *
 * @param url An absolute URL, as in `request.url`.
 * @returns The path, beginning with `/`, without query and fragment.
 *
 * @example
 * ```ts
 * import { pathOf } from "@quartet/kit/app";
 *
 * console.assert(pathOf("http://localhost:8000/a/b?c=d#e") === "/a/b");
 * ```
 */
export function pathOf(url: string): string {
  // Tracing, routes, caches and RPC ask in turn for the path of one request.
  if (url !== lastURL) {
    lastPath = REWRITTEN.test(url)
      ? URL.parse(url)?.pathname ?? cutPath(url)
      : cutPath(url);
    lastURL = url;
  }
  return lastPath;
}

let lastURL = "";
let lastPath = "/";

/** Dot segments, and characters that a parser encodes or takes for others. */
const REWRITTEN = /\/(?:\.|%2e)|[^!#-;=?-\[\]_a-z|~]/i;

function cutPath(url: string): string {
  const end = url.search(/[?#]/);
  const target = end === -1 ? url : url.slice(0, end);
  const start = target.indexOf("/", target.indexOf("://") + 3);
  return start === -1 ? "/" : target.slice(start);
}
