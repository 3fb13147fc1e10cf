import { assert, assertEquals, assertMatch } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createOTLPReceiver,
  createTracer,
  fromOTLP,
  toOTLP,
  tracePlugin,
} from "@quartet/kit/trace";
import { gzip } from "../../../trace/export/gzip.ts";
import { startTracedServer } from "../ask_for_traces.ts";
import { onlyTrace, treeOf } from "../fakes.ts";
import { encodeTraces } from "../export/otlp_definitions.ts";
import {
  attribute,
  createRecorder,
  JSON_TYPE,
  otlpSpan,
  PROTOBUF_TYPE,
  requestWith,
  START,
  TRACE_ID,
} from "./otlp_requests.ts";

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("A service's spans are received with the name of their service", async () => {
  const recorder = createRecorder();
  const response = await recorder.post(
    "traces",
    requestWith(otlpSpan({
      traceId: TRACE_ID.toUpperCase(),
      kind: 2,
      attributes: [
        attribute("http.request.method", "GET"),
        attribute("url.path", "/pack/3"),
      ],
      events: [{ timeUnixNano: START, name: "packed" }],
    })),
  );
  assertEquals([response.status, await response.text()], [200, "{}"]);
  assertEquals(response.headers.get("content-type"), JSON_TYPE);
  const startTime = Number(START) / 1e6;
  assertEquals(recorder.spans, [{
    id: "00f067aa0ba902b7",
    traceId: TRACE_ID,
    parentId: null,
    name: "pack",
    layer: "request",
    status: "ok",
    startTime,
    endTime: startTime + 2.5,
    duration: 2.5,
    attributes: {
      "service.name": "stock",
      "http.request.method": "GET",
      "url.path": "/pack/3",
    },
    events: [{ name: "packed", time: startTime, attributes: {} }],
    children: [],
  }]);
});

Deno.test("Spans of another kit process keep their layer and status, and get their service", async () => {
  const tracer = createTracer();
  tracer.withSpan("GET /", "request", (root) => {
    root.child("cache.get", "data").end();
    root.child("late", "database");
  });
  const [trace] = tracer.getTraces();
  const recorder = createRecorder();
  const spans = [...trace!.spans.values()];
  const traces = [{ ...trace!, spans }];
  await recorder.post("traces", toOTLP(traces, { serviceName: "shop" }));
  const expected = fromOTLP(toOTLP(traces))[0]!.spans.map((span) => ({
    ...span,
    attributes: { "service.name": "shop", ...span.attributes },
    children: [],
  }));
  assertEquals(recorder.spans, expected);
  assertEquals(recorder.spans.map(({ layer }) => layer), [
    "request",
    "data",
    "database",
  ]);
  assertEquals(recorder.spans[2]!.status, "timeout");
});

Deno.test("A malformed span is counted in the response, and the others are received", async () => {
  const recorder = createRecorder();
  const message = requestWith(
    otlpSpan({ spanId: "12" }),
    otlpSpan(),
    otlpSpan({ traceId: "0".repeat(32) }),
    otlpSpan({ startTimeUnixNano: "soon" }),
    "a span",
  );
  const response = await recorder.post("traces", message);
  assertEquals(response.status, 200);
  assertEquals(await response.json(), {
    partialSuccess: {
      rejectedSpans: "4",
      errorMessage:
        'Cannot read OTLP: resourceSpans[0].scopeSpans[0].spans[0].spanId must be 16 hexadecimal digits, not all 0, received "12"',
    },
  });
  assertEquals(recorder.spans.length, 1);
});

