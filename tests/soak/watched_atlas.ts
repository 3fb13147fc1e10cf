/**
 * Atlas as the soak serves it, in a process of its own: with a page that is
 * kept, which Atlas has none of, and with what the process can tell of itself.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import type { Fetcher } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { getTracer } from "@quartet/kit/trace";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import type { AtlasOptions } from "../../examples/atlas/atlas.ts";

/** What the server tells of itself. Sizes are in bytes. */
export interface Figures {
  readonly pid: number;
  readonly rss: number;
  /** What is alive in the heap: garbage has been collected. */
  readonly heap: number;
  /** Traces that have not ended: of requests, and of subscriptions. */
  readonly running: number;
  /** Traces that are kept. */
  readonly kept: number;
}

/** Where the figures are. Nothing below `/__app/` is traced. */
export const FIGURES_PATH = "/__app/soak";
/** Where the page is that is kept, and can be asked for conditionally. */
export const KEPT_PATH = "/kept/countries";

declare const gc: () => void;

/** Makes the demo, watched. */
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
