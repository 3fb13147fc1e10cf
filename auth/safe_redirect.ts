/** The rule of {@linkcode isSafeRedirect}, for error messages. */
export const SAFE_REDIRECT = 'a path such as "/sign-in" or an http(s) URL';

/**
 * Whether a `Location` is a path of this server, or an absolute http(s) URL.
 * Browsers read `\` as `/` and drop tabs and line breaks (URL Standard, section
 * 4.4). So `/\evil.example`, `/<tab>/evil.example` and `//evil.example` lead to
 * another server, and are refused.
 */
export function isSafeRedirect(location: unknown): location is string {
  if (typeof location !== "string" || !/^[\x21-\x7e]+$/.test(location)) {
    return false;
  }
  if (location.includes("\\")) return false;
  return location.startsWith("/")
    ? isPath(location)
    : /^https?:\/\/[^/]/i.test(location) && URL.canParse(location);
}

/**
 * Whether a path stays on this server, also after its dot segments have been
 * removed. `/.//evil.example` doesn't.
 */
function isPath(location: string): boolean {
  if (location.startsWith("//")) return false;
  return !URL.parse(location, "http://here")?.pathname.startsWith("//");
}

/**
 * Returns the path to redirect to, for example after a sign-in. It protects from
 * open redirects: only a path of this server is returned, otherwise the fallback.
 *
 * @param wanted An untrusted value, such as a query parameter.
 * @param fallback The path otherwise. Default: `/`.
 *
 * @example
 * ```ts
 * import { safeRedirect } from "@quartet/kit/auth";
 *
 * console.assert(safeRedirect("/countries/fra?tab=map") === "/countries/fra?tab=map");
 * console.assert(safeRedirect("//evil.example") === "/");
 * console.assert(safeRedirect("https://evil.example", "/home") === "/home");
 * ```
 */
export function safeRedirect(wanted: unknown, fallback = "/"): string {
  return isSafeRedirect(wanted) && wanted.startsWith("/") ? wanted : fallback;
}
