/**
 * Atlas as the soak serves it, with two additions: a cached page, and figures
 * of the process.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import type { Fetcher } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { getTracer } from "@quartet/kit/trace";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import type { AtlasOptions } from "../../examples/atlas/atlas.ts";

/** Figures of the server process. Sizes are in bytes. */
export interface Figures {
  readonly pid: number;
  readonly rss: number;
  /** Live objects in the heap, after garbage collection. */
  readonly heap: number;
  /** Number of unfinished traces, of requests and of subscriptions. */
  readonly running: number;
  /** Number of stored traces. */
  readonly kept: number;
}

/** Path of the figures. Paths below `/__app/` aren't traced. */
export const FIGURES_PATH = "/__app/soak";
/** Path of the cached page, which supports conditional requests. */
export const KEPT_PATH = "/kept/countries";

declare const gc: () => void;

/** Creates the demo with both additions. */
export function createWatchedAtlas(options: AtlasOptions): Fetcher {
  const atlas = createAtlas(options);
  const tracer = getTracer();
  let running = 0;
  tracer.subscribe(({ type }) => {
    running += type === "trace:start" ? 1 : -1;
  }, ["trace:start", "trace:end", "trace:discard"]);

  const cache = createCache();
  const app = createApp({
    routes: [{
      path: FIGURES_PATH,
      handler() {
        gc();
        const { rss, heapUsed: heap } = Deno.memoryUsage();
        const kept = tracer.getTraces().length;
        const figures: Figures = { pid: Deno.pid, rss, heap, running, kept };
        return Response.json(figures);
      },
    }],
  });
  const keep = cache.cacheResponse({ maxAge: 3600, clientMaxAge: 0 });
  app.use((request, context, next) =>
    context.url.pathname === KEPT_PATH
      ? keep(
        request,
        context,
        () => atlas.fetch(new Request(new URL("/api/countries", request.url))),
      )
      : next()
  );
  app.use((request, context, next) =>
    context.url.pathname === FIGURES_PATH
      ? next()
      : atlas.fetch(request, context.info)
  );
  return {
    fetch: app.fetch,
    async close() {
      await Promise.all([app.close(), atlas.close()]);
    },
  };
}
