/** Browser spans, and how the server records them. */

import { assertEquals } from "@std/assert";
import { createCollector, createTracer } from "@quartet/kit/trace";
import { ClientSpan } from "@quartet/kit/trace/client";

/** Returns the server's record of a span that `fill` has written to. */
function kept(fill: (span: ClientSpan) => void) {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /");
  let record: unknown;
  const { traceId } = root;
  const trace = {
    id: traceId,
    opened() {},
    ended: (json: string) => record = JSON.parse(json),
  };
  const span = new ClientSpan(trace, root.id, "browser");
  fill(span);
  span.end();
  const message = { type: "client:spans", traceId, spans: [record] };
  assertEquals(createCollector(tracer).receive(message), {
    added: 1,
    rejected: 0,
  });
  return tracer.getTrace(traceId)!.spans.get(span.id)!;
}

Deno.test("The last value of an attribute counts, even if the span is full", () => {
  const { attributes } = kept((span) => {
    for (let i = 0; i < 70; i++) span.setAttribute(`key ${i}`, "first");
    span.setAttribute("key 0", "last");
    span.setAttribute("key 63", "last");
    span.setAttribute("key 64", "last");
  });
  assertEquals(attributes["key 0"], "last");
  assertEquals(attributes["key 1"], "first");
  assertEquals(attributes["key 63"], "last");
  assertEquals(attributes["key 64"], undefined);
});

Deno.test("The server shortens a long name or key and states by how much", () => {
  const { attributes, events } = kept((span) => {
    span.setAttribute("k".repeat(1000), 1);
    span.event("e".repeat(1000));
  });
  assertEquals(
    Object.keys(attributes)[0],
    `${"k".repeat(128)}… (872 more characters)`,
  );
  assertEquals(events[0]!.name, `${"e".repeat(256)}… (744 more characters)`);
});
