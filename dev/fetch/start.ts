/**
 * Makes plain `fetch` calls of a request spans, without a change of the app.
 *
 * @module
 */

import { currentScope } from "../../core/request_scope.ts";
import { tracedFetch } from "../../trace/instrument/traced_fetch.ts";
import type { Part } from "../part.ts";

/**
 * Replaces the global `fetch` by one that opens a span for each request. It sends
 * no trace to other servers.
 */
export function startFetch(): Part {
  const original = globalThis.fetch;
  const traced = tracedFetch({ fetch: original });
  const patched: typeof fetch = (input, init) =>
    isInFetch() ? original(input, init) : traced(input, init);
  // Bun's has more properties than a name.
  Object.defineProperties(patched, Object.getOwnPropertyDescriptors(original));
  globalThis.fetch = patched;
  return {
    close() {
      // Other code may have replaced it since.
      if (globalThis.fetch === patched) globalThis.fetch = original;
    },
  };
}

/** Whether the request has a span already, by `tracedFetch()` or the kit's auth. */
function isInFetch(): boolean {
  const { name, layer } = Object(currentScope()?.span) as {
    readonly name?: unknown;
    readonly layer?: unknown;
  };
  // A span of the app may be called `fetch books`.
  return (layer === "request" || layer === "auth") &&
    typeof name === "string" && name.startsWith("fetch ");
}
