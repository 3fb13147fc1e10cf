import { prefersHtml } from "../core/http/accept.ts";
import { escapeHtml } from "../core/http/escape_html.ts";
import { isSafeRedirect } from "./safe_redirect.ts";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/**
 * Returns a small HTML page for a failed sign-in, or `undefined` if the client
 * doesn't prefer HTML. The page links back to the form.
 *
 * @param message One sentence that the client may read.
 * @param headers Additional response headers.
 * @param home The path of the link. Default: the form's page.
 */
export function errorPage(
  request: Request,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
  home?: string,
): Response | undefined {
  if (!prefersHtml(acceptOf(request))) return undefined;
  const back = home ?? pathBack(request);
  const link = back === undefined
    ? ""
    : `\n<p><a href="${escapeHtml(back)}">Back</a></p>`;
  const page = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign-in failed</title>
<h1>Sign-in failed</h1>
<p>${escapeHtml(message)}</p>${link}
</html>
`;
  return new Response(page, { status, headers: { ...HEADERS, ...headers } });
}

function acceptOf({ headers }: Request): string | null {
  try {
    return headers.get("accept");
  } catch {
    // Deno drops a request that has become a socket.
    return null;
  }
}

/** Returns the path of the form's page, if it is one of this server. */
function pathBack({ headers, url }: Request): string | undefined {
  const from = URL.parse(headers.get("referer") ?? "");
  // Schemes aren't compared: behind a proxy, the server's own is http.
  if (from === null || from.host !== URL.parse(url)?.host) return undefined;
  return isSafeRedirect(from.pathname) ? from.pathname : undefined;
}
