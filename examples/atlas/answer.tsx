// Responses: an HTML page or a redirect.

import type { Context } from "@quartet/kit/app";
import { getUser, safeRedirect } from "@quartet/kit/auth";
import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import { VisitorContext } from "./layout.tsx";

export function html(context: Context, page: VNode, status = 200): Response {
  const visitor = {
    name: getUser(context)?.name,
    signInPath: signInPath(context.url),
  };
  const text = render(
    <VisitorContext.Provider value={visitor}>{page}</VisitorContext.Provider>,
  );
  return new Response(`<!DOCTYPE html>${text}`, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      // The page shows the user's name.
      "cache-control": "private, no-cache",
    },
  });
}

export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
}

/** Returns the path of the sign-in page. Signing in leads back to `url`. */
export function signInPath(url: URL): string {
  const isSignIn = url.pathname.startsWith("/sign-");
  const next = isSignIn ? nextPath(url) : url.pathname + url.search;
  return withNext("/sign-in", next);
}

/** Adds the page to open after signing in to a path. */
export function withNext(path: string, next: string): string {
  return `${path}?next=${encodeURIComponent(next)}`;
}

/** Returns the page to open after signing in. It's always a page of Atlas. */
export function nextPath(url: URL): string {
  return safeRedirect(url.searchParams.get("next"));
}
