import { assertEquals } from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import { TraceUpdates } from "../../../trace/live/trace_updates.ts";

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
  const updates = new TraceUpdates(tracer, (_, { id }) => sent.resolve(id));
  for (const trace of tracer.getTraces()) updates.note(trace);
  spans[7]!.setAttribute("app.rpc.messages", 1);
  assertEquals(await sent.promise, id(32, 8));
  updates.close();
  // Only the changed one.
  assertEquals(reads, 1);
});
