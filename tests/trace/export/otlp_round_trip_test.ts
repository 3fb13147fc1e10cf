import { assertEquals } from "@std/assert";
import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
} from "../../../trace/types.ts";
import { joinSpans } from "../../../trace/export/join.ts";
import { fromOTLP } from "../../../trace/export/otlp_reader.ts";
import { toOTLP } from "../../../trace/export/otlp_writer.ts";
import { anyTrace } from "./any_trace.ts";
import { makeTrace, type SpanSketch } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

/** Converts traces to OTLP as text, and back. */
function roundTrip(traces: readonly SerializedTrace[]): SerializedTrace[] {
  return fromOTLP(JSON.parse(JSON.stringify(toOTLP(traces))));
}

/** Sets durations to end minus start: OTLP has no others. */
function withPlainDurations(trace: SerializedTrace): SerializedTrace {
  const { startTime, endTime } = trace;
  return {
    ...trace,
    duration: endTime - startTime,
    spans: trace.spans.map((span) => ({
      ...span,
      duration: span.endTime - span.startTime,
    })),
  };
}

/** Returns any trace that OTLP can represent. */
function anyRepresentableTrace(random: SeededRandom): SerializedTrace {
  const id = random.hex(16);
  const trace = anyTrace(random);
  const ids = Array.from(
    { length: Math.max(1, trace.spans.length) },
    () => random.hex(8),
  );
  const rootPlace = random.below(ids.length);
  const spans = ids.map((spanId, i): SpanData => {
    const model = trace.spans[i] ?? makeTrace([{}]).spans[0] as SpanData;
    const startTime = 1.76e12 + random.fraction() * 1e6;
    const endTime = startTime + random.fraction() * 1e3;
    const { droppedAttributes = 0, droppedEvents = 0, ...rest } = model;
    return {
      ...rest,
      id: spanId,
      traceId: id,
      parentId: random.pick([null, random.hex(8), ...ids.slice(0, i)]),
      name: model.name.toWellFormed(),
      startTime,
      endTime,
      duration: endTime - startTime,
      attributes: representable(model.attributes),
      events: model.events.map(({ name, attributes }) => ({
        name: name.toWellFormed(),
        time: startTime,
        ...(attributes && { attributes: representable(attributes) }),
      })),
      children: [],
      ...(droppedAttributes > 0 && { droppedAttributes }),
      ...(droppedEvents > 0 && { droppedEvents }),
    };
  });
  const linked = spans.map((span) => ({
    ...span,
    children: spans.filter((s) => s.parentId === span.id).map((s) => s.id),
  }));
  const root = linked[rootPlace] as SpanData;
  return {
    id,
    rootSpanId: root.id,
    startTime: root.startTime,
    endTime: root.endTime,
    duration: root.duration,
    spans: linked,
    metadata: trace.metadata,
  };
}

function representable(
  attributes: Readonly<Record<string, AttributeValue>>,
): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key.toWellFormed(),
      // JSON has no -0.
      typeof value === "string"
        ? value.toWellFormed()
        : value === 0
        ? 0
        : value,
    ]),
  );
}

Deno.test("fromOTLP(toOTLP()) returns realistic traces with exact times", () => {
  const traces = realisticTraces(50, 20).map(withPlainDurations);
  assertEquals(roundTrip(traces), traces);
});

/** Returns a trace as the tracer joins it. */
function joined(trace: SerializedTrace): SerializedTrace {
  const { spans, rootSpanId, metadata } = trace;
  const tree = joinSpans(spans, { rootSpanId });
  return tree.rootSpanId === rootSpanId ? { ...tree, metadata } : tree;
}

Deno.test("fromOTLP(toOTLP()) returns any joined trace that OTLP can represent", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new SeededRandom(seed);
    const traces = [
      joined(anyRepresentableTrace(random)),
      joined(anyRepresentableTrace(random)),
    ];
    assertEquals(roundTrip(traces), traces, `seed ${seed}`);
  }
});

Deno.test("fromOTLP(toOTLP()) keeps layers, timeouts, origin and dropped spans", () => {
  const trace = makeTrace([
    { layer: "islands", status: "timeout" },
    { layer: "signals", status: "error", under: 0 },
  ], { origin: "client", pathname: "/other", droppedSpans: 3 });
  assertEquals(roundTrip([trace]), [trace]);
});

Deno.test("fromOTLP(toOTLP()) returns the services of a joined trace unchanged", () => {
  const sketch = (i: number, attributes: SpanSketch["attributes"]) => ({
    startTime: i,
    endTime: 9 - i,
    attributes: attributes ?? {},
    ...(i > 0 && { under: i - 1 }),
  });
  const trace = makeTrace([
    sketch(0, { "app.origin": "client" }),
    sketch(1, {}),
    sketch(2, { "service.name": "stock" }),
    sketch(3, {}),
    sketch(4, { "service.name": "" }),
  ], { origin: "client" });
  const { resourceSpans } = toOTLP([trace], { serviceName: "shop" });
  assertEquals(
    resourceSpans.map(({ resource, scopeSpans }) => [
      resource.attributes[0]?.value.stringValue,
      scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
    ]),
    [
      ["browser", ["span 0"]],
      ["shop", ["span 1", "span 3", "span 4"]],
      ["stock", ["span 2"]],
    ],
  );
  assertEquals(roundTrip([trace]), [trace]);
});

Deno.test("fromOTLP(toOTLP()) puts the root at the top", () => {
  const trace = makeTrace([{ name: "click" }, { under: 0, name: "GET /" }]);
  const served = { ...trace, rootSpanId: trace.spans[1]?.id ?? "" };
  assertEquals(roundTrip([served]), [trace]);
});

Deno.test("fromOTLP(toOTLP()) orders spans by their start", () => {
  const trace = makeTrace([
    { startTime: 5, endTime: 9 },
    { startTime: 7, endTime: 8, under: 0 },
    { startTime: 6, endTime: 7, under: 0 },
  ]);
  assertEquals(
    roundTrip([trace])[0]!.spans.map(({ id }) => id),
    [0, 2, 1].map((i) => trace.spans[i]!.id),
  );
});
