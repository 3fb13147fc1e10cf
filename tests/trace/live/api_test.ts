import { assertEquals, assertMatch } from "@std/assert";
import {
  createCollector,
  createTracesAPIHandler,
  deserializeTrace,
  type SerializedTrace,
  type Span,
  type TracerImpl,
  type TracesAPIOptions,
} from "@quartet/kit/trace";
import { routesOf } from "../../../trace/http/access.ts";
import { LAYERS } from "../../../trace/export/semantics.ts";
import { createTestTracer, EPOCH } from "../fakes.ts";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests read any field
  readonly body: any;
}

/**
 * Creates a handler that allows everything, and returns a function to call it.
 */
function api(
  tracer: TracerImpl,
  options: TracesAPIOptions = {},
): (query: string, init?: RequestInit) => Promise<Answer> {
  const handler = createTracesAPIHandler(tracer, {
    authorize: () => true,
    ...options,
  });
  return async (query, init) => {
    const url = `http://localhost/__app/traces/api${query}`;
    const response = await handler(new Request(url, init));
    const { status, headers } = response;
    return { status, headers, body: await response.json() };
  };
}

/** Creates several traces, a second apart. */
function sample(): TracerImpl {
  const { tracer, clock } = createTestTracer();
  const requests = [
    ["GET", "/", 200, 5, "data"],
    ["GET", "/countries/fr", 404, 20, "database"],
    ["POST", "/countries", 201, 100, "forms"],
    ["GET", "/countries", 500, 50, "database"],
    ["BREW", "/coffee", 418, 1, "custom"],
  ] as const;
  for (const [method, path, status, duration, layer] of requests) {
    const root = tracer.startTrace(`${method} ${path}`, "request", {
      attributes: {
        "http.request.method": method,
        "url.path": path,
        "http.response.status_code": status,
      },
    });
    root.child("step", layer).end();
    clock.advance(duration);
    root.end();
    clock.advance(1_000 - duration);
  }
  tracer.startTrace("job", "build").end();
  return tracer;
}

function namesOf(body: { traces: SerializedTrace[] }): string[] {
  return body.traces.map(({ spans }) => spans[0]!.name);
}

Deno.test("GET returns the traces, newest first, in a form that can be deserialized", async () => {
  const tracer = sample();
  const { status, headers, body } = await api(tracer)("");
  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertEquals(body.total, 6);
  assertEquals(namesOf(body), [
    "job",
    "BREW /coffee",
    "GET /countries",
    "POST /countries",
    "GET /countries/fr",
    "GET /",
  ]);
  assertEquals(
    body.traces.map(deserializeTrace),
    tracer.getTraces().reverse(),
  );
});

Deno.test("GET applies each filter, and several at once", async () => {
  const tracer = sample();
  const ask = api(tracer);
  const { id } = tracer.getTraces()[0]!;
  const all = ["BREW /coffee", "GET /countries", "POST /countries"];
  const cases: [string, string[]][] = [
    ["?method=POST", ["POST /countries"]],
    ["?method=post", ["POST /countries"]],
    ["?method=BREW", ["BREW /coffee"]],
    ["?method=PUT", []],
    ["?path=/countries", [
      "GET /countries",
      "POST /countries",
      "GET /countries/fr",
    ]],
    [`?traceId=${id}`, ["GET /"]],
    [`?traceId=${"0".repeat(31)}1`, []],
    ["?path=fr", ["GET /countries/fr"]],
    ["?path=%2Fcoffee", ["BREW /coffee"]],
    ["?path=/Countries", []],
    ["?status=404", ["GET /countries/fr"]],
    ["?status=4xx", ["BREW /coffee", "GET /countries/fr"]],
    ["?status=5xx", ["GET /countries"]],
    ["?status=3xx", []],
    ["?layer=database", ["GET /countries", "GET /countries/fr"]],
    ["?layer=build", ["job"]],
    ["?layer=auth", []],
    ["?minDuration=50", ["GET /countries", "POST /countries"]],
    ["?minDuration=99.5", ["POST /countries"]],
    [`?after=${EPOCH + 1_000}`, ["job", ...all]],
    [`?after=${EPOCH + 999.5}`, ["job", ...all, "GET /countries/fr"]],
    ["?limit=2", ["job", "BREW /coffee"]],
    ["?limit=0", []],
    ["?method=GET&status=5xx&path=count&layer=database", ["GET /countries"]],
    ["?unknown=1&path=coffee", ["BREW /coffee"]],
  ];
  for (const [query, expected] of cases) {
    const { status, body } = await ask(query);
    assertEquals(status, 200, query);
    assertEquals(namesOf(body), expected, query);
  }
});

Deno.test("GET returns the number of matching traces, and at most 100 of them by default", async () => {
  const { tracer } = createTestTracer();
  for (let i = 0; i < 150; i++) tracer.startTrace(`job ${i}`).end();
  const ask = api(tracer);
  for (
    const [query, length] of [["", 100], ["?limit=7", 7], [
      "?limit=1e6",
      150,
    ]] as const
  ) {
    const { body } = await ask(query);
    assertEquals(body.total, 150);
    assertEquals(body.traces.length, length);
    assertEquals(namesOf(body)[0], "job 149");
  }
});

