import type { VNode } from "preact";
import { render } from "preact-render-to-string";

/** Answers with a page. */
export function html(page: VNode, status = 200): Response {
  return new Response(`<!DOCTYPE html>${render(page)}`, {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}
