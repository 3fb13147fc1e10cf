// How Atlas answers: with a page, or with the way to one.

import type { Context } from "@quartet/kit/app";
import { getUser, safeRedirect } from "@quartet/kit/auth";
import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import { VisitorContext } from "./layout.tsx";

/** Answers a request with a page. */
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
      // It has the visitor's name on it.
      "cache-control": "private, no-cache",
    },
  });
}

/** Sends a browser to another page. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
}

/** The way to the sign-in page, and from there back to where one was. */
export function signInPath(url: URL): string {
  const isHere = url.pathname.startsWith("/sign-");
  const next = isHere ? nextPath(url) : url.pathname + url.search;
  return withNext("/sign-in", next);
}

/** A path that knows where one goes on to afterwards. */
export function withNext(path: string, next: string): string {
  return `${path}?next=${encodeURIComponent(next)}`;
}

/** Where one goes on to after signing in: always a page of Atlas. */
export function nextPath(url: URL): string {
  return safeRedirect(url.searchParams.get("next"));
}