Deno.test("GET rejects an invalid filter with the reason", async () => {
  const ask = api(sample());
  const cases: [string, string][] = [
    [
      "?status=abc",
      "status must be a status such as 404 or a class such as 4xx, received abc",
    ],
    [
      "?status=6xx",
      "status must be a status such as 404 or a class such as 4xx, received 6xx",
    ],
    [
      "?status=4x",
      "status must be a status such as 404 or a class such as 4xx, received 4x",
    ],
    [
      "?status=",
      "status must be a status such as 404 or a class such as 4xx, received ",
    ],
    [
      "?layer=db",
      "layer must be one of request, routing, data, forms, signals, rpc, database, auth, islands, build, errors, custom, received db",
    ],
    [
      "?minDuration=-1",
      "minDuration must be a number of 0 or more, received -1",
    ],
    [
      "?minDuration=1ms",
      "minDuration must be a number of 0 or more, received 1ms",
    ],
    ["?minDuration=", "minDuration must be a number of 0 or more, received "],
    [
      "?minDuration=%20",
      "minDuration must be a number of 0 or more, received  ",
    ],
    [
      "?after=yesterday",
      "after must be a number of 0 or more, received yesterday",
    ],
    [
      "?after=Infinity",
      "after must be a number of 0 or more, received Infinity",
    ],
    ["?limit=NaN", "limit must be a number of 0 or more, received NaN"],
    ["?limit=-5", "limit must be a number of 0 or more, received -5"],
  ];
  for (const [query, message] of cases) {
    const { status, body } = await ask(query);
    assertEquals(status, 400, query);
    assertEquals(body, { error: { code: "BAD_REQUEST", message } });
  }
});

Deno.test("GET ?id returns one trace, even a running one, or 404", async () => {
  const tracer = sample();
  const ask = api(tracer);
  const [first] = tracer.getTraces();
  const found = await ask(`?id=${first!.id}`);
  assertEquals(found.status, 200);
  assertEquals(deserializeTrace(found.body), first);

  const running = tracer.startTrace("running");
  assertEquals((await ask(`?id=${running.traceId}`)).body.duration, 0);
  running.end();

  for (const id of ["", "unknown", "0".repeat(32)]) {
    const { status, body } = await ask(`?id=${id}`);
    assertEquals(status, 404);
    assertEquals(body, {
      error: { code: "NOT_FOUND", message: "No trace with this id is kept" },
    });
  }
});

Deno.test("HEAD is answered like GET, and other methods with 405 and Allow", async () => {
  const tracer = sample();
  const without = api(tracer);
  const with_ = api(tracer, { collector: createCollector(tracer) });
  assertEquals((await without("", { method: "HEAD" })).status, 200);
  for (
    const [ask, method, allow] of [
      [without, "POST", "GET, HEAD"],
      [without, "DELETE", "GET, HEAD"],
      [with_, "PUT", "GET, HEAD, POST"],
      [with_, "OPTIONS", "GET, HEAD, POST"],
    ] as const
  ) {
    const { status, headers, body } = await ask("", { method });
    assertEquals(status, 405);
    assertEquals(headers.get("allow"), allow);
    assertEquals(body.error, {
      code: "METHOD_NOT_ALLOWED",
      message: `Traces take ${allow}, not ${method}`,
    });
  }
});

/**
 * Creates a handler that accepts spans, a trace for them, and a function to
 * post.
 */
function posting(): {
  tracer: TracerImpl;
  root: Span;
  post(body: BodyInit): Promise<Answer>;
} {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /");
  root.end();
  const ask = api(tracer, { collector: createCollector(tracer) });
  return { tracer, root, post: (body) => ask("", { method: "POST", body }) };
}

function clientSpan(n: number): Record<string, unknown> {
  return {
    id: n.toString(16).padStart(16, "0"),
    parentId: null,
    name: `client ${n}`,
    startTime: EPOCH,
    endTime: EPOCH,
  };
}

Deno.test("POST accepts a browser's spans with any content type, as beacons send them", async () => {
  const { tracer, root, post } = posting();
  const message = (n: number) =>
    JSON.stringify({
      type: "client:spans",
      traceId: root.traceId,
      spans: [clientSpan(n)],
    });
  const typed = new Blob([message(2)], { type: "application/json" });
  for (const body of [message(1), typed, message(1)]) {
    const { status, body: result } = await post(body);
    assertEquals(status, 202);
    assertEquals(result.added + result.rejected, 1);
  }
  assertEquals(tracer.getTraces()[0]?.spans.size, 3);
});

Deno.test("POST from a page that was closed meanwhile is a bad request, not a failure", async () => {
  const { post } = posting();
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error("connection reset")),
  });
  const { status, body: result } = await post(body);
  assertEquals([status, result.error.code], [400, "PARSE_ERROR"]);
  assertMatch(result.error.message, /cut off/);
});

