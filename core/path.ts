/**
 * Returns the path of an absolute URL, like `new URL(url).pathname`.
 *
 * Parsing takes more than 1 µs, so the path is cut out of the text. A path that a
 * parser would change is parsed. Otherwise `/admin/../x` would be one path for
 * routes and another one for `context.url`.
 *
 * @param url An absolute URL, as in `request.url`.
 * @returns The path, beginning with `/`, without query and fragment.
 */
export function pathOf(url: string): string {
  // Tracing, routes, caches and RPC ask for the path of the same request.
  // Remembering it saves each of them 0.1 µs.
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

/** Dot segments, and characters that a parser encodes or replaces. */
const REWRITTEN = /\/(?:\.|%2e)|[^!#-;=?-\[\]_a-z|~]/i;

function cutPath(url: string): string {
  const end = url.search(/[?#]/);
  const target = end === -1 ? url : url.slice(0, end);
  const start = target.indexOf("/", target.indexOf("://") + 3);
  return start === -1 ? "/" : target.slice(start);
}
