import { assert, assertEquals, assertThrows } from "@std/assert";
import type { SerializedTrace, SpanData } from "../../../trace/types.ts";
import { fromOTLP } from "../../../trace/export/otlp_reader.ts";
import { toOTLP } from "../../../trace/export/otlp_writer.ts";
import { makeTrace } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

const TRACE_ID = "5b8efff798038103d269b633813fc60c";
const id = (n: number) => (0xeee19b7ec3c1b170n + BigInt(n)).toString(16);

type Loose = Record<string, unknown>;

/** Returns a span of another library. */
function foreign(n: number, more: Loose = {}): Loose {
  return {
    traceId: TRACE_ID,
    spanId: id(n),
    name: `span ${n}`,
    kind: 1,
    startTimeUnixNano: `176000000000${n}000000`,
    endTimeUnixNano: `176000000000${n}500000`,
    ...more,
  };
}

function request(spans: Loose[], service?: string): Loose {
  const resource = service === undefined ? undefined : {
    attributes: [{ key: "service.name", value: { stringValue: service } }],
  };
  return { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
}

function read(...spans: Loose[]): SerializedTrace {
  return fromOTLP(request(spans))[0] as SerializedTrace;
}

function readSpan(more: Loose): SpanData {
  return read(foreign(0, more)).spans[0] as SpanData;
}

function attribute(key: string, value: unknown): Loose {
  return { key, value };
}

Deno.test("fromOTLP() reads the specification's example", () => {
  // opentelemetry-proto, examples/trace.json
  const traces = fromOTLP({
    resourceSpans: [{
      resource: {
        attributes: [{
          key: "service.name",
          value: { stringValue: "my.service" },
        }],
      },
      scopeSpans: [{
        scope: { name: "my.library", version: "1.0.0", attributes: [] },
        spans: [{
          traceId: "5B8EFFF798038103D269B633813FC60C",
          spanId: "EEE19B7EC3C1B174",
          parentSpanId: "EEE19B7EC3C1B173",
          name: "I'm a server span",
          startTimeUnixNano: "1544712660000000000",
          endTimeUnixNano: "1544712661000000000",
          kind: 2,
          attributes: [{ key: "my.span.attr", value: { stringValue: "x" } }],
        }],
      }],
    }],
  });
  assertEquals(traces, [{
    id: TRACE_ID,
    rootSpanId: "eee19b7ec3c1b174",
    startTime: 1544712660000,
    endTime: 1544712661000,
    duration: 1000,
    spans: [{
      id: "eee19b7ec3c1b174",
      traceId: TRACE_ID,
      parentId: "eee19b7ec3c1b173",
      name: "I'm a server span",
      layer: "custom",
      status: "ok",
      startTime: 1544712660000,
      endTime: 1544712661000,
      duration: 1000,
      attributes: { "my.span.attr": "x", "service.name": "my.service" },
      events: [],
      children: [],
    }],
    metadata: { origin: "server" },
  }]);
});

Deno.test("fromOTLP() derives layers from the semantic conventions", () => {
  const cases: [number | string, string, string][] = [
    [2, "http.request.method", "request"],
    [2, "http.method", "request"],
    ["SPAN_KIND_SERVER", "http.route", "request"],
    [3, "http.request.method", "custom"],
    [3, "db.query.text", "database"],
    [3, "db.statement", "database"],
    [2, "rpc.method", "rpc"],
    [1, "code.function.name", "custom"],
  ];
  for (const [kind, key, layer] of cases) {
    const attributes = [attribute(key, { stringValue: "x" })];
    assertEquals(readSpan({ kind, attributes }).layer, layer as never, key);
  }
});

Deno.test("fromOTLP() reads a trace's metadata from its root span", () => {
  const current = read(foreign(0, {
    kind: 2,
    attributes: [
      attribute("http.request.method", { stringValue: "GET" }),
      attribute("url.path", { stringValue: "/countries/fr" }),
      attribute("http.route", { stringValue: "/countries/:code" }),
      attribute("http.response.status_code", { intValue: "404" }),
    ],
  }));
  assertEquals(current.metadata, {
    origin: "server",
    method: "GET",
    pathname: "/countries/fr",
    routePattern: "/countries/:code",
    statusCode: 404,
  });
  const old = read(foreign(0, {
    attributes: [
      attribute("http.method", { stringValue: "POST" }),
      attribute("http.target", { stringValue: "/a/b?c=d" }),
      attribute("http.status_code", { intValue: 201 }),
    ],
  }));
  assertEquals(old.metadata, {
    origin: "server",
    method: "POST",
    pathname: "/a/b",
    statusCode: 201,
  });
});

Deno.test("fromOTLP() reads values of every type", () => {
  const cases: [unknown, unknown][] = [
    [{ stringValue: "" }, ""],
    [{ boolValue: false }, false],
    [{ intValue: "-42" }, -42],
    [{ intValue: 42 }, 42],
    [{ intValue: "9007199254740993" }, "9007199254740993"],
    [{ doubleValue: 0.5 }, 0.5],
    [{ doubleValue: "0.5" }, 0.5],
    [{ doubleValue: "NaN" }, "NaN"],
    [{ bytesValue: "AQID" }, "AQID"],
    [{ arrayValue: {} }, "[]"],
    [
      {
        arrayValue: {
          values: [{ intValue: "9007199254740993" }, { stringValue: '"' }, {}, {
            stringValue: "",
          }],
        },
      },
      '[9007199254740993,"\\"",null,""]',
    ],
    [
      {
        kvlistValue: {
          values: [
            { key: "__proto__", value: { boolValue: true } },
            { key: "b", value: { arrayValue: { values: [null] } } },
          ],
        },
      },
      '{"__proto__":true,"b":[null]}',
    ],
    [{}, ""],
    [null, ""],
  ];
  for (const [value, expected] of cases) {
    const { attributes } = readSpan({ attributes: [attribute("a", value)] });
    assertEquals(attributes, { a: expected } as never);
  }
});

Deno.test("fromOTLP() treats __proto__ as a normal key", () => {
  const { attributes } = readSpan({
    attributes: [attribute("__proto__", { stringValue: "x" })],
  });
  assertEquals(Object.keys(attributes), ["__proto__"]);
  assert(Object.getPrototypeOf(attributes) === Object.prototype);
});

Deno.test("fromOTLP() reads failures, and keeps a message that only the status has", () => {
  const message = "deadline exceeded";
  assertEquals(readSpan({ status: {} }).status, "ok");
  assertEquals(readSpan({ status: { code: 1 } }).status, "ok");
  const failed = readSpan({ status: { code: 2, message } });
  assertEquals(failed.status, "error");
  assertEquals(failed.attributes, { "otel.status_description": message });
  const attributes = [attribute("exception.message", { stringValue: message })];
  const thrown = readSpan({
    status: { code: 2, message },
    events: [{ name: "exception", timeUnixNano: "1", attributes }],
  });
  assertEquals(thrown.attributes, {});
  assertEquals(thrown.events, [{
    name: "exception",
    time: 1e-6,
    attributes: { "exception.message": message },
  }]);
});

Deno.test("fromOTLP() joins a trace from many lines, resources and orders", () => {
  const lines = [
    request([foreign(3, { parentSpanId: id(1) })], "shop"),
    request([foreign(1), foreign(2, { parentSpanId: id(1) })], "front"),
  ];
  const traces = fromOTLP(lines);
  assertEquals(traces.length, 1);
  const { spans, rootSpanId } = traces[0] as SerializedTrace;
  assertEquals(spans.map((span) => span.name), ["span 1", "span 2", "span 3"]);
  assertEquals(rootSpanId, id(1));
  assertEquals(spans[0]?.children, [id(2), id(3)]);
  assertEquals(
    spans.map((span) => span.attributes["service.name"]),
    ["front", "front", "shop"],
  );
});

Deno.test("fromOTLP() chooses the earliest of several roots", () => {
  const orphan = foreign(0, { parentSpanId: id(9) });
  assertEquals(read(orphan, foreign(2), foreign(1)).rootSpanId, id(1));
  assertEquals(read(orphan).rootSpanId, id(0));
});

Deno.test("fromOTLP() counts a duplicate span once", () => {
  assertEquals(read(foreign(0), foreign(0)).spans.length, 1);
});

Deno.test("fromOTLP() breaks cycles of parents", () => {
  const alone = read(foreign(0, { parentSpanId: id(0) }));
  assertEquals(alone.spans[0]?.parentId, null);
  assertEquals(alone.spans[0]?.children, []);
  const ring = read(
    foreign(1, { parentSpanId: id(3) }),
    foreign(2, { parentSpanId: id(1) }),
    foreign(3, { parentSpanId: id(2) }),
    foreign(4, { parentSpanId: id(3) }),
  );
  assertEquals(ring.rootSpanId, id(1));
  assertEquals(
    ring.spans.map((span) => span.parentId),
    [null, id(1), id(2), id(3)],
  );
});

Deno.test("fromOTLP() reads open spans, roots with zero ids, and ends before starts", () => {
  const span = readSpan({ endTimeUnixNano: undefined });
  assertEquals(span.endTime, span.startTime);
  assertEquals(readSpan({ parentSpanId: "" }).parentId, null);
  assertEquals(readSpan({ parentSpanId: "0".repeat(16) }).parentId, null);
  assertEquals(readSpan({ endTimeUnixNano: "0" }).duration, 0);
});

Deno.test("fromOTLP() keeps attributes of other libraries with our names", () => {
  const attributes = [
    attribute("app.layer", { stringValue: "frontend" }),
    attribute("app.trace", { stringValue: "x" }),
  ];
  assertEquals(readSpan({ attributes }).attributes, {
    "app.layer": "frontend",
    "app.trace": "x",
  });
});

Deno.test("fromOTLP() ignores unknown fields", () => {
  const span = readSpan({ traceState: "a=b", flags: 257, links: [{}], x: 1 });
  assertEquals(Object.keys(span).includes("x"), false);
  assertEquals(fromOTLP({ resourceSpans: [], x: 1 }), []);
});

Deno.test("fromOTLP() reports what is wrong and where", () => {
  const span = (more: Loose) => request([foreign(0), foreign(1, more)]);
  const at = "resourceSpans[0].scopeSpans[0].spans[1]";
  const cases: [unknown, string][] = [
    [undefined, "the value must be an object, received nothing"],
    ["x", 'the value must be an object, received "x"'],
    [
      "x".repeat(90),
      `the value must be an object, received "${"x".repeat(79)}…"`,
    ],
    [() => {}, "the value must be an object, received a function"],
    [{}, "resourceSpans must be an array, received nothing"],
    [[{}], "[0].resourceSpans must be an array, received nothing"],
    [{ resourceSpans: {} }, "resourceSpans must be an array, received an obj"],
    [{ resourceSpans: [1] }, "resourceSpans[0] must be an object, received 1"],
    [
      { resourceSpans: [{ scopeSpans: [{ spans: 1 }] }] },
      "resourceSpans[0].scopeSpans[0].spans must be an array, received 1",
    ],
    [
      span({ spanId: "xyz" }),
      `${at}.spanId must be 16 hexadecimal digits, not all 0, received "xyz"`,
    ],
    [span({ traceId: "0".repeat(32) }), `${at}.traceId must be 32 hexadecimal`],
    [span({ parentSpanId: 5 }), `${at}.parentSpanId must be a string`],
    [span({ name: [] }), `${at}.name must be a string, received an array`],
    [
      span({ startTimeUnixNano: "soon" }),
      `${at}.startTimeUnixNano must be nanoseconds since 1970 in decimal`,
    ],
    [span({ startTimeUnixNano: undefined }), "received nothing"],
    [span({ startTimeUnixNano: -1 }), "received -1"],
    [span({ attributes: {} }), `${at}.attributes must be an array`],
    [span({ attributes: [{}] }), `${at}.attributes[0].key must be a string`],
    [
      span({ attributes: [attribute("a", { intValue: "1.5" })] }),
      `${at}.attributes[0].value.intValue must be a 64-bit integer in decimal`,
    ],
    [
      span({ attributes: [attribute("a", { doubleValue: "x" })] }),
      `${at}.attributes[0].value.doubleValue must be a number, received "x"`,
    ],
    [
      span({ attributes: [attribute("a", { boolValue: 1 })] }),
      `${at}.attributes[0].value.boolValue must be true or false, received 1`,
    ],
    [
      span({ events: [{ timeUnixNano: {} }] }),
      `${at}.events[0].timeUnixNano must be nanoseconds`,
    ],
    [span({ status: 2 }), `${at}.status must be an object, received 2`],
    [span({ droppedEventsCount: -1 }), "must be a whole number from 0"],
  ];
  for (const [value, message] of cases) {
    assertThrows(() => fromOTLP(value), TypeError, message);
  }
});

Deno.test("fromOTLP() rejects lists that are nested too deeply", () => {
  let value: Loose = {};
  for (let i = 0; i < 10_000; i++) value = { arrayValue: { values: [value] } };
  assertThrows(
    () => readSpan({ attributes: [attribute("a", value)] }),
    TypeError,
    "nested at most 64 deep",
  );
});

Deno.test("fromOTLP() reads or rejects any JSON, and changes no prototype", () => {
  const random = new SeededRandom(3);
  const trace = makeTrace([
    {
      events: [{ name: "e", time: 5, attributes: { a: 1.5 } }],
      status: "error",
    },
    { under: 0, attributes: { a: true, b: "x" } },
  ]);
  const text = JSON.stringify(toOTLP([trace, ...realisticTraces(1, 2)]));
  const intruders = [
    "null",
    "[]",
    "{}",
    "1e999",
    "-1",
    '"__proto__"',
    '{"__proto__":{"polluted":1}}',
    "true",
    '"9"',
  ];
  const places = [...text.matchAll(/"[^"]*"|\d+(?![^"]*":)|\[|\{/g)];
  const outcomes = { read: 0, refused: 0, notJSON: 0 };
  for (let round = 0; round < 3000; round++) {
    const place = random.pick(places);
    const mutant = text.slice(0, place.index) + random.pick(intruders) +
      text.slice(place.index + place[0].length);
    let value: unknown;
    try {
      value = JSON.parse(mutant);
    } catch {
      outcomes.notJSON++;
      continue;
    }
    try {
      fromOTLP(value);
      outcomes.read++;
    } catch (error) {
      assert(error instanceof TypeError, `${error}`);
      assert(error.message.startsWith("Cannot read OTLP: "), error.message);
      outcomes.refused++;
    }
  }
  assert(
    outcomes.read > 100 && outcomes.refused > 100,
    JSON.stringify(outcomes),
  );
  assertEquals((Object.prototype as Loose).polluted, undefined);
});
