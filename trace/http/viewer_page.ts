/**
 * The viewer's page, its headers, and copies of it with traces inside.
 *
 * @module
 */

import { isDevCommand } from "../../core/runtime/environment.ts";
import { page } from "../../viewer/dist/page.ts";
import { insertTraceData } from "../export/html.ts";
import { packTraces } from "../export/pack.ts";
import { serializeTrace } from "../serialize.ts";
import type { TraceData } from "../types.ts";

export { page };

/** Longer JSON is compressed, in characters. */
const PACK_FROM = 32 * 1024;

/**
 * The content security policy of the page: only its own script and style, by
 * their hashes, and connections to its own origin.
 */
const POLICY = /"Content-Security-Policy" content="([^"]+)"/.exec(page)![1]!;

/** Under the dev command, the panel frames the viewer in pages of its origin. */
const isFramed = isDevCommand();

/** The headers of the page. */
export const headers: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `${POLICY}; frame-ancestors ${
    isFramed ? "'self'" : "'none'"
  }`,
  // A page with this policy can only frame documents that have it too.
  ...isFramed && { "cross-origin-embedder-policy": "require-corp" },
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Returns the page with traces inside. */
export async function pageWith(traces: readonly TraceData[]): Promise<string> {
  const serialized = traces.map(serializeTrace);
  const json = JSON.stringify(serialized);
  return insertTraceData(
    page,
    json.length < PACK_FROM
      ? { encoding: "json", text: json }
      : { encoding: "packed", text: await packTraces(serialized) },
  );
}
