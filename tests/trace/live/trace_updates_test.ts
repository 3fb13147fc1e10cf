import { assertEquals, assertThrows } from "@std/assert";
import { createApp, currentContext } from "@quartet/kit/app";
import { createTracer } from "@quartet/kit/trace";
import { createTraceUpdates } from "../../../trace/live/trace_updates.ts";

const id = (digits: number, number: number) =>
  String(number).padStart(digits, "0");

Deno.test("Running traces are looked at with one read of all", async () => {
  const tracer = createTracer();
  const spans = Array.from(
    { length: 20 },
    (_, i) =>
      tracer.startTrace("rpc:ticks", "rpc", {
        traceId: id(32, i + 1),
        parentId: id(16, i + 1),
        attributes: { "app.link": `00-${id(32, i + 101)}-${id(16, i + 1)}-01` },
      }),
  );
  const { getTrace } = tracer;
  let reads = 0;
  tracer.getTrace = (traceId) => {
    reads++;
    return getTrace.call(tracer, traceId);
  };
  const sent = Promise.withResolvers<string>();
  const updates = createTraceUpdates(tracer, (_, { id }) => sent.resolve(id));
  for (const trace of tracer.getTraces()) updates.note(trace);
  spans[7]!.setAttribute("app.rpc.messages", 1);
  assertEquals(await sent.promise, id(32, 8));
  updates.close();
  // Only the changed one.
  assertEquals(reads, 1);
});

Deno.test("Updates after the first belong to no request", async () => {
  const tracer = createTracer();
  const span = tracer.startTrace("rpc:ticks", "rpc", { traceId: id(32, 1) });
  const later: PromiseWithResolvers<void>[] = [1, 2].map(() =>
    Promise.withResolvers()
  );
  let sent = 0;
  const updates = createTraceUpdates(tracer, () => {
    if (sent++ === 0) return;
    try {
      assertThrows(currentContext, TypeError);
      later.shift()!.resolve();
    } catch (error) {
      later.shift()!.reject(error);
    }
  });
  const app = createApp({
    routes: [{
      path: "/",
      loader() {
        updates.add("trace:update", id(32, 1));
        span.event("tick");
        // It is sent after the pause, and the next change when spans are looked
        // at.
        updates.add("trace:update", id(32, 1));
        return null;
      },
    }],
  });
  const [paused, looked] = later;
  const response = await app.fetch(new Request("http://localhost/"));
  await response.body?.cancel();
  await paused!.promise;
  span.event("tick");
  await looked!.promise;
  updates.close();
  await app.close();
});
