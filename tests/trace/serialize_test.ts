import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createTracer,
  deserializeTrace,
  serializeTrace,
  type TraceData,
} from "@quartet/kit/trace";
import { onlyTrace } from "./fakes.ts";

/** Returns a trace with all optional fields. */
function richTrace(): TraceData {
  const tracer = createTracer({ maxSpansPerTrace: 3 });
  const root = tracer.startTrace("GET /", "request", {
    attributes: {
      "http.request.method": "GET",
      "url.path": "/",
      "http.route": "/",
      "http.response.status_code": 200,
    },
    parentId: "00f067aa0ba902b7",
  });
  const child = root.child("child", "data", { s: "text", n: -0.5, b: false });
  for (let i = 0; i < 130; i++) child.event("e", { n: i });
  for (let i = 0; i < 70; i++) child.setAttribute(`k${i}`, i);
  child.event("no attributes");
  child.error(new Error("no"));
  child.end();
  root.child("open", "custom").setAttribute("__proto__", "own");
  root.child("too many", "custom");
  root.end();
  return onlyTrace(tracer);
}

Deno.test("deserializeTrace() restores the output of serializeTrace(), also as JSON text", () => {
  const trace = richTrace();
  const plain = serializeTrace(trace);
  assertEquals(trace.metadata.droppedSpans, 1);
  assertEquals(plain.spans.map((span) => span.name), [
    "GET /",
    "child",
    "open",
  ]);
  assertEquals(deserializeTrace(plain), trace);
  assertEquals(deserializeTrace(JSON.parse(JSON.stringify(plain))), trace);
  assertEquals(deserializeTrace(JSON.stringify(plain)), trace);
});

Deno.test("deserializeTrace() treats __proto__ as a normal key", () => {
  const json = JSON.stringify(serializeTrace(richTrace()));
  const { spans } = deserializeTrace(json);
  const span = [...spans.values()].find(({ name }) => name === "open")!;
  assertEquals(Object.entries(span.attributes), [["__proto__", "own"]]);
  assertEquals(Object.getPrototypeOf(span.attributes), Object.prototype);

  const evil = JSON.parse(json);
  Object.defineProperty(evil.metadata, "__proto__", {
    value: { method: "EVIL" },
    enumerable: true,
  });
  assertEquals(deserializeTrace(JSON.stringify(evil)).metadata.method, "GET");
});

Deno.test("deserializeTrace() drops unknown fields", () => {
  const plain = JSON.parse(JSON.stringify(serializeTrace(richTrace())));
  plain.unknown = 1;
  plain.spans[0].unknown = 2;
  plain.metadata.unknown = 3;
  const trace = deserializeTrace(plain);
  assertEquals(trace, richTraceWithIdsOf(trace));
  assert(!JSON.stringify(serializeTrace(trace)).includes("unknown"));

  function richTraceWithIdsOf(other: TraceData): TraceData {
    return deserializeTrace(JSON.stringify(serializeTrace(other)));
  }
});

