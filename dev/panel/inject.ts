/**
 * The middleware that adds the panel's script to pages. The tag is the same for
 * all requests, apart from the page's own nonce: the script finds the trace by
 * `Server-Timing`.
 *
 * @module
 */

import type { Middleware } from "../../core/middleware.ts";
import { pathOf } from "../../core/http/message.ts";
import { printable } from "../../core/redact/printable.ts";
import { redactText } from "../../core/redact/redact.ts";
import { runOutside } from "../../core/request_scope.ts";
import { isLocalRequest } from "../../trace/http/access.ts";
import { getActiveSpan } from "../../trace/record/context.ts";
import { checkPolicies, policiesIn } from "./content_policy.ts";
import { createInsertion } from "./insertion.ts";

/** The path of the script. */
const SCRIPT_PATH = "/__app/traces/panel.js";

/** Headers about the exact bytes. Caches confirm a stored page by some of them. */
const ABOUT_BYTES = [
  "content-length",
  "etag",
  "last-modified",
  "accept-ranges",
  "content-digest",
  "repr-digest",
  "digest",
];

/**
 * Creates a middleware that adds the panel to the documents that this machine's
 * browsers open. All other responses stay as they are.
 *
 * @param warn Called with the reason if a page can't have the panel, once for
 * each reason.
 */
export function createInjection(warn: (message: string) => void): Middleware {
  const known = new Set<string>();

  function refuse(request: Request, reason: string): undefined {
    if (known.has(reason)) return;
    known.add(reason);
    const path = redactText(pathOf(request.url));
    // Outside, because this isn't a message of the app.
    runOutside(() =>
      warn(printable(`${request.method} ${path} has no trace panel: ${reason}`))
    );
  }

  return async (request, { info }, next) => {
    const response = await next();
    // An excluded request has no trace.
    const isWanted = isPage(request, response) &&
      isLocalRequest(request, info) && getActiveSpan() !== undefined;
    if (!isWanted) return response;
    const problem = problemOf(response.headers);
    if (problem !== undefined) {
      refuse(request, problem);
      return response;
    }
    const policies = ["", "-report-only"].flatMap((end) =>
      response.headers.get(`content-security-policy${end}`) ?? []
    );
    const host = request.headers.get("host") ?? new URL(request.url).host;

    function tagFor(rest: string): string | undefined {
      const permission = checkPolicies(
        [...policies, ...policiesIn(rest)],
        host,
      );
      if (!permission.isAllowed) return refuse(request, permission.reason);
      const { nonce, framesViewer } = permission;
      return `<script async src="${SCRIPT_PATH}"${
        nonce === "" ? "" : ` nonce="${nonce}"`
      }${framesViewer ? "" : ` data-frame="no"`}></script>`;
    }

    // A refused document keeps its headers.
    const permission = checkPolicies(policies, host);
    if (!permission.isAllowed) {
      refuse(request, permission.reason);
      return response;
    }
    const headers = new Headers(response.headers);
    for (const name of ABOUT_BYTES) headers.delete(name);
    const { body, status, statusText } = response;
    return new Response(body!.pipeThrough(createInsertion(tagFor)), {
      status,
      statusText,
      headers,
    });
  };
}

/** Whether a response is a document that a browser shows in a tab. */
function isPage(request: Request, response: Response): boolean {
  const { status, ok, headers, body, bodyUsed } = response;
  const isPart = status === 206 || headers.has("content-range");
  // After an upgrade, Deno can't read the headers of the request.
  return (ok || status >= 400) && !isPart && body !== null && !bodyUsed &&
    /^text\/html *(?:;|$)/i.test(headers.get("content-type") ?? "") &&
    /^ *inline/i.test(headers.get("content-disposition") ?? "inline") &&
    request.headers.get("sec-fetch-dest") === "document" &&
    (request.method === "GET" || request.method === "POST" && ok);
}

/** Returns why a document can't be changed. */
function problemOf(headers: Headers): string | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding !== null) return `its Content-Encoding is ${encoding}`;
  return /\bno-transform\b/i.test(headers.get("cache-control") ?? "")
    ? "its Cache-Control has no-transform"
    : undefined;
}
