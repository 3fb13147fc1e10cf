import { checkValue } from "../check/options.ts";
import { rule } from "../check/rules.ts";
import { show } from "../check/show.ts";

const anOriginList = rule("an array of origins", Array.isArray);

/**
 * Whether a page of another origin made a browser send a request (CSRF). Browsers
 * add a site's cookies to requests from other sites' pages, and let those pages
 * read a socket's messages (RFC 6455, section 10.2).
 *
 * `Sec-Fetch-Site` decides: all current browsers send it, and pages can't change
 * it. Otherwise `Origin` decides. A client that sends neither isn't a browser, so
 * its requests carry no user's cookies.
 *
 * @param trusted Origins that count as the server's own.
 */
export function isCrossOrigin(
  { headers, url }: Request,
  trusted: ReadonlySet<string>,
): boolean {
  const origin = headers.get("origin");
  if (origin !== null && trusted.has(origin)) return false;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  if (origin === null) return false;
  // Schemes aren't compared: behind a proxy, the server's own is http.
  const host = URL.parse(origin)?.host;
  return !host || host !== URL.parse(url)?.host;
}

/** Whether a value is an origin such as `https://app.example`, without a path. */
export function isOrigin(value: unknown): boolean {
  return URL.parse(String(value))?.origin === value;
}

/**
 * Checks a list of origins.
 *
 * @param operation The operation in error messages, such as `create app`.
 * @param name The list's name in error messages, such as `trustedOrigins`.
 * @throws {TypeError} If it isn't an array, or one of them isn't an origin.
 */
export function readOrigins(
  origins: readonly string[],
  operation: string,
  name: string,
): ReadonlySet<string> {
  checkValue(origins, name, anOriginList, operation);
  for (const origin of origins) {
    if (isOrigin(origin)) continue;
    const received = show(origin);
    throw new TypeError(
      `Cannot ${operation}: ${name} must hold origins such as "https://app.example", without a path or a slash at the end, received ${received}`,
    );
  }
  return new Set(origins);
}
