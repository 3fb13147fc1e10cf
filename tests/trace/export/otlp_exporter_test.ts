import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { currentScope } from "../../../core/request_scope.ts";
import { createTracer, traceMiddleware } from "../../../trace/mod.ts";
import { fromOTLP } from "../../../trace/export/otlp_reader.ts";
import type {
  OTLPExporter,
  OTLPExporterOptions,
  OTLPExporterStats,
  OTLPExporterTimers,
} from "@quartet/kit/trace";
import { createOTLPExporter } from "../../../trace/export/otlp_exporter.ts";
import type { Tracer } from "../../../trace/types.ts";
import { freePort } from "../../helpers.ts";
import { FakeTimers } from "./fake_timers.ts";
import { FakeCollector } from "./fake_collector.ts";
import { makeTrace } from "./make_trace.ts";

/** Time that the exporter waits for a response, in milliseconds. */
const ANSWER_TIMEOUT = 10_000;

interface Bench extends AsyncDisposable {
  readonly collector: FakeCollector;
  readonly timers: FakeTimers;
  readonly tracer: Tracer;
  readonly exporter: OTLPExporter;
  /** Reported errors. */
  readonly errors: string[];
  /** Ends this number of traces. */
  end(count?: number): void;
}

/** Passes the time that traces wait, until the exporter has reported an error. */
async function passUntilReported({ timers, errors }: Bench): Promise<void> {
  await timers.pass(5000);
  while (errors.length === 0) {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

function setUp(options: Partial<OTLPExporterOptions> = {}): Bench {
  const collector = new FakeCollector();
  const timers = new FakeTimers();
  const tracer = createTracer();
  const errors: string[] = [];
  const exporter = createOTLPExporter({
    url: collector.url,
    timers,
    onError: (error) => errors.push(error.message),
    ...options,
  });
  exporter.attach(tracer);
  return {
    collector,
    timers,
    tracer,
    exporter,
    errors,
    end(count = 1) {
      for (let i = 0; i < count; i++) {
        tracer.withSpan(`job ${i}`, "custom", () => {});
      }
    },
    async [Symbol.asyncDispose]() {
      await exporter.close();
      await collector[Symbol.asyncDispose]();
      assertEquals(timers.delays, [], "timers are left");
    },
  };
}

/** Returns the exporter's statistics, with 0 for fields that aren't given. */
function stats(
  { queued = 0, exported = 0, ...lost }:
    & Partial<OTLPExporterStats["lost"]>
    & { queued?: number; exported?: number },
): OTLPExporterStats {
  const { queueFull = 0, closed = 0 } = lost;
  const { rejected = 0, timeout = 0, unavailable = 0, invalid = 0 } = lost;
  return {
    exported,
    dropped: queueFull + closed,
    failed: rejected + timeout + unavailable + invalid,
    queued,
    lost: { queueFull, closed, rejected, timeout, unavailable, invalid },
    rejectedSpans: 0,
  };
}

const answer = (status: number, headers: HeadersInit = {}) => () =>
  new Response("details", { status, headers });

Deno.test("The exporter sends ended traces together after a delay", async () => {
  await using bench = setUp({
    headers: { authorization: "Bearer secret" },
    serviceName: "atlas",
  });
  const { collector, timers, exporter, tracer } = bench;
  bench.end(2);
  assertEquals(timers.delays, [5000]);
  assertEquals(exporter.stats, stats({ queued: 2 }));
  timers.advance(5000);
  await collector.requests(1);
  assert(await exporter.flush());
  const { url, headers, body } = collector.received[0] ?? {};
  assertEquals(url, `${collector.url}/v1/traces`);
  assertEquals(headers?.get("content-type"), "application/json");
  assertEquals(headers?.get("authorization"), "Bearer secret");
  assertEquals(
    body?.resourceSpans[0]?.resource.attributes[0]?.value.stringValue,
    "atlas",
  );
  assertEquals(
    fromOTLP(body).map(({ id }) => id),
    tracer.getTraces().map(({ id }) => id),
  );
  assertEquals(exporter.stats, stats({ exported: 2 }));
  assertEquals(collector.received.length, 1);
});

Deno.test("The exporter sends as soon as a batch is full, but not while a trace ends", async () => {
  await using bench = setUp({ batch: { maxSize: 3 } });
  const { collector, timers, exporter } = bench;
  bench.end(7);
  assertEquals(timers.delays, [0]);
  assertEquals(exporter.stats.queued, 7);
  timers.advance(0);
  await collector.requests(2);
  // The seventh waits for others.
  await timers.timer(5000);
  while (exporter.stats.exported < 6) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(collector.traceCount, 6);
  assertEquals(exporter.stats.queued, 1);
});

Deno.test("The exporter keeps the path of its URL", async () => {
  await using collector = new FakeCollector();
  const exporter = createOTLPExporter({
    url: `${collector.url}/otlp/traces?tenant=1`,
  });
  const tracer = createTracer();
  exporter.attach(tracer);
  tracer.withSpan("job", "custom", () => {});
  await exporter.close();
  assertEquals(
    collector.received[0]?.url,
    `${collector.url}/otlp/traces?tenant=1`,
  );
});

Deno.test("The exporter accepts the base URL of OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces appended", async () => {
  for (
    const [base, path] of [
      ["", "/v1/traces"],
      ["/", "/v1/traces"],
      ["/otlp", "/otlp/v1/traces"],
      ["/otlp/", "/otlp/v1/traces"],
    ] as const
  ) {
    await using collector = new FakeCollector();
    const exporter = createOTLPExporter({
      url: `${collector.url}${base}/v1/traces`,
    });
    const tracer = createTracer();
    exporter.attach(tracer);
    tracer.withSpan("job", "custom", () => {});
    await exporter.close();
    assertEquals(collector.received[0]?.url, `${collector.url}${path}`);
  }
});

Deno.test("The exporter's advice on a wrong path shows none of a key in it", async () => {
  for (
    const [path, advice] of [
      [
        "/hunter2/v1/traces",
        "check the part of url before /v1/traces",
      ],
      [
        "/hunter2",
        "check the path of url: it doesn't end in /v1/traces, as most collectors need",
      ],
    ] as const
  ) {
    await using bench = setUp({
      url: `http://localhost:4318${path}`,
      fetch: () => Promise.resolve(new Response(null, { status: 404 })),
    });
    bench.end();
    assert(await bench.exporter.flush());
    assertEquals(bench.errors, [
      `Cannot export traces to http://localhost:4318: the collector answered 404; ${advice}`,
    ]);
  }
});

Deno.test("The exporter reports the code of a failed connection, as Node's fetch has it", async () => {
  for (
    const [code, text] of [
      ["ECONNREFUSED", "fetch failed (ECONNREFUSED)"],
      ["hunter2", "fetch failed"],
      [7, "fetch failed"],
    ] as const
  ) {
    let attempts = 0;
    const cause = Object.assign(new Error("hunter2"), { code });
    await using bench = setUp({
      url: "http://localhost:4318",
      fetch: () =>
        attempts++ === 0
          ? Promise.reject(new TypeError("fetch failed", { cause }))
          : Promise.resolve(new Response()),
    });
    bench.end();
    await passUntilReported(bench);
    assert(await bench.exporter.flush());
    assertEquals(bench.errors, [
      `Cannot export traces to http://localhost:4318: ${text}`,
    ]);
  }
});

Deno.test("flush() and close() report once that nothing was ever attached", async () => {
  const errors: string[] = [];
  const create = () =>
    createOTLPExporter({
      url: "http://localhost:4318",
      onError: ({ message }) => errors.push(message),
    });
  const exporter = create();
  await exporter.flush();
  await exporter.close();
  assertEquals(errors, [
    "Cannot export traces to http://localhost:4318: nothing is attached; call exporter.attach(tracer)",
  ]);
  const other = create();
  other.attach(createTracer())();
  await other.close();
  assertEquals(errors.length, 1);
});

Deno.test("The exporter compresses if configured", async () => {
  await using bench = setUp({ gzip: true });
  bench.end(20);
  assert(await bench.exporter.flush());
  const { headers } = bench.collector.received[0] ?? {};
  assertEquals(headers?.get("content-encoding"), "gzip");
  assertEquals(bench.collector.traceCount, 20);
});

Deno.test("The exporter retries the same traces with doubling delays", async () => {
  await using bench = setUp();
  const { collector, timers, exporter } = bench;
  collector.answers.push(answer(503), answer(429), answer(502), answer(504));
  bench.end();
  timers.advance(5000);
  for (const delay of [1000, 2000, 4000, 8000]) await timers.pass(delay);
  await collector.requests(5);
  assert(await exporter.flush());
  const [first, ...others] = collector.received.map(({ body }) => body);
  for (const body of others) assertEquals(body, first);
  assertEquals(exporter.stats.exported, 1);
});

Deno.test("The exporter waits as long as Retry-After says, in seconds or until a date", async () => {
  await using bench = setUp();
  const { collector, timers, exporter } = bench;
  const date = new Date(timers.now() + 5000 + 7000 + 20_000).toUTCString();
  collector.answers.push(
    answer(429, { "retry-after": "7" }),
    answer(503, { "retry-after": date }),
  );
  bench.end();
  timers.advance(5000);
  await timers.pass(7000);
  await timers.pass(20_000);
  await collector.requests(3);
  assert(await exporter.flush());
  assertEquals(exporter.stats.exported, 1);
});

Deno.test("The exporter doesn't retry after a permanent error", async () => {
  for (const status of [400, 401, 404, 413, 500]) {
    await using bench = setUp();
    bench.collector.answers.push(answer(status));
    bench.end(2);
    assert(await bench.exporter.flush());
    assertEquals(bench.collector.received.length, 1);
    assertEquals(bench.exporter.stats, stats({ rejected: 2 }));
    assertStringIncludes(bench.errors[0] ?? "", `answered ${status}`);
  }
});

Deno.test("The exporter gives up after the sixth attempt and continues with the next batch", async () => {
  await using bench = setUp({ batch: { maxSize: 1, maxInFlight: 1 } });
  const { collector, timers, exporter } = bench;
  const bad = () => new Response(null, { status: 503 });
  collector.answers.push(bad);
  bench.end(2);
  timers.advance(0);
  // The second batch is sent while the first waits.
  await collector.requests(2);
  assertEquals(collector.traceNames, ["job 0", "job 1"]);
  collector.answers.push(bad, bad, bad, bad, bad);
  for (const delay of [1000, 2000, 4000, 8000, 16_000]) {
    await timers.pass(delay);
  }
  await collector.requests(7);
  assert(await exporter.flush());
  assertEquals(collector.traceNames.slice(2), Array(5).fill("job 0"));
  assertEquals(exporter.stats, stats({ exported: 1, unavailable: 1 }));
});

Deno.test("The exporter retries if nothing listens, and reports no secret", async () => {
  const port = freePort();
  const timers = new FakeTimers();
  const errors: string[] = [];
  const exporter = createOTLPExporter({
    url: `http://127.0.0.1:${port}/key/abcdef?token=ghijkl`,
    headers: { "x-api-key": "mnopqr" },
    timers,
    onError: (error) => errors.push(`${error.stack} ${error.cause}`),
  });
  const tracer = createTracer();
  exporter.attach(tracer);
  tracer.withSpan("job", "custom", () => {});
  timers.advance(5000);
  await timers.pass(1000);
  await timers.timer(2000);
  assertEquals(errors.length, 1);
  const message = errors[0] ?? "";
  assertMatch(
    message,
    RegExp(
      `Cannot export traces to http://127\\.0\\.0\\.1:${port}: fetch failed \\(.*refused.*\\)`,
    ),
  );
  for (const secret of ["abcdef", "ghijkl", "mnopqr"]) {
    assertFalse(message.includes(secret), message);
  }
  const closing = exporter.close({ timeoutMs: 50 });
  await timers.pass(50);
  await closing;
  assertEquals(exporter.stats.dropped, 1);
});

Deno.test("The exporter reports an outage once, and the next one again", async () => {
  await using bench = setUp();
  const { collector, timers, exporter, errors } = bench;
  for (let outage = 1; outage <= 2; outage++) {
    collector.answers.push(answer(503), answer(503));
    bench.end();
    await timers.pass(5000);
    await timers.pass(1000);
    await timers.pass(2000);
    await collector.requests(3 * outage);
    assert(await exporter.flush());
    assertEquals(errors.length, outage);
  }
  assertEquals(
    errors[0],
    `Cannot export traces to ${collector.url}: the collector answered 503`,
  );
});

Deno.test("The exporter says what to check if its settings are wrong", async () => {
  for (
    const [status, advice] of [
      [401, "check the key in headers"],
      [404, "check the part of url before /v1/traces"],
      [415, "it must accept OTLP over HTTP with JSON"],
    ] as const
  ) {
    await using bench = setUp();
    bench.collector.answers.push(answer(status));
    bench.end();
    assert(await bench.exporter.flush());
    assertEquals(bench.errors, [
      `Cannot export traces to ${bench.collector.url}: the collector answered ${status}; ${advice}`,
    ]);
  }
});

Deno.test("The exporter names the port of OTLP over HTTP if it fails on the port of gRPC", async () => {
  let attempts = 0;
  await using bench = setUp({
    url: "http://localhost:4317",
    fetch: () =>
      attempts++ === 0
        ? Promise.reject(new TypeError("connection closed"))
        : Promise.resolve(new Response()),
  });
  bench.end();
  await passUntilReported(bench);
  // It waits for a retry, which this cuts short.
  assert(await bench.exporter.flush());
  assertEquals(bench.errors, [
    "Cannot export traces to http://localhost:4317: connection closed; port 4317 is the one for OTLP over gRPC, and port 4318 for OTLP over HTTP",
  ]);
});

Deno.test("The exporter survives an error handler that throws", async () => {
  await using bench = setUp({
    onError() {
      throw new Error("reporter");
    },
  });
  bench.collector.answers.push(answer(400));
  bench.end();
  assert(await bench.exporter.flush());
  assertEquals(bench.exporter.stats.failed, 1);
});

Deno.test("The exporter drops and counts traces that don't fit into the queue", async () => {
  await using bench = setUp({ batch: { maxQueue: 3 } });
  bench.end(5);
  assertEquals(bench.exporter.stats, stats({ queued: 3, queueFull: 2 }));
  assertEquals(bench.errors.length, 1);
  assert(await bench.exporter.flush());
  assertEquals(bench.collector.traceCount, 3);
});

Deno.test("The exporter waits ten seconds for a response", async () => {
  await using bench = setUp();
  const { collector, timers, exporter, errors } = bench;
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  collector.answers.push(() => never);
  bench.end();
  timers.advance(5000);
  await collector.requests(1);
  await timers.pass(ANSWER_TIMEOUT);
  await timers.pass(1000);
  await collector.requests(2);
  assert(await exporter.flush());
  assertStringIncludes(errors[0] ?? "", "didn't answer in time");
  assertEquals(exporter.stats.exported, 1);
  resolve(new Response());
});

Deno.test("The exporter counts traces that got no response six times", async () => {
  await using bench = setUp();
  const { collector, timers, exporter } = bench;
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  for (let i = 0; i < 6; i++) collector.answers.push(() => never);
  bench.end(3);
  timers.advance(5000);
  for (const [i, wait] of [1000, 2000, 4000, 8000, 16_000, 0].entries()) {
    await collector.requests(i + 1);
    await timers.pass(ANSWER_TIMEOUT);
    if (wait > 0) await timers.pass(wait);
  }
  assert(await exporter.flush());
  assertEquals(exporter.stats, stats({ timeout: 3 }));
  resolve(new Response());
});

Deno.test("The exporter bounds the spans of the traces that wait", async () => {
  await using bench = setUp({ batch: { maxQueueSpans: 10 } });
  const { exporter, tracer, collector } = bench;
  const end = (name: string, spans: number) =>
    tracer.withSpan(name, "custom", (span) => {
      for (let i = 1; i < spans; i++) span.child("step", "custom").end();
    });
  // A trace over the bound is sent alone.
  end("large", 12);
  end("second", 1);
  assert(await exporter.flush());
  end("six", 6);
  end("five", 5);
  end("four", 4);
  assert(await exporter.flush());
  end("six again", 6);
  assert(await exporter.flush());
  assertEquals(collector.traceNames, ["large", "six", "four", "six again"]);
  assertEquals(exporter.stats, stats({ exported: 4, queueFull: 2 }));
});

Deno.test("The exporter reports a partial success, and doesn't retry it", async () => {
  await using bench = setUp();
  bench.collector.answers.push(() =>
    Response.json({ partialSuccess: { rejectedSpans: "3" } })
  );
  bench.end();
  assert(await bench.exporter.flush());
  assertEquals(bench.collector.received.length, 1);
  assertStringIncludes(bench.errors[0] ?? "", "the collector refused 3 spans");
  const { exported, rejectedSpans } = bench.exporter.stats;
  assertEquals([exported, rejectedSpans], [1, 3]);
});

Deno.test("The exporter doesn't follow redirects, which would pass on its headers", async () => {
  await using bench = setUp();
  await using other = new FakeCollector();
  bench.collector.answers.push(
    answer(307, { location: `${other.url}/v1/traces` }),
  );
  bench.end();
  assert(await bench.exporter.flush());
  assertEquals(other.received.length, 0);
  assertEquals(bench.exporter.stats.failed, 1);
});

Deno.test("The exporter includes browser spans that arrive while their trace waits", async () => {
  await using bench = setUp();
  const { tracer, exporter, collector } = bench;
  const span = tracer.startTrace("GET /", "request");
  span.end();
  const added = tracer.mergeClientSpans(span.traceId, [{
    id: "00f067aa0ba902b7",
    parentId: span.id,
    name: "hydrate:Cart",
    layer: "islands",
    status: "ok",
    startTime: Date.now(),
    endTime: Date.now() + 1,
    attributes: {},
    events: [],
  }]);
  assertEquals(added, 1);
  assert(await exporter.flush());
  assertEquals(fromOTLP(collector.received[0]?.body)[0]?.spans.length, 2);
});

Deno.test("The exporter bounds the browser spans that join a waiting trace", async () => {
  await using bench = setUp({ batch: { maxQueueSpans: 10 } });
  const { tracer, exporter, collector } = bench;
  const span = tracer.startTrace("GET /", "request");
  span.end();
  const merge = (from: number, count: number) =>
    tracer.mergeClientSpans(
      span.traceId,
      Array.from({ length: count }, (_, i) => ({
        id: (from + i).toString(16).padStart(16, "0"),
        parentId: span.id,
        name: "step",
        layer: "custom",
        status: "ok",
        startTime: Date.now(),
        endTime: Date.now(),
        attributes: {},
        events: [],
      })),
    );
  assertEquals([merge(1, 6), merge(11, 6), merge(21, 3)], [6, 6, 3]);
  assert(await exporter.flush());
  assertEquals(fromOTLP(collector.received[0]?.body)[0]?.spans.length, 10);
  assertEquals(exporter.stats, stats({ exported: 1, queueFull: 1 }));
});

Deno.test("flush() cuts short a delay that the exporter chose", async () => {
  await using bench = setUp();
  const { collector, timers, exporter } = bench;
  collector.answers.push(answer(503));
  bench.end();
  timers.advance(5000);
  await timers.timer(1000);
  assert(await exporter.flush());
  assertEquals(exporter.stats.exported, 1);
});

Deno.test("flush() stops at its deadline, and doesn't cut Retry-After short", async () => {
  await using bench = setUp();
  const { collector, timers, exporter } = bench;
  collector.answers.push(answer(503, { "retry-after": "60" }));
  bench.end();
  timers.advance(5000);
  await timers.timer(60_000);
  const flushed = exporter.flush({ timeoutMs: 300 });
  await timers.pass(300);
  assertFalse(await flushed);
  assertEquals(exporter.stats.queued, 1);
  timers.advance(60_000);
  await collector.requests(2);
  assert(await exporter.flush());
});

Deno.test("close() sends the traces that wait, and then accepts no more", async () => {
  await using bench = setUp();
  const { collector, exporter, tracer } = bench;
  bench.end(3);
  await exporter.close();
  assertEquals(collector.traceCount, 3);
  bench.end();
  assertEquals(exporter.stats.queued, 0);
  assertEquals(exporter.stats.exported, 3);
  assertThrows(
    () => exporter.attach(tracer),
    TypeError,
    "the exporter must be open",
  );
});

Deno.test("close() drops and counts the rest at its deadline, including requests in flight", async () => {
  await using bench = setUp({ batch: { maxSize: 2 } });
  const { collector, timers, exporter } = bench;
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  for (let i = 0; i < 3; i++) collector.answers.push(() => never);
  bench.end(5);
  timers.advance(0);
  await collector.requests(2);
  const closed = exporter.close({ timeoutMs: 300 });
  await timers.pass(300);
  await closed;
  assertEquals(exporter.stats, stats({ closed: 5 }));
  assertEquals(bench.errors, []);
  resolve(new Response());
});

Deno.test("attach() returns a function that detaches", async () => {
  await using bench = setUp();
  const tracer = createTracer();
  const detach = bench.exporter.attach(tracer);
  tracer.withSpan("a", "custom", () => {});
  detach();
  tracer.withSpan("b", "custom", () => {});
  assertEquals(bench.exporter.stats.queued, 1);
});

Deno.test("createOTLPExporter() rejects invalid options and repeats no secret", () => {
  const url = "http://localhost:4318";
  const cases: [OTLPExporterOptions, string][] = [
    [
      { url: "localhost:4318" },
      "url must be an http or https URL, such as http://localhost:4318",
    ],
    [{ url: "" }, "received another string"],
    [{ url: "hunter2://localhost" }, "received another string"],
    [{ url: ["hunter2"] as unknown as string }, "received an array"],
    [
      { url: "http://me:hunter2@localhost" },
      "url must not contain a user name or password",
    ],
    [
      { url, headers: { "x key": "hunter2" } },
      'headers must have names that HTTP allows, received "x key"',
    ],
    [
      { url, batch: { maxDelayMs: 2 ** 31 } },
      "from 0 to 2147483647, received 2147483648",
    ],
    [
      { url, timers: {} as OTLPExporterTimers },
      "timers must be an object with now(), after() and random(), received an object",
    ],
    [
      { url, fetch: "hunter" as unknown as typeof fetch },
      'fetch must be a function, received "hunter"',
    ],
    [
      { url, headers: { "x-key": "hunter2\n" + "x\u0100" } },
      'header "x-key" must have a value that HTTP allows, received one with',
    ],
    [
      { url, batch: { maxSize: 0 } },
      "batch.maxSize must be a positive integer, received 0",
    ],
    [
      { url, batch: { maxDelayMs: -1 } },
      "batch.maxDelayMs must be a whole number of milliseconds from 0 to 2147483647, received -1",
    ],
    [
      { url, batch: { maxQueue: Infinity } },
      "batch.maxQueue must be a positive integer, received Infinity",
    ],
    [
      { url, batch: { maxQueueSpans: 0 } },
      "batch.maxQueueSpans must be a positive integer, received 0",
    ],
    [
      { url, batch: { maxInFlight: 1.5 } },
      "batch.maxInFlight must be a positive integer, received 1.5",
    ],
    [
      { url, resource: { "service.version": NaN } },
      'resource "service.version" must be a text, a finite number or a boolean, received NaN',
    ],
    [
      { url, resource: { a: ["hunter2"] as unknown as string } },
      'resource "a" must be a text',
    ],
  ];
  for (const [options, message] of cases) {
    const { message: text } = assertThrows(
      () => createOTLPExporter(options),
      TypeError,
      message,
    );
    assertFalse(text.includes("hunter2"), text);
  }
});

Deno.test("The exporter uses the global fetch at the time of sending", async () => {
  const { fetch } = globalThis;
  const url = "http://localhost:4318/v1/traces";
  const exporter = createOTLPExporter({ url });
  const tracer = createTracer();
  exporter.attach(tracer);
  tracer.withSpan("job", "custom", () => {});
  const urls: string[] = [];
  globalThis.fetch = (input) => {
    urls.push(String(input));
    return Promise.resolve(new Response());
  };
  try {
    await exporter.close();
  } finally {
    globalThis.fetch = fetch;
  }
  assertEquals(urls, [url]);
  assertEquals(exporter.stats.exported, 1);
});

Deno.test("The exporter survives a trace that can't be encoded, and long responses", async () => {
  await using bench = setUp();
  const { collector, exporter, errors } = bench;
  collector.answers.push(() => new Response("x".repeat(1_000_000)));
  exporter.attach({
    subscribe(listener) {
      const trace = makeTrace([{ id: "root" }]);
      const spans = new Map(trace.spans.map((span) => [span.id, span]));
      listener({ type: "trace:end", trace: { ...trace, spans } });
      return () => {};
    },
  });
  assert(await exporter.flush());
  assertEquals(exporter.stats, stats({ invalid: 1 }));
  assertStringIncludes(errors[0] ?? "", "Cannot write OTLP: a span id must be");
  bench.end();
  assert(await exporter.flush());
  assertEquals(exporter.stats.exported, 1);
});

Deno.test("The exporter sends the other traces of a batch with one that can't be encoded", async () => {
  await using bench = setUp();
  const { collector, exporter, tracer } = bench;
  bench.end(2);
  // A UUID isn't a trace id.
  const traceId = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736";
  tracer.startTrace("job", "custom", { traceId }).end();
  bench.end(2);
  assert(await exporter.flush());
  assertEquals(exporter.stats, stats({ exported: 4, invalid: 1 }));
  const { body } = collector.received[0] ?? {};
  assertEquals(fromOTLP(body).length, 4);
});

Deno.test("The exporter yields while it encodes a large batch, so that requests are served", async () => {
  let isServed = false;
  let wasServed: boolean | undefined;
  await using bench = setUp({
    batch: { maxSize: 300 },
    fetch: (input, init) => {
      wasServed = isServed;
      return fetch(input, init);
    },
  });
  bench.end(300);
  setTimeout(() => isServed = true);
  assert(await bench.exporter.flush());
  assertEquals(bench.exporter.stats.exported, 300);
  assertEquals(wasServed, true, "before it was sent");
});

Deno.test("The exporter takes the status as the result, whatever happens to the body", async () => {
  const broken = () =>
    new ReadableStream({
      pull: (controller) => controller.error(new Error("cut off")),
    });
  for (const status of [200, 400]) {
    for (const body of [null, broken()]) {
      await using bench = setUp({
        fetch: () => Promise.resolve(new Response(body, { status })),
      });
      bench.end();
      assert(await bench.exporter.flush());
      const { exported, failed } = bench.exporter.stats;
      assertEquals([exported, failed], status === 200 ? [1, 0] : [0, 1]);
    }
  }
});

Deno.test("The exporter retries whatever a custom fetch throws", async () => {
  let calls = 0;
  await using bench = setUp({
    fetch: (input, init) =>
      calls++ === 0 ? Promise.reject("offline") : fetch(input, init),
  });
  bench.end();
  await bench.timers.pass(5000);
  await bench.timers.pass(1000);
  await bench.collector.requests(1);
  assert(await bench.exporter.flush());
  assertEquals(bench.exporter.stats.exported, 1);
  assertStringIncludes(bench.errors[0]!, "the request failed");
});

Deno.test("The exporter splits a batch that is too large for one request", async () => {
  await using bench = setUp({ batch: { maxSize: 20 } });
  const { collector, exporter, tracer } = bench;
  // About half a MiB each; the second request is refused.
  for (let i = 0; i < 20; i++) {
    tracer.withSpan(`job ${i}`, "custom", (span) => {
      for (let j = 0; j < 120; j++) {
        const step = span.child("step", "custom");
        step.setAttribute("text", "x".repeat(4096));
        step.end();
      }
    });
  }
  collector.answers.push(answer(200), answer(413));
  assert(await exporter.flush());
  const counts = collector.received.map(({ body }) =>
    body.resourceSpans.length
  );
  assertEquals(counts.length, 3);
  assertEquals(counts.reduce((sum, count) => sum + count), 20);
  for (const { headers } of collector.received) {
    assert(Number(headers.get("content-length")) < 4.1 * 1024 * 1024);
  }
  const { exported, failed, queued } = exporter.stats;
  assertEquals([exported, failed, queued], [20 - counts[1]!, counts[1]!, 0]);
});

Deno.test("The exporter sends a single trace that is too large anyway", async () => {
  await using bench = setUp({ batch: { maxSize: 3 } });
  const { collector, exporter } = bench;
  const tracer = createTracer({ maxSpansPerTrace: 5000 });
  exporter.attach(tracer);
  bench.end();
  tracer.withSpan("large", "custom", (span) => {
    for (let i = 0; i < 1200; i++) {
      const step = span.child("step", "custom");
      step.setAttribute("text", "x".repeat(4096));
      step.end();
    }
  });
  bench.end();
  assert(await exporter.flush());
  assertEquals(
    collector.received.map(({ body }) =>
      body.resourceSpans.map(({ scopeSpans }) => scopeSpans[0]?.spans.length)
    ),
    [[1], [1201], [1]],
  );
  assertEquals(exporter.stats.exported, 3);
});

Deno.test("The exporter describes the service as configured", async () => {
  await using bench = setUp({
    serviceName: "atlas",
    resource: {
      "service.name": "another",
      "service.version": "1.2.3",
      "service.instance.id": 7,
    },
  });
  bench.end();
  assert(await bench.exporter.flush());
  const [resource] = bench.collector.received[0]!.body.resourceSpans;
  assertEquals(resource?.resource.attributes, [
    { key: "service.name", value: { stringValue: "atlas" } },
    { key: "service.version", value: { stringValue: "1.2.3" } },
    { key: "service.instance.id", value: { intValue: "7" } },
  ]);
});

Deno.test("The exporter's own fetch runs outside the request whose trace it sends first", async () => {
  const sent = Promise.withResolvers<unknown>();
  const tracer = createTracer();
  await using exporter = createOTLPExporter({
    url: "http://localhost:4318",
    batch: { maxDelayMs: 0 },
    fetch() {
      sent.resolve(currentScope());
      return Promise.resolve(new Response("{}"));
    },
  });
  exporter.attach(tracer);
  const app = createApp({
    routes: [{ path: "/", loader: () => "here" }],
  }).use(traceMiddleware(tracer));
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(await response.json(), "here");
  assertEquals(await sent.promise, undefined);
});
