import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import {
  createCollector,
  createTracer,
  createTracesAPIHandler,
  deserializeTrace,
  serializeTrace,
} from "@quartet/kit/trace";
import type { TraceData } from "@quartet/kit/trace";
import { anyJSON, mostly, objectOf } from "../input/json.ts";
import type { JSONValue } from "../input/json.ts";
import { mutated } from "../input/mutate.ts";
import { requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const TIME = 1_760_000_000_000;

const id = mostly(
  fc.constantFrom(...["1", "2", "3", "4"].map((n) => n.repeat(16))),
  // Placeholder for the root's id, which isn't known yet.
  fc.constant("ROOT"),
);
/** The trace of the server's request, and two that only browsers have. */
const traceId = fc.constantFrom("TRACE", "e".repeat(32), "f".repeat(32));
const link = fc.tuple(traceId, fc.constantFrom("ROOT", "1".repeat(16)))
  .map(([traceId, id]) => `00-${traceId}-${id}-01`);
const time = mostly(
  fc.constantFrom(TIME, TIME + 5, TIME - 5),
  fc.constantFrom(TIME, TIME + 1, TIME + 2, 0, -1, 8.64e15, 1e300),
);

const span = objectOf({
  id,
  parentId: fc.oneof(id, fc.constant(null)),
  name: mostly(fc.constant("hydrate:Cart")),
  layer: mostly(fc.constantFrom("islands", "request", "custom", "__proto__")),
  status: mostly(fc.constantFrom("ok", "error")),
  startTime: time,
  endTime: time,
  duration: time,
  attributes: objectOf({
    a: anyJSON,
    b: anyJSON,
    "app.link": mostly(link),
    "app.link.upgrade": mostly(link),
    "app.open": mostly(fc.boolean()),
    "app.action": mostly(fc.constantFrom("load", "click")),
    "app.detached": mostly(fc.boolean()),
  }),
  events: mostly<JSONValue>(
    fc.array(objectOf({ name: mostly(fc.constant("e")), time }), {
      maxLength: 3,
    }),
  ),
  children: anyJSON,
});

const wholeSpan = span.map((span): JSONValue => ({
  id: "5".repeat(16),
  parentId: "ROOT",
  name: "navigation",
  layer: "custom",
  startTime: TIME,
  endTime: TIME + 10,
  ...span as object,
}));

const message = objectOf({
  type: mostly(fc.constant("client:spans")),
  traceId: mostly(traceId),
  spans: mostly<JSONValue>(
    fc.array(fc.oneof(wholeSpan, span), { maxLength: 8 }),
  ),
  clock: objectOf({ offset: time, sentAt: time }),
});

/** Spans that a browser sends to the traces API. */
export const clientSpans = defineTarget(
  "client-spans",
  "whatever a page reports, its trace stays a readable tree and the server's spans stay unchanged",
  fc.record({
    messages: fc.array(
      mutated(message.map((message) => JSON.stringify(message))),
      { minLength: 1, maxLength: 3 },
    ),
    isEarly: fc.boolean(),
  }),
  () => {
    return {
      async check({ messages, isEarly }) {
        const tracer = createTracer({ maxTraces: 3, maxSpansPerTrace: 10 });
        const handler = createTracesAPIHandler(tracer, {
          authorize: () => true,
          collector: createCollector(tracer),
        });
        const root = tracer.startTrace("GET /");
        const child = root.child("loader", "data");
        child.setAttribute("a", 1);
        child.end();
        if (!isEarly) root.end();
        let added = 0;
        for (const message of messages) {
          const body = message.replaceAll("ROOT", root.id)
            .replaceAll("TRACE", root.traceId);
          const response = await handler(
            requestOf("/", { method: "POST", body })!,
          );
          const answer = await response.json();
          assert([202, 400].includes(response.status), `${response.status}`);
          if (response.status === 202) {
            assertEquals(typeof answer.added, "number");
            added += answer.added;
          }
        }
        root.end();
        const trace = tracer.getTrace(root.traceId)!;
        for (const trace of tracer.getTraces()) {
          checkTree(trace);
          for (const { traceId } of trace.spans.values()) {
            assertEquals(tracer.getTrace(traceId), trace);
          }
        }
        assertEquals(trace.spans.get(child.id)!.name, "loader");
        assertEquals(trace.spans.get(child.id)!.parentId, root.id);
        const text = JSON.stringify(serializeTrace(trace));
        assertEquals(deserializeTrace(text), trace);
        return `${added} added`;
      },
    };
  },
);

/** Checks that each span is reached once from the root. */
function checkTree({ spans, rootSpanId }: TraceData): void {
  const seen = new Set<string>();
  const visit = (id: string, parentId: string | null) => {
    assert(!seen.has(id), `${id} is in the tree once`);
    seen.add(id);
    const span = spans.get(id);
    assert(span !== undefined, `${id} is kept`);
    assertEquals(span.id, id);
    if (parentId !== null) assertEquals(span.parentId, parentId);
    assert(span.endTime >= span.startTime, "no span ends before it begins");
    for (const child of span.children) visit(child, id);
  };
  visit(rootSpanId, null);
  assertEquals(seen.size, spans.size, "all spans are in the tree");
}
