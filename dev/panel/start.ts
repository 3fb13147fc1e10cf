/**
 * The developer-tools panel: a badge on each page, which opens the viewer with
 * the page's trace.
 *
 * @module
 */

import { PRIVATE_HEADERS } from "../../core/http/private_headers.ts";
import { routesOf } from "../../trace/http/access.ts";
import type { Tracer } from "../../trace/types.ts";
import { script } from "./dist/script.ts";
import { createInjection } from "./inject.ts";
import { createPanelSocket } from "./live.ts";
import type { Findings } from "../findings/findings.ts";

const HEADERS = {
  ...PRIVATE_HEADERS,
  "content-type": "text/javascript; charset=utf-8",
};

/**
 * Adds the panel's script and socket to the routes of a tracer.
 *
 * @param findings The causes that the panel lists.
 */
export function startPanel(
  tracer: Tracer,
  findings: Pick<Findings, "of" | "subscribe">,
) {
  const socket = createPanelSocket(tracer, findings);
  routesOf(tracer)
    .set("/panel", socket.route)
    .set("/panel.js", () => new Response(script, { headers: HEADERS }));
  return {
    /** Adds the panel to pages. */
    middleware: createInjection((message) => console.warn(message)),
    /** Closes the sockets of all panels. */
    close: socket.close,
  };
}