Deno.test("deserializeTrace() names the malformed field, what it must be and what it received", () => {
  // A path into the trace, a wrong value there, and the error.
  const cases: [string, unknown, string][] = [
    ["id", 5, "id must be a string, received 5"],
    ["rootSpanId", null, "rootSpanId must be a string, received null"],
    [
      "rootSpanId",
      "nowhere",
      'rootSpanId must be the id of one of the spans, received "nowhere"',
    ],
    ["startTime", "1", 'startTime must be a finite number, received "1"'],
    [
      "endTime",
      undefined,
      "endTime must be a finite number, received nothing",
    ],
    [
      "duration",
      Infinity,
      "duration must be a finite number, received Infinity",
    ],
    ["duration", NaN, "duration must be a finite number, received NaN"],
    ["spans", {}, "spans must be an array, received an object"],
    ["spans", new Map(), "spans must be an array, received an object"],
    ["metadata", [], "metadata must be an object, received an array"],
    [
      "metadata.origin",
      "moon",
      'metadata.origin must be one of server, client, received "moon"',
    ],
    ["metadata.method", 1, "metadata.method must be a string, received 1"],
    [
      "metadata.pathname",
      {},
      "metadata.pathname must be a string, received an object",
    ],
    [
      "metadata.statusCode",
      "200",
      'metadata.statusCode must be a finite number, received "200"',
    ],
    [
      "metadata.routePattern",
      true,
      "metadata.routePattern must be a string, received true",
    ],
    [
      "metadata.droppedSpans",
      null,
      "metadata.droppedSpans must be a finite number, received null",
    ],
    ["spans.1", null, "spans[1] must be an object, received null"],
    ["spans.1", "x", 'spans[1] must be an object, received "x"'],
    ["spans.1.id", 1, "spans[1].id must be a string, received 1"],
    ["spans.1.traceId", 1, "spans[1].traceId must be a string, received 1"],
    [
      "spans.1.parentId",
      undefined,
      "spans[1].parentId must be a string, received nothing",
    ],
    ["spans.1.name", 1, "spans[1].name must be a string, received 1"],
    ["spans.1.layer", "moon", "spans[1].layer must be one of request, "],
    [
      "spans.1.status",
      "fine",
      'spans[1].status must be one of ok, error, timeout, received "fine"',
    ],
    [
      "spans.1.startTime",
      null,
      "spans[1].startTime must be a finite number, received null",
    ],
    ["spans.1.endTime", "", "spans[1].endTime must be a finite number"],
    ["spans.1.duration", [], "spans[1].duration must be a finite number"],
    ["spans.1.attributes", [], "spans[1].attributes must be an object"],
    [
      "spans.1.attributes.s",
      null,
      "spans[1].attributes.s must be a string, number or boolean, received null",
    ],
    [
      "spans.1.attributes.a b",
      undefined,
      'spans[1].attributes["a b"] must be a string, number or boolean, received nothing',
    ],
    ["spans.1.events", {}, "spans[1].events must be an array"],
    ["spans.1.events.2", 1, "spans[1].events[2] must be an object, received 1"],
    ["spans.1.events.2.name", 1, "spans[1].events[2].name must be a string"],
    ["spans.1.events.2.time", "", "spans[1].events[2].time must be a finite"],
    [
      "spans.1.events.2.attributes.n",
      {},
      "spans[1].events[2].attributes.n must be a string, number or boolean",
    ],
    ["spans.1.children", "x", "spans[1].children must be an array"],
    ["spans.0.children.1", 1, "spans[0].children[1] must be a string"],
    [
      "spans.1.droppedAttributes",
      "1",
      "spans[1].droppedAttributes must be a finite number",
    ],
    [
      "spans.1.droppedEvents",
      "1",
      "spans[1].droppedEvents must be a finite number",
    ],
  ];
  for (const [path, value, message] of cases) {
    const trace = JSON.parse(JSON.stringify(serializeTrace(richTrace())));
    const keys = path.split(".");
    const last = keys.pop()!;
    let target = trace;
    for (const key of keys) target = target[key];
    target[last] = value;
    assertThrows(
      () => deserializeTrace(trace),
      TypeError,
      `Cannot read trace: ${message}`,
    );
  }
});

Deno.test("deserializeTrace() rejects spans with the same id", () => {
  const trace = JSON.parse(JSON.stringify(serializeTrace(richTrace())));
  trace.spans[2].id = trace.spans[1].id;
  assertThrows(
    () => deserializeTrace(trace),
    TypeError,
    `Cannot read trace: spans[2].id must be unique, received "${
      trace.spans[1].id
    }"`,
  );
});

Deno.test("deserializeTrace() rejects values that aren't traces", () => {
  for (
    const [value, message] of [
      [null, "the value must be an object, received null"],
      [undefined, "the value must be an object, received nothing"],
      [7, "the value must be an object, received 7"],
      [[], "the value must be an object, received an array"],
      ["", "the text is not JSON"],
      ["{", "the text is not JSON"],
      ["[]", "the value must be an object, received an array"],
      ["{}", "spans must be an array, received nothing"],
    ] as const
  ) {
    assertThrows(
      () => deserializeTrace(value),
      TypeError,
      `Cannot read trace: ${message}`,
    );
  }
});
