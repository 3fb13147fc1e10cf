/**
 * Who may open a socket. Browsers send cookies with the handshake of any page
 * and let it read what comes back, so the server has to look at `Origin`
 * (RFC 6455, section 10.2). Programs other than browsers send none.
 *
 * @module
 */

/** Decides about the origin of a request. */
export type OriginRule = (request: Request) => boolean;

/**
 * Makes the rule: the same host, or one of a list.
 *
 * @param allowed Origins such as `https://app.example`.
 * @throws {TypeError} If one of them is no origin.
 */
export function createOriginRule(allowed: readonly string[] = []): OriginRule {
  const origins = new Set(allowed.map(checkOrigin));
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null || origins.has(origin)) return true;
    // Without the scheme: behind a proxy the server's own is http.
    const host = URL.parse(origin)?.host;
    return host !== undefined && host !== "" &&
      host === URL.parse(request.url)?.host;
  };
}

function checkOrigin(origin: string): string {
  const url = URL.parse(origin);
  if (url !== null && url.origin === origin) return origin;
  throw new TypeError(
    `Cannot create RPC plugin: allowedOrigins must hold origins such as "https://app.example", received ${
      JSON.stringify(origin)
    }`,
  );
}
