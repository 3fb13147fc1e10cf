/**
 * The page for a browser on this machine whose request has failed. It needs no
 * script, and its style is allowed by its hash.
 *
 * @module
 */

import { escapeHtml } from "../core/http/escape_html.ts";
import { nodeCrypto } from "../core/runtime/environment.ts";

/** The content of the page, as plain text. */
export interface ErrorPageContent {
  /** Method and path of the request. */
  readonly request: string;
  /** The pattern of the matched route. */
  readonly route: string | undefined;
  /** The error's class. */
  readonly name: string;
  /** The error's message. */
  readonly message: string;
  /** The path of the trace in the viewer, if the request is traced. */
  readonly trace: string | undefined;
}

const STYLE = `
:root {
  color-scheme: light dark;
  --back: #fff; --text: #1d1d20; --quiet: #5c5c66;
  --line: #d8d8de; --link: #0b57d0; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #17181c; --text: #ececf0; --quiet: #a5a5b0;
    --line: #3a3b42; --link: #8ab4f8; --bad: #ff8a80;
  }
}
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif;
}
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 1.5rem; color: var(--bad); }
h1, pre, dd { overflow-wrap: anywhere; }
pre { margin: .75rem 0 2rem; font: inherit; white-space: pre-wrap; }
dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem;
  margin: 0 0 2rem; padding: 1rem 0; border: solid var(--line);
  border-width: 1px 0;
}
dt, .note { color: var(--quiet); }
dd { margin: 0; font-family: ui-monospace, monospace; }
a { color: var(--link); font-weight: 600; }
`;

const HASH = nodeCrypto().createHash("sha256").update(STYLE).digest("base64");
const POLICY =
  `default-src 'none'; style-src 'sha256-${HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * Returns the page as a response in place of a failed one, with its headers.
 */
export function errorPage(
  { method }: Request,
  failed: Response,
  content: ErrorPageContent,
): Response {
  const headers = new Headers(failed.headers);
  headers.set("content-type", "text/html; charset=utf-8");
  headers.set("content-security-policy", POLICY);
  headers.set("cache-control", "no-store");
  headers.set("referrer-policy", "no-referrer");
  headers.set("x-content-type-options", "nosniff");
  headers.delete("content-length");
  const page = method === "HEAD" ? null : render(content);
  return new Response(page, { status: failed.status, headers });
}

function render(
  { request, route, name, message, trace }: ErrorPageContent,
): string {
  const row = (term: string, text: string) =>
    `\n<dt>${term}</dt><dd>${escapeHtml(text)}</dd>`;
  const link = trace === undefined
    ? `The request isn't traced. The terminal shows the stack.`
    : `<a href="${
      escapeHtml(trace)
    }">Open the trace</a> for the stack and the steps before the error.`;
  const routeRow = route === undefined ? "" : row("Route", route);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${name} · ${request}`)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(name)}</h1>
<pre>${escapeHtml(message)}</pre>
<dl>${row("Request", request)}${routeRow}${row("Status", "500")}
</dl>
<p>${link}</p>
<p class="note">This page comes from the dev command, for browsers on this machine. Other clients get JSON.</p>
</main>
</body>
</html>
`;
}