Deno.test("Gzip is accepted, as JSON and as protobuf", async () => {
  const recorder = createRecorder();
  const message = requestWith(otlpSpan());
  for (
    const [type, bytes] of [
      [JSON_TYPE, encode(JSON.stringify(message))],
      [PROTOBUF_TYPE, encodeTraces(message)],
    ] as const
  ) {
    const response = await recorder.post("traces", await gzip(bytes), {
      "content-type": type,
      "content-encoding": "gzip",
    });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  assertEquals(recorder.spans.map(({ name }) => name), ["pack", "pack"]);
});

Deno.test("Malformed bodies are answered with 400 and a status message", async () => {
  const GZIP = { "content-encoding": "gzip" };
  const recorder = createRecorder();
  const whole = await gzip(encode(JSON.stringify(requestWith(otlpSpan()))));
  for (
    const [body, headers, problem] of [
      ["{", {}, "the body must be JSON"],
      ["", {}, "the body must be JSON"],
      [Uint8Array.of(0x22, 0xff, 0x22), {}, "The body must be UTF-8"],
      ["null", {}, "must be an object, received null"],
      ['{"resourceSpans":{}}', {}, "resourceSpans must be an array"],
      ["{}", GZIP, "The body must be gzip"],
      [whole.slice(0, -9), GZIP, "The body must be gzip"],
    ] as const
  ) {
    const response = await recorder.post("traces", body, headers);
    assertEquals(response.status, 400);
    const { code, message } = await response.json();
    assertEquals(code, 3);
    assert(message.includes(problem), message);
  }
  assertEquals(recorder.spans, []);
});

Deno.test("An empty request in JSON is valid, and unknown fields are ignored", async () => {
  const recorder = createRecorder();
  for (const path of ["traces", "logs", "metrics"]) {
    for (const body of ["{}", '{"resourceSpans":null}', '{"later":[1]}']) {
      const response = await recorder.post(path, body);
      assertEquals([response.status, await response.text()], [200, "{}"]);
    }
  }
  assertEquals([recorder.spans, recorder.events], [[], []]);
});

Deno.test("Other media types and encodings are answered with 415, other methods with 405, other paths with 404", async () => {
  const recorder = createRecorder();
  const statusOf = async (headers: Record<string, string>) => {
    const response = await recorder.post("traces", "{}", headers);
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await statusOf({ "content-type": "text/plain" }), 415);
  assertEquals(await statusOf({ "content-type": "application/grpc" }), 415);
  assertEquals(await statusOf({ "content-encoding": "br" }), 415);
  assertEquals(await statusOf({ "content-encoding": "gzip, gzip" }), 415);

  const handler = createOTLPReceiver(createTracer(), {
    authorize: () => true,
  });
  const base = "http://localhost/__app/traces/otlp";
  const get = await handler(new Request(`${base}/v1/traces`));
  assertEquals(get.status, 405);
  assertEquals(get.headers.get("allow"), "POST");
  const other = await handler(
    new Request(`${base}/v1/profiles`, { method: "POST" }),
  );
  assertEquals(other.status, 404);
  assertMatch((await other.json()).error.message, /v1\/traces, v1\/logs/);
});

Deno.test("A body of 50 MB is answered with 413, as is one that inflates to it", async () => {
  const recorder = createRecorder();
  const size = 50 * 1024 * 1024;
  const bomb = await gzip(new Uint8Array(size));
  assert(bomb.length < 64 * 1024);
  let sent = 0;
  const chunk = new Uint8Array(64 * 1024);
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += chunk.length;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  const handler = createOTLPReceiver(createTracer(), {
    authorize: () => true,
  });
  const answers = [
    await recorder.post("traces", new Uint8Array(size)),
    await recorder.post("traces", bomb, { "content-encoding": "gzip" }),
    await recorder.post("logs", bomb, {
      "content-type": PROTOBUF_TYPE,
      "content-encoding": "gzip",
    }),
    await handler(
      new Request("http://localhost/v1/metrics", {
        method: "POST",
        headers: { "content-type": JSON_TYPE },
        body: endless,
      }),
    ),
  ];
  for (const response of answers) {
    assertEquals(response.status, 413);
    assertMatch(
      await response.text(),
      /The body must be at most 8388608 bytes/,
    );
  }
  assert(sent < 9 * 1024 * 1024, `${sent} bytes were read`);
});

Deno.test("Spans and log records above the maximum of a request are rejected", async () => {
  const recorder = createRecorder();
  const span = JSON.stringify(otlpSpan());
  const spans = `${span},`.repeat(20_000) + "{}";
  const response = await recorder.post(
    "traces",
    `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`,
  );
  const { partialSuccess } = await response.json();
  assertEquals(partialSuccess, {
    rejectedSpans: "1",
    errorMessage:
      "Cannot read OTLP: a request must have at most 20000 spans or log records, received more",
  });
  assertEquals(recorder.spans.length, 20_000);
});

Deno.test("A body of millions of empty objects or messages is answered with 400", async () => {
  const recorder = createRecorder();
  const json = await recorder.post("traces", `[${"{},".repeat(2_000_000)}{}]`);
  assertEquals(json.status, 400);
  assertMatch(
    (await json.json()).message,
    /^Cannot read OTLP: the body must have at most 500000 objects, received 2000002$/,
  );
  // The field 1 with no bytes in it.
  const empty = new Uint8Array(4_000_000);
  for (let i = 0; i < empty.length; i += 2) empty[i] = 0x0a;
  const protobuf = await recorder.post("traces", empty, {
    "content-type": PROTOBUF_TYPE,
  });
  assertEquals(protobuf.status, 400);
  assertMatch(await protobuf.text(), /with at most 500000 messages/);
});

Deno.test("Received spans are cut to the bounds of the tracer's own", async () => {
  const recorder = createRecorder();
  const long = "x".repeat(10_000);
  const attributes = Array.from(
    { length: 100 },
    (_, i) => attribute(`${i}${long}`, long),
  );
  const events = Array.from(
    { length: 200 },
    () => ({ name: long, timeUnixNano: START, attributes }),
  );
  const message = requestWith(
    otlpSpan({ name: long, attributes, droppedAttributesCount: 5 }),
    otlpSpan({ events: events.slice(0, 3) }),
    otlpSpan({ events: Array(200).fill({ name: "e", timeUnixNano: START }) }),
  );
  const response = await recorder.post("traces", message);
  assertEquals([response.status, await response.text()], [200, "{}"]);
  const [wide, deep, many] = recorder.spans;
  assert(wide!.name.length < 300);
  const entries = Object.entries(wide!.attributes);
  assertEquals(entries.length, 64);
  assertEquals(wide!.droppedAttributes, 42);
  for (const [key, value] of entries) {
    assert(key.length < 200 && String(value).length < 4_200);
  }
  const [event] = deep!.events;
  assert(event!.name.length < 300);
  assertEquals(Object.keys(event!.attributes!).length, 16);
  assertEquals(many!.events.length, 128);
  assertEquals(many!.droppedEvents, 72);
});

Deno.test("Secrets in received spans and log records are removed", async () => {
  const recorder = createRecorder();
  const secrets = [
    attribute("url.full", "http://ada:hunter2@stock/a?code=hunter2&page=2#h"),
    attribute("http.url", "http://stock/a?access_token=hunter2"),
    attribute("http.target", "/a?api_key=hunter2"),
    attribute("url.query", "state=hunter2&page=2"),
    attribute("http.request.header.cookie", "hunter2"),
    attribute("http.request.header.authorization", "hunter2"),
    attribute("http.response.header.set_cookie", "hunter2"),
    attribute("rpc.grpc.request.metadata.x-api-key", "hunter2"),
    attribute("db.query.parameter.0", "hunter2"),
    attribute("db.operation.parameter.name", "hunter2"),
    attribute("note", "Authorization: Bearer hunter2hunter2hunter2"),
    attribute("http.request.header.accept", "text/html"),
  ];
  const span = otlpSpan({
    name: "GET /a?token=hunter2",
    kind: 3,
    attributes: secrets,
    events: [{
      name: "exception",
      timeUnixNano: START,
      attributes: [
        attribute("exception.message", "no postgres://ada:hunter2@db/shop"),
        ...secrets,
      ],
    }],
    status: { code: 2, message: "password=hunter2" },
  });
  await recorder.post("traces", requestWith(span));
  await recorder.post("logs", {
    resourceLogs: [{
      scopeLogs: [{
        logRecords: [{
          timeUnixNano: START,
          traceId: TRACE_ID,
          spanId: "00f067aa0ba902b7",
          body: { stringValue: "signed in with token=hunter2" },
          attributes: secrets,
        }],
      }],
    }],
  });
  const [received] = recorder.spans;
  assertEquals(
    received!.attributes["url.full"],
    "http://REDACTED:REDACTED@stock/a?code=REDACTED&page=2#REDACTED",
  );
  assertEquals(received!.attributes["url.query"], "state=REDACTED&page=2");
  assertEquals(received!.attributes["http.request.header.accept"], "text/html");
  assertEquals(recorder.events.length, 1);
  const all = JSON.stringify([recorder.spans, recorder.events]);
  assert(!all.includes("hunter2"), all);
});

Deno.test("Server spans of the viewer's own paths are ignored", async () => {
  const recorder = createRecorder();
  const request = (kind: number, ...attributes: object[]) =>
    otlpSpan({
      kind,
      name: attributes.length === 1 ? "kept" : "POST",
      attributes: [attribute("http.method", "POST"), ...attributes],
    });
  const traced = "/__app/traces/otlp/v1/traces";
  const full = attribute("url.full", `http://localhost:8000${traced}`);
  const response = await recorder.post(
    "traces",
    requestWith(
      request(2, attribute("url.path", traced), full),
      request(2, attribute("http.target", `${traced}?a=1`), full),
      otlpSpan({ kind: 2, attributes: [full, attribute("http.url", "")] }),
      request(2, attribute("url.path", "/__apps")),
      request(1, attribute("url.path", traced)),
    ),
  );
  assertEquals([response.status, await response.text()], [200, "{}"]);
  assertEquals(recorder.spans.map(({ name }) => name), ["kept", "kept"]);
});

Deno.test("Log records become events of their spans, and others are dropped", async () => {
  const recorder = createRecorder();
  const record = {
    timeUnixNano: START,
    severityNumber: 17,
    body: { stringValue: "no tea\n" },
    traceId: TRACE_ID,
    spanId: "00f067aa0ba902b7",
  };
  const time = Number(START) / 1e6;
  const response = await recorder.post("logs", {
    resourceLogs: [{
      resource: {},
      scopeLogs: [{
        logRecords: [
          record,
          {
            ...record,
            timeUnixNano: "0",
            observedTimeUnixNano: START,
            severityText: "Notice",
            eventName: "stock.empty",
            body: { kvlistValue: { values: [attribute("item", "tea")] } },
            attributes: [attribute("log.iostream", "stderr")],
          },
          { ...record, traceId: "" },
          { ...record, spanId: undefined },
          { ...record, severityNumber: undefined, body: undefined },
          { ...record, spanId: "1" },
          { ...record, timeUnixNano: undefined },
        ],
      }],
    }],
  });
  assertEquals(response.status, 200);
  const { partialSuccess } = await response.json();
  assertEquals(partialSuccess.rejectedLogRecords, "2");
  assertMatch(partialSuccess.errorMessage, /spanId must be 16 hexadecimal/);
  const on = { traceId: TRACE_ID, spanId: "00f067aa0ba902b7" };
  const log = (attributes: Record<string, string>) => ({
    ...on,
    event: { name: "log", time, attributes },
  });
  assertEquals(recorder.events, [
    log({ "log.severity": "ERROR", "log.body": "no tea" }),
    log({
      "log.severity": "Notice",
      "log.body": '{"item":"tea"}',
      "event.name": "stock.empty",
      "log.iostream": "stderr",
    }),
    log({ "log.severity": "UNSPECIFIED", "log.body": "" }),
  ]);
});

Deno.test("Metrics are accepted and dropped", async () => {
  const recorder = createRecorder();
  const response = await recorder.post("metrics", { resourceMetrics: [{}] });
  assertEquals([response.status, await response.text()], [200, "{}"]);
  assertEquals([recorder.spans, recorder.events], [[], []]);
});

const PATH = "/__app/traces/otlp/v1/traces";

Deno.test("authorize decides who may send spans, as write access", async () => {
  const asked: unknown[] = [];
  const { tracer, spans } = createRecorder();
  const handler = createOTLPReceiver(tracer, {
    authorize: (request, _info, access) => {
      asked.push(access);
      return request.headers.get("x-key") === "stock";
    },
  });
  const post = (key: string) =>
    handler(
      new Request(`http://localhost${PATH}`, {
        method: "POST",
        headers: { "content-type": JSON_TYPE, "x-key": key },
        body: JSON.stringify(requestWith(otlpSpan())),
      }),
    );
  const refused = await post("other");
  assertEquals(refused.status, 403);
  assertEquals((await refused.json()).error.code, "FORBIDDEN");
  assertEquals(spans, []);
  const taken = await post("stock");
  assertEquals([taken.status, await taken.text()], [200, "{}"]);
  assertEquals(spans.length, 1);
  assertEquals(asked, ["write", "write"]);
});

Deno.test("By default, services of this machine may send spans, and pages of other sites may not", async () => {
  const { tracer, spans } = createRecorder();
  const app = createApp({ trace: tracePlugin(tracer) });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const url = `http://127.0.0.1:${server.address.port}${PATH}`;
  const post = async (headers: Record<string, string>) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": JSON_TYPE, ...headers },
      body: JSON.stringify(requestWith(otlpSpan())),
    });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await post({ origin: "https://evil.example" }), 403);
  assertEquals(await post({ "x-forwarded-for": "192.0.2.1" }), 403);
  assertEquals(spans, []);
  assertEquals(await post({}), 200);
  assertEquals(spans.map(({ traceId }) => traceId), [TRACE_ID]);
});

