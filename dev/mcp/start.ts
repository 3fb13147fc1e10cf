/**
 * Answers coding assistants at `/__app/traces/mcp`, by the Model Context Protocol.
 *
 * @module
 */

import { runOutside } from "../../core/request_scope.ts";
import { routesOf } from "../../trace/http/access.ts";
import type { Sources } from "./tool.ts";

/** Most runs never need this code, so it is loaded on demand. */
const loadServer = () => runOutside(() => import("./server.ts"));

/** Adds the route for assistants to the viewer of a tracer. */
export function startMCP(sources: Sources): void {
  routesOf(sources.tracer)
    .set(
      "/mcp",
      async (request) => (await loadServer()).answer(request, sources),
    );
}
