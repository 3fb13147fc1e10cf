/**
 * The path of an absolute URL, as it was sent: neither decoded nor normalized.
 *
 * `new URL(url).pathname` costs more than everything else a small request
 * does, so the hot paths of the kit cut the path out of the string instead.
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
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start === -1) return "/";
  for (let i = start; i < url.length; i++) {
    const code = url.charCodeAt(i);
    if (code === 63 /* ? */ || code === 35 /* # */) return url.slice(start, i);
  }
  return url.slice(start);
}
