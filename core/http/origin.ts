/**
 * Whether a page of somebody else has made a browser send a request. Browsers
 * add the cookies of a site to what other sites' pages send there, and let
 * those read all that comes over a socket (RFC 6455, section 10.2).
 *
 * @module
 */

/**
 * Whether a request comes from a page of another origin.
 *
 * `Sec-Fetch-Site` decides, which every browser of the last years sends and no
 * page can change; then `Origin`. Who sends neither is no browser, and nobody's
 * cookies are added to its requests.
 *
 * @param trusted Origins whose pages are as good as the server's own.
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
  // Without the scheme: behind a proxy the server's own is http.
  const host = URL.parse(origin)?.host;
  return host === undefined || host === "" ||
    host !== URL.parse(url)?.host;
}

/**
 * Checks a list of origins.
 *
 * @param operation What can't be done with a wrong one, such as `create app`.
 * @param name What the list is called.
 * @throws {TypeError} If one of them is not an origin.
 */
export function readOrigins(
  origins: readonly string[],
  operation: string,
  name: string,
): ReadonlySet<string> {
  for (const origin of origins) {
    const url = URL.parse(origin);
    if (url !== null && url.origin === origin) continue;
    throw new TypeError(
      `Cannot ${operation}: ${name} must hold origins such as "https://app.example", received ${
        JSON.stringify(origin)
      }`,
    );
  }
  return new Set(origins);
}
