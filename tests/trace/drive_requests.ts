/**
 * Sends 100,000 requests through the middleware and prints the memory held, as
 * JSON. Started by memory_test.ts with `--expose-gc`.
 */

import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  type Span,
  traceLoader,
  traceMiddleware,
  traceQuery,
} from "@quartet/kit/trace";

declare const gc: () => void;

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
let alive: WeakRef<Span>[] = [];

async function drive(from: number, to: number): Promise<number> {
  for (let i = from; i < to; i++) {
    const response = await app.fetch(
      new Request(`http://localhost/items/${i}?page=${i}`),
    );
    await response.text();
  }
  // A WeakRef keeps its target alive until the current job ends.
  await new Promise((resolve) => setTimeout(resolve));
  gc();
  await new Promise((resolve) => setTimeout(resolve));
  gc();
  return Deno.memoryUsage().heapUsed;
}

const before = await drive(0, 1_000);
const old = alive;
alive = [];
await drive(1_000, 99_000);
alive = [];
const after = await drive(99_000, 100_000);
const held = [...old, ...alive].filter((ref) => ref.deref() !== undefined);
const traces = tracer.getTraces();

console.log(JSON.stringify({
  held: held.length,
  traces: traces.length,
  spans: traces.reduce((sum, trace) => sum + trace.spans.size, 0),
  heap: { before, after },
}));
