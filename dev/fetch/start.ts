/**
 * Makes plain `fetch` calls of a request spans, without a change of the app.
 *
 * @module
 */

import { tracedFetch } from "../../trace/instrument/traced_fetch.ts";

/**
 * Replaces the global `fetch` by one that opens a span for each request. It sends
 * no trace to other servers.
 */
export function startFetch(): { close(): void } {
  const original = globalThis.fetch;
  const patched = tracedFetch({ fetch: original });
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