Deno.test("POST reports what is wrong with spans, and accepts the others", async () => {
  const { root, post } = posting();
  const { traceId } = root;
  const type = "client:spans";
  const some = await post(JSON.stringify({
    type,
    traceId,
    spans: [clientSpan(1), { ...clientSpan(2), name: 5 }],
  }));
  assertEquals(some.status, 202);
  const { now: _, ...result } = some.body;
  assertEquals(result, {
    added: 1,
    rejected: 1,
    error: "spans[1].name must be a string",
  });

  const none = await post(JSON.stringify({ type, traceId, spans: [null] }));
  assertEquals(none.status, 400);
  assertEquals({ ...none.body, now: 0 }, {
    now: 0,
    added: 0,
    rejected: 1,
    error: "spans[0] must be an object",
  });
});

Deno.test("POST rejects invalid JSON and bodies that are too large", async () => {
  const { post } = posting();
  const noJSON = "The body must be JSON";
  for (
    const [body, message] of [
      ["", noJSON],
      ["{", noJSON],
      ["\ud800", noJSON],
      [new Uint8Array([0xff, 0xfe]), "The body must be UTF-8"],
    ] as const
  ) {
    const answer = await post(body);
    assertEquals(answer.status, 400);
    assertEquals(answer.body.error, { code: "PARSE_ERROR", message });
  }
  const large = await post(`"${"é".repeat(128 * 1024)}"`);
  assertEquals(large.status, 413);
  assertEquals(large.body.error.code, "PAYLOAD_TOO_LARGE");
  assertMatch(large.body.error.message, /at most 262144 bytes/);

  const fits = await post(`"${"x".repeat(256 * 1024 - 2)}"`);
  assertEquals(fits.status, 400);
  assertEquals(fits.body.error, "The message must be an object");
});

Deno.test("POST over a real server stops reading an endless body", async () => {
  const { tracer } = createTestTracer();
  const handler = createTracesAPIHandler(tracer, {
    collector: createCollector(tracer),
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request, info) => handler(request, info),
  );
  const connection = await Deno.connect({ port: server.addr.port });
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${server.addr.port}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ));
  const chunk = encoder.encode(`8000\r\n${"x".repeat(0x8000)}\r\n`);
  for (let i = 0; i < 9; i++) {
    let rest = chunk;
    while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
  }

  const buffer = new Uint8Array(1024);
  const length = await connection.read(buffer) ?? 0;

  assertMatch(
    new TextDecoder().decode(buffer.subarray(0, length)),
    /^HTTP\/1\.1 413 /,
  );
  connection.close();
  await server.shutdown();
});

Deno.test("A linked trace's id returns the trace that it was joined to", async () => {
  const { tracer } = createTestTracer();
  const request = tracer.startTrace("GET /", "request");
  request.end();
  const page = "f".repeat(32);
  const startTime = EPOCH;
  tracer.mergeClientSpans(page, [{
    id: "e".repeat(16),
    parentId: null,
    name: "page:load",
    layer: "request",
    status: "ok",
    startTime,
    endTime: startTime + 5,
    attributes: {
      "app.origin": "client",
      "app.link": `00-${request.traceId}-${request.id}-01`,
    },
    events: [],
  }]);
  for (const id of [page, request.traceId]) {
    const { body } = await api(tracer)(`?traceId=${id}`);
    assertEquals(body.traces.map(({ id }: SerializedTrace) => id), [page]);
  }
});

Deno.test("GET ?help and Accept: text/plain return the documentation as plain text", async () => {
  const tracer = sample();
  const handler = createTracesAPIHandler(tracer, { authorize: () => true });
  const ask = async (query: string, accept: string) => {
    const url = `http://localhost/__app/traces/api${query}`;
    const response = await handler(new Request(url, { headers: { accept } }));
    const [type] = response.headers.get("content-type")!.split(";");
    return [type, await response.text()];
  };
  const [type, help] = await ask("?help", "*/*");
  assertEquals(type, "text/plain");
  for (
    const name of ["id", "traceId", "method", "path", "status", "layer"]
      .concat(["minDuration", "after", "run", "limit"])
  ) assertMatch(help!, new RegExp(`^  ${name}=`, "m"));
  for (const layer of LAYERS) assertMatch(help!, new RegExp(`\\b${layer}\\b`));
  assertMatch(help!, /^ {2}\/__app\/traces\/ws +a WebSocket/m);
  assertEquals(help!.includes("/mcp"), false);
  assertEquals(await ask("", "text/plain"), [type, help]);
  routesOf(tracer).set("/mcp", () => new Response());
  assertMatch(
    (await ask("?help", ""))[1]!,
    /^ {2}\/__app\/traces\/mcp +tools/m,
  );
  // Browsers and scripts that take anything get the list.
  for (const accept of ["*/*", "text/html, text/plain;q=0.5, */*"]) {
    assertEquals((await ask("", accept))[0], "application/json");
  }
});
