/** The rule of {@linkcode isSafeRedirect}, for error messages. */
export const SAFE_REDIRECT = 'a path such as "/sign-in" or an http(s) URL';

/**
 * Whether a `Location` leads where it seems to: to a path of this server, or
 * openly to another one. Browsers read `\` as `/` and drop tabs and line breaks
 * (URL Standard, section 4.4), so `/\evil.example` and `/<tab>/evil.example`
 * are other servers in disguise, as is `//evil.example`.
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
 * Whether it stays on this server, also for whoever takes the dots out of it
 * and follows what is left: `/.//evil.example` then leads elsewhere.
 */
function isPath(location: string): boolean {
  if (location.startsWith("//")) return false;
  return !URL.parse(location, "http://here")?.pathname.startsWith("//");
}

/**
 * The path to go on to, as a sign-in page gets it in its address: what the
 * visitor wanted, if that is a path of this server.
 *
 * @param wanted A path that came with a request; anything at all.
 * @param fallback The path to go to otherwise. Default `/`.
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
