/**
 * Sends 100,000 requests through the middleware, and prints the memory held and
 * the bytes of heap that each round of 12,500 leaves behind, as JSON. Started by
 * memory_test.ts with `--expose-gc`.
 */

import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  type Span,
  traceLoader,
  traceMiddleware,
  traceQuery,
} from "@quartet/kit/trace";
import { heapGrowth } from "../leaks.ts";

const ROUND = 12_500;
const tracer = createTracer();
const app = createApp({
  routes: [{
    path: "/items/:id",
    loader: ({ params }) =>
      traceLoader("item", async (span) => {
        span.setAttribute("app.text", `text of ${params.id}`.repeat(20));
        span.event("seen", { id: params.id! });
        // Ends with its trace, as nothing else ends it.
        span.child("forgotten", "custom");
        await Promise.resolve();
        if (Number(params.id) % 10 === 0) span.error(new Error("tenth"));
        return await traceQuery("SELECT 1", () => Promise.resolve([params]));
      }),
  }],
});
app.use(traceMiddleware(tracer));
app.use((_request, _context, next) => {
  alive.push(new WeakRef(tracer.activeSpan()!));
  return next();
});
/** The spans of the first round and of the latest. */
let first: WeakRef<Span>[] | undefined;
let alive: WeakRef<Span>[] = [];
let requests = 0;

async function drive(): Promise<void> {
  if (requests > 0) first ??= alive;
  alive = [];
  for (const end = requests + ROUND; requests < end; requests++) {
    const response = await app.fetch(
      new Request(`http://localhost/items/${requests}?page=${requests}`),
    );
    await response.text();
  }
}

const growth = await heapGrowth(drive);
const held = [...first!, ...alive].filter((ref) => ref.deref() !== undefined);
const traces = tracer.getTraces();

console.log(JSON.stringify({
  requests,
  held: held.length,
  traces: traces.length,
  spans: traces.reduce((sum, trace) => sum + trace.spans.size, 0),
  growth,
}));
