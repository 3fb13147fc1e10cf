/**
 * Whether a request was made by a page of somebody else. Browsers add the
 * cookies of a site to requests that other sites' pages make; what such a
 * request changes, its user may not have wanted to change.
 *
 * @module
 */

/** Methods that must not change anything (RFC 9110, section 9.2.1). */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * Whether an unsafe request comes from a page of another origin.
 *
 * `Sec-Fetch-Site` decides, which every browser of the last years sends and no
 * page can change; then `Origin`. Who sends neither is no browser, and nobody's
 * cookies are added to its requests.
 *
 * @param trusted Origins whose pages are as good as the server's own.
 */
export function isCrossOrigin(
  request: Request,
  trusted: ReadonlySet<string>,
): boolean {
  if (SAFE.has(request.method)) return false;
  const { headers } = request;
  const origin = headers.get("origin");
  if (origin !== null && trusted.has(origin)) return false;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  if (origin === null) return false;
  // Without the scheme: behind a proxy the server's own is http.
  const host = URL.parse(origin)?.host;
  return host === undefined || host === "" ||
    host !== (headers.get("host") ?? URL.parse(request.url)?.host);
}

/**
 * Checks a list of origins.
 *
 * @throws {TypeError} If one of them is none.
 */
export function readOrigins(origins: readonly string[]): ReadonlySet<string> {
  for (const origin of origins) {
    if (URL.parse(origin)?.origin === origin && origin !== "null") continue;
    throw new TypeError(
      `trustedOrigins must hold origins such as "https://app.example", received ${
        JSON.stringify(origin)
      }`,
    );
  }
  return new Set(origins);
}