Deno.test("A received span joins its caller's trace, and replaces neither the kit's spans nor an earlier one", async () => {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /");
  const call = root.child("fetch GET stock/tea", "request");
  call.end();
  root.end();
  const handler = createOTLPReceiver(tracer, { authorize: () => true });
  const now = BigInt(Date.now()) * 1_000_000n;
  const span = (spanId: string, name: string) =>
    otlpSpan({
      traceId: root.traceId,
      spanId,
      parentSpanId: call.id,
      name,
      startTimeUnixNano: `${now}`,
      endTimeUnixNano: `${now}`,
    });
  const send = async (path: string, body: object) => {
    const response = await handler(
      new Request(`http://localhost${PATH}/../${path}`, {
        method: "POST",
        headers: { "content-type": JSON_TYPE },
        body: JSON.stringify(body),
      }),
    );
    assertEquals([response.status, await response.text()], [200, "{}"]);
  };
  const id = "00f067aa0ba902b7";
  // The log record comes before its span.
  await send("logs", {
    resourceLogs: [{
      scopeLogs: [{
        logRecords: [{
          timeUnixNano: `${now}`,
          traceId: root.traceId,
          spanId: id,
          body: { stringValue: "packed" },
        }],
      }],
    }],
  });
  await send("traces", requestWith(span(root.id, "evil"), span(id, "pack")));
  await send("traces", requestWith(span(call.id, "evil"), span(id, "evil")));
  const trace = onlyTrace(tracer);
  assertEquals(trace.rootSpanId, root.id);
  assertEquals(treeOf(trace), "GET /(fetch GET stock/tea(pack))");
  const [event] = trace.spans.get(id)!.events;
  assertEquals(event!.attributes!["log.body"], "packed");
});

Deno.test("In production without authorize, no service may send spans", async () => {
  const { child, port } = await startTracedServer({
    args: ["plugin"],
    env: { DENO_ENV: "production" },
  });
  await using _child = child;
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
    method: "POST",
    headers: { "content-type": JSON_TYPE },
    body: JSON.stringify(requestWith(otlpSpan())),
  });
  assertEquals(response.status, 403);
  const { error } = await response.json();
  assertMatch(error.message, /authorize must be given in production/);
});
