import {
  createCLIReporter,
  createCollector,
  createTracer,
  createTracesAPIHandler,
  deserializeTrace,
  fromOTLP,
  generateViewerHTML,
  recordFormValidation,
  recordSignalBatch,
  serializeTrace,
  toChromeTrace,
  toOTLP,
  traceQuery,
} from "@quartet/kit/trace";
import type { SerializedTrace } from "@quartet/kit/trace";
import {
  attribute,
  createRecorder,
  otlpSpan,
  PROTOBUF_TYPE,
  requestWith,
  START,
} from "../trace/live/otlp_requests.ts";
import { assertAllLinear, numbered, repeat, silently, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";
import { SHAPES, SQL, traceOf, withHexIds } from "./traces.ts";

Deno.test("A long name, attribute or event of a span takes linear time", () =>
  assertAllLinear("a span", TEXTS, (text) => {
    const root = createTracer().startTrace(text);
    const span = root.child(text, "custom", { [text]: text });
    span.setAttribute(text, text);
    span.event(text, { [text]: text });
    span.error(text);
    span.end();
    root.end();
  }));

Deno.test("A long SQL statement takes linear time", async () => {
  const tracer = createTracer();
  await assertAllLinear("a statement", SQL, (text) => {
    tracer.withSpan("root", "request", () => {
      traceQuery(text, () => []);
      traceQuery(`with a as (select 1) ${text}`, () => []);
    });
  });
});

Deno.test("Many fields and signals take linear time", async () => {
  const tracer = createTracer();
  await assertAllLinear(
    "names",
    [numbered((i) => `name ${i},`)],
    (names: string[]) => {
      tracer.withSpan("root", "request", () => {
        recordSignalBatch(names);
        recordFormValidation({
          valid: false,
          errors: Object.fromEntries(names.map((name) => [name, name])),
        } as never);
      });
    },
    { prepare: (text) => text.split(",") },
  );
});

/** Functions that read a trace or convert it. */
const FORMS: Readonly<Record<string, (trace: SerializedTrace) => unknown>> = {
  "deserializeTrace()": (trace) => serializeTrace(deserializeTrace(trace)),
  "toOTLP()": (trace) => fromOTLP(toOTLP([withHexIds(trace)])),
  "toChromeTrace()": (trace) => JSON.stringify(toChromeTrace([trace])),
  "generateViewerHTML()": (trace) =>
    generateViewerHTML([deserializeTrace(trace)]),
};

for (const [name, form] of Object.entries(FORMS)) {
  Deno.test(`${name} of long text takes linear time`, () =>
    assertAllLinear(name, TEXTS, form, { prepare: traceOf }));

  for (const [shape, make] of Object.entries(SHAPES)) {
    Deno.test(`${name} of a trace ${shape} takes linear time`, () =>
      assertAllLinear(name, [repeat("a")], form, {
        prepare: (text) => make(text.length),
      }));
  }
}

const OTLP_TEXTS: readonly Text[] = [
  ...TEXTS,
  (length) => "[".repeat(length / 2) + "]".repeat(length / 2),
  numbered((i) => `${i}`),
];

Deno.test("OTLP with long ids, times, names and values takes linear time", () =>
  assertAllLinear("OTLP", OTLP_TEXTS, (text) => {
    const plain = {
      traceId: "a".repeat(32),
      spanId: "b".repeat(16),
      name: "a",
      kind: 1,
      startTimeUnixNano: "1",
      endTimeUnixNano: "2",
    };
    const value = { stringValue: text };
    const odd = [
      { traceId: text },
      { spanId: text },
      { parentSpanId: text },
      { startTimeUnixNano: text },
      { endTimeUnixNano: text },
      { name: text },
      { kind: text },
      { status: { code: text, message: text } },
      { traceState: text },
      { attributes: [{ key: text, value }] },
      { attributes: [{ key: "a", value: { intValue: text } }] },
      { attributes: [{ key: "a", value: { doubleValue: text } }] },
      { attributes: [{ key: "a", value: { bytesValue: text } }] },
      {
        attributes: [{ key: "a", value: { arrayValue: { values: [value] } } }],
      },
      {
        attributes: [{ key: "a", value: { kvlistValue: { values: [text] } } }],
      },
      { events: [{ name: text, timeUnixNano: text }] },
    ];
    for (const fields of odd) {
      const spans = [{ ...plain, ...fields }];
      const scopeSpans = [{ scope: { name: text }, spans }];
      try {
        fromOTLP({ resourceSpans: [{ scopeSpans }] } as never);
      } catch {
        // The text isn't OTLP.
      }
    }
  }));

Deno.test("Deeply nested values of OTLP take linear time", () =>
  assertAllLinear("values", [repeat("a")], (value: unknown) => {
    const spans = [{
      traceId: "a".repeat(32),
      spanId: "b".repeat(16),
      name: "a",
      startTimeUnixNano: "1",
      endTimeUnixNano: "2",
      attributes: [{ key: "a", value }],
    }];
    try {
      fromOTLP({ resourceSpans: [{ scopeSpans: [{ spans }] }] } as never);
    } catch {
      // The value is nested too deeply.
    }
  }, {
    prepare: ({ length }) => {
      let value: unknown = { stringValue: "a" };
      for (let i = 0; i < length / 50; i++) {
        value = { arrayValue: { values: [value] } };
      }
      return value;
    },
  }));

Deno.test("The terminal's report of long text takes linear time", async () => {
  const tracer = createTracer();
  using _reporter = createCLIReporter(tracer, { write: () => {}, width: 120 });
  await assertAllLinear("a report", [...TEXTS, ...SQL], (text) => {
    const root = tracer.startTrace(text);
    for (const layer of ["database", "data", "routing"] as const) {
      const span = root.child(text, layer, { "db.query.text": text });
      span.error(new Error(text));
      span.end();
    }
    root.end();
  });
});

Deno.test("A service's long report takes linear time", () =>
  assertAllLinear("a report", TEXTS, async (text) => {
    const attributes = [attribute(text, text), attribute("url.query", text)];
    const recorder = createRecorder();
    const response = await recorder.post(
      "traces",
      requestWith(
        otlpSpan({ name: text, attributes }),
        otlpSpan({ spanId: text }),
        otlpSpan({ events: [{ name: text, timeUnixNano: START, attributes }] }),
      ),
    );
    await response.body?.cancel();
    await recorder.post("traces", text, { "content-type": PROTOBUF_TYPE });
  }));

Deno.test("A page's long report takes linear time", () =>
  silently(async () => {
    const tracer = createTracer();
    const collector = createCollector(tracer);
    const root = tracer.startTrace("GET /");
    root.end();
    const span = (fields: Record<string, unknown>) => ({
      id: "5".repeat(16),
      parentId: root.id,
      name: "navigation",
      layer: "custom",
      startTime: 1,
      endTime: 2,
      attributes: {},
      events: [],
      ...fields,
    });
    await assertAllLinear("a report", TEXTS, (text) => {
      const spans = [
        span({ name: text }),
        span({ id: text }),
        span({ parentId: text }),
        span({ layer: text }),
        span({ attributes: { [text]: text } }),
        span({ events: [{ name: text, time: 1, attributes: { a: text } }] }),
      ];
      for (const traceId of [root.traceId, text]) {
        collector.receive({ type: "client:spans", traceId, spans });
      }
      collector.receive(text);
      collector.receive({ type: text });
    });
    const many = [repeat("a")];
    await assertAllLinear("spans", many, (spans: unknown[]) => {
      const { traceId } = root;
      collector.receive({ type: "client:spans", traceId, spans });
    }, {
      prepare: ({ length }) =>
        Array.from({ length: length / 50 }, (_, i) =>
          span({
            id: (i + 1).toString(16).padStart(16, "0"),
            parentId: i.toString(16).padStart(16, "0"),
          })),
    });
  }));

Deno.test("A long query or body of the traces API takes linear time", () =>
  silently(async () => {
    const tracer = createTracer();
    tracer.startTrace("GET /").end();
    const handler = createTracesAPIHandler(tracer, {
      authorize: () => true,
      collector: createCollector(tracer),
    });
    const ask = async (request: Request) => {
      await (await handler(request)).text();
    };
    const url = "http://localhost/__app/traces/api";
    const names = [
      "traceId",
      "path",
      "status",
      "layer",
      "minDuration",
      "after",
    ];
    for (const name of names) {
      await assertAllLinear(name, TEXTS, ask, {
        prepare: (text) =>
          new Request(`${url}?${new URLSearchParams({ [name]: text })}`),
      });
    }
    await assertAllLinear("a body", TEXTS, ask, {
      prepare: (body) => new Request(url, { method: "POST", body }),
    });
  }));
