import { assertEquals, assertThrows } from "@std/assert";
import type {
  AttributeValue,
  Layer,
  SerializedTrace,
} from "../../../trace/types.ts";
import { toOTLP } from "../../../trace/export/otlp_writer.ts";
import type { OTLPSpan } from "@quartet/kit/trace";
import { toUnixNano } from "../../../trace/export/otlp_value.ts";
import { makeTrace, type SpanSketch, START } from "./make_trace.ts";

function spansOf(trace: SerializedTrace): readonly OTLPSpan[] {
  return toOTLP([trace]).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
}

function spanOf(sketch: SpanSketch): OTLPSpan {
  return spansOf(makeTrace([sketch]))[0] as OTLPSpan;
}

Deno.test("toOTLP() writes a request as the specification's JSON", () => {
  const trace = makeTrace([{
    name: "GET /",
    layer: "request",
    endTime: 1.5,
    parentId: "00f067aa0ba902b7",
    attributes: { "http.request.method": "GET", "url.path": "/" },
    events: [{ name: "sent", time: START + 1 }],
  }], { origin: "server", method: "GET", pathname: "/" });
  assertEquals(toOTLP([trace], { serviceName: "atlas" }), {
    resourceSpans: [{
      resource: {
        attributes: [{ key: "service.name", value: { stringValue: "atlas" } }],
      },
      scopeSpans: [{
        scope: { name: "@quartet/kit" },
        spans: [{
          traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
          spanId: "0000000000000001",
          parentSpanId: "00f067aa0ba902b7",
          name: "GET /",
          kind: 2,
          startTimeUnixNano: "1760000000000000000",
          endTimeUnixNano: "1760000000001500000",
          attributes: [
            { key: "http.request.method", value: { stringValue: "GET" } },
            { key: "url.path", value: { stringValue: "/" } },
            { key: "app.layer", value: { stringValue: "request" } },
          ],
          events: [{ timeUnixNano: "1760000000001000000", name: "sent" }],
          status: { code: 0 },
        }],
      }],
    }],
  });
});

for (const time of [NaN, Infinity]) {
  Deno.test(`toOTLP() refuses the time ${time}`, () => {
    assertThrows(
      () => spanOf({ name: "job", events: [{ name: "log", time }] }),
      TypeError,
      `Cannot write OTLP: times must be finite numbers, received ${time}`,
    );
  });
}

Deno.test("toOTLP() names an unnamed service as the conventions require", () => {
  assertEquals(toOTLP([]).resourceSpans[0]?.resource.attributes, [
    { key: "service.name", value: { stringValue: "unknown_service" } },
  ]);
});

Deno.test("toOTLP() encodes each value with its type", () => {
  const cases: [AttributeValue, unknown][] = [
    ["text", { stringValue: "text" }],
    ["a\ud800b", { stringValue: "a\ufffdb" }],
    [true, { boolValue: true }],
    [200, { intValue: "200" }],
    [-1, { intValue: "-1" }],
    [2 ** 53 + 2, { intValue: "9007199254740994" }],
    [-(2 ** 63), { intValue: "-9223372036854775808" }],
    [2 ** 63, { doubleValue: 2 ** 63 }],
    [0.5, { doubleValue: 0.5 }],
    [1e300, { doubleValue: 1e300 }],
    [NaN, { doubleValue: "NaN" }],
    [-Infinity, { doubleValue: "-Infinity" }],
  ];
  for (const [value, expected] of cases) {
    assertEquals(
      spanOf({ attributes: { value } }).attributes[0],
      { key: "value", value: expected } as never,
    );
  }
});

Deno.test("toOTLP() writes times as decimal nanoseconds", () => {
  const cases: [number, string][] = [
    [1_760_000_000_000 + 2 ** -12, "1760000000000000244"],
    [1_760_000_000_000 - 2 ** -12, "1759999999999999756"],
    [0.0000004, "0"],
    [0.25, "250000"],
    [1.9999999, "2000000"],
    [-5, "0"],
  ];
  for (const [time, expected] of cases) {
    assertEquals(toUnixNano(time), expected);
  }
});

Deno.test("toOTLP() sets the kind of server, client and internal spans", () => {
  const http = { "http.request.method": "GET" };
  const sent = { ...http, "url.full": "http://localhost/" };
  const cases: [Layer, Record<string, AttributeValue>, number][] = [
    ["request", http, 2],
    ["request", sent, 3],
    // Other libraries record both on a server.
    ["request", { ...sent, "url.path": "/" }, 2],
    ["request", { ...http, "app.origin": "client" }, 3],
    ["custom", http, 1],
    ["custom", sent, 3],
    ["rpc", sent, 3],
    ["rpc", { "rpc.method": "a.b" }, 1],
    ["database", {}, 3],
    ["request", {}, 1],
    ["data", {}, 1],
  ];
  for (const [layer, attributes, kind] of cases) {
    assertEquals(spanOf({ layer, attributes }).kind, kind as 1, layer);
  }
});

Deno.test("toOTLP() leaves success unset and writes the reason of a failure", () => {
  assertEquals(spanOf({}).status, { code: 0 });
  assertEquals(spanOf({ status: "error" }).status, { code: 2 });
  const events = [{
    name: "exception",
    time: START,
    attributes: { "exception.message": "no such table" },
  }];
  assertEquals(spanOf({ status: "error", events }).status, {
    code: 2,
    message: "no such table",
  });
  assertEquals(spanOf({ status: "timeout" }).status.code, 2);
});

Deno.test("toOTLP() prefers its own attributes over those of the same name", () => {
  const attributes = { "app.layer": "mine", "app.trace": "mine", other: 1 };
  const keys = spanOf({ attributes }).attributes.map(({ key }) => key);
  assertEquals(keys, ["other", "app.layer"]);
});

Deno.test("toOTLP() writes counts of dropped data", () => {
  const span = spanOf({ droppedAttributes: 2, droppedEvents: 3 });
  assertEquals(span.droppedAttributesCount, 2);
  assertEquals(span.droppedEventsCount, 3);
});

Deno.test("toOTLP() rejects ids that aren't W3C ids", () => {
  const trace = makeTrace([{}]);
  const cases: [SerializedTrace, string][] = [
    [{ ...trace, id: "1" }, "a trace id must be 32 lower-case hexadecimal"],
    [makeTrace([{ id: "0".repeat(16) }]), "a span id must be 16 lower-case"],
    [makeTrace([{ parentId: "root" }]), 'not all 0, received "root"'],
  ];
  for (const [wrong, message] of cases) {
    assertThrows(() => toOTLP([wrong]), TypeError, message);
  }
});
