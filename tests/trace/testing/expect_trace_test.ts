/** The checks of traces: what passes, and the messages of what fails. */

import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createCache } from "@quartet/kit/data";
import {
  createTracer,
  deserializeTrace,
  fromOTLP,
  serializeTrace,
  toOTLP,
  traceCacheOperation,
  tracedAdapter,
  type TraceData,
  traceLoader,
  traceQuery,
  withErrorCapture,
  withSpan,
} from "@quartet/kit/trace";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import { failureOf } from "./failure.ts";

const NAMES = "SELECT name FROM author WHERE id = ?";

async function record(fn: () => unknown): Promise<TraceData> {
  return (await recordTrace(fn)).trace;
}

/** A loader that runs a query for each of ten rows. */
const notes = () =>
  record(() =>
    traceLoader("notes", () => {
      traceQuery("SELECT author FROM note", () => []);
      for (let id = 0; id < 10; id++) traceQuery(NAMES, () => []);
    })
  );

Deno.test("queries() passes within its limits, and can be chained", async () => {
  const trace = await notes();
  expectTrace(trace)
    .queries({ max: 11 })
    .queries({ min: 11, exactly: 11, repeated: 9 })
    .span("db.query", { exactly: 11 })
    .noErrors();
});

Deno.test("queries() shows each statement with its number and the span around it", async () => {
  const trace = await notes();
  const shown = `:
  10 × ${NAMES} (loader:notes)
  1 × SELECT author FROM note (loader:notes)`;
  const check = expectTrace(trace);
  assertEquals(
    failureOf(() => check.queries({ max: 3, repeated: 0 })),
    `Expected at most 3 queries, found 11${shown}`,
  );
  assertEquals(
    failureOf(() => check.queries({ exactly: 1 })),
    `Expected exactly 1 query, found 11${shown}`,
  );
  assertEquals(
    failureOf(() => check.queries({ min: 12 })),
    `Expected at least 12 queries, found 11${shown}`,
  );
  assertEquals(
    failureOf(() => check.queries({ max: 0 })),
    `Expected no queries, found 11${shown}`,
  );
});

Deno.test("queries() shows only the repeated statements", async () => {
  const trace = await notes();
  assertEquals(
    failureOf(() => expectTrace(trace).queries({ repeated: 0 })),
    `Expected no repeated queries, found 1:
  10 × ${NAMES} (loader:notes)`,
  );
  assertEquals(
    failureOf(() => expectTrace(trace).queries({ repeated: 8 })),
    `Expected no query to run more than 9 times, found 1:
  10 × ${NAMES} (loader:notes)`,
  );
});

Deno.test("Statements with other literals are repeated, and their secrets aren't shown", async () => {
  const trace = await record(() => {
    for (const token of ["a-secret", "b-secret"]) {
      traceQuery(`SELECT id FROM session\n  WHERE token = '${token}'`, () => 1);
    }
  });
  assertEquals(
    failureOf(() => expectTrace(trace).queries({ repeated: 0 })),
    `Expected no repeated queries, found 1:
  2 × SELECT id FROM session WHERE token = ?`,
  );
});

Deno.test("A transaction isn't a query, and its statements aren't repeated queries", async () => {
  const adapter = tracedAdapter({
    query: (_: string) => 1,
    transaction: (fn: () => void) => fn(),
  });
  const trace = await record(() => {
    for (let i = 0; i < 2; i++) {
      adapter.query("BEGIN IMMEDIATE");
      adapter.query("COMMIT");
      adapter.transaction(() => {});
    }
    traceLoader("clean", () => {
      adapter.transaction(() => void adapter.query("DELETE FROM note"));
    });
  });
  const check = expectTrace(trace).queries({ exactly: 5, repeated: 0 });
  assertEquals(
    failureOf(() => check.queries({ max: 4 })),
    `Expected at most 4 queries, found 5:
  2 × BEGIN IMMEDIATE
  2 × COMMIT
  1 × DELETE FROM note (loader:clean)`,
  );
});

Deno.test("A database span without a statement counts as a query", async () => {
  const trace = await record(() => {
    withSpan("mongo.find", "database", () => {});
    withSpan("mongo.find", "database", () => {});
  });
  assertEquals(
    failureOf(() => expectTrace(trace).queries({ max: 1 })),
    `Expected at most 1 query, found 2:
  2 × mongo.find`,
  );
});

Deno.test("The message about 10,000 queries stays short", async () => {
  const trace = await record(() => {
    for (let id = 0; id < 10_000; id++) {
      traceQuery(`SELECT ${"x".repeat(500)} FROM t${id}`, () => []);
    }
  });
  const message = failureOf(() => expectTrace(trace).queries({ max: 3 }));
  const lines = message.split("\n");
  assertEquals(lines[0], "Expected at most 3 queries, found 10000:");
  assertEquals(lines.at(-1), "  … and 9990 more");
  assertEquals(lines.length, 12);
  assert(message.length < 2_500);
});

Deno.test("span() finds spans by name or pattern, and by layer", async () => {
  const trace = await notes();
  expectTrace(trace)
    .span("loader:notes")
    .span(/^loader:/g, { exactly: 1, layer: "data" })
    .span(/^loader:/g, { max: 1 })
    .span("fetch", { max: 2 })
    .span("db.query", { min: 11, layer: "database" })
    .noSpan("loader")
    .noSpan("loader:notes", { layer: "rpc" });
});

Deno.test("span() and noSpan() list the names of what they found", async () => {
  const trace = await notes();
  const check = expectTrace(trace);
  assertEquals(
    failureOf(() => check.span("loader:note")),
    `Expected at least 1 span "loader:note", found none; the closest name is "loader:notes":
  11 × db.query
  1 × recordTrace
  1 × loader:notes`,
  );
  assertEquals(
    failureOf(() => check.span(/^rpc:/, { layer: "rpc", exactly: 2 })),
    `Expected exactly 2 spans /^rpc:/ of layer rpc, found none`,
  );
  assertEquals(
    failureOf(() => check.span(/^(db|loader)/, { max: 1 })),
    `Expected at most 1 span /^(db|loader)/, found 12:
  11 × db.query
  1 × loader:notes`,
  );
  assertEquals(
    failureOf(() => check.noSpan("loader:notes")),
    `Expected no spans "loader:notes", found 1:
  1 × loader:notes`,
  );
});

Deno.test("noErrors() shows each error once, at the span that saw it first", async () => {
  const load = withErrorCapture(() => {
    throw new TypeError("x is undefined\nat line 2");
  });
  const trace = await record(() => {
    try {
      withSpan("outer", "custom", () => withSpan("inner", "data", load));
    } catch { /* Handled. */ }
    withSpan("failed", "custom", (span) => span.error());
  });
  assertEquals(
    failureOf(() => expectTrace(trace).noErrors()),
    `Expected no errors, found 2:
  1 × inner: TypeError: x is undefined at line 2
  1 × failed: error`,
  );
});

Deno.test("noErrors() shows spans that never ended", async () => {
  const tracer = createTracer();
  const trace = await record(() => void tracer.startSpan("endless"));
  assertEquals(
    failureOf(() => expectTrace(trace).noErrors()),
    `Expected no errors, found 1:
  1 × endless: did not end`,
  );
});

Deno.test("cache() checks hits, stale values and misses", async () => {
  let now = 0;
  const cache = createCache({ now: () => now });
  const load = () =>
    cache.cached("rates", () => 1, { maxAge: 10, staleWhileRevalidate: 10 });
  const trace = await record(async () => {
    await load();
    await traceLoader("prices", () => load().then(load));
    now = 15_000;
    await load();
    traceCacheOperation("get", "own", (span) => {
      span.setAttribute("app.cache.result", "miss");
    });
  });
  const check = expectTrace(trace).cache({ hits: 2, stale: 1, misses: 2 });
  const shown = `
  2 × hit cache.get (loader:prices)
  1 × miss cache.get
  1 × stale cache.get
  1 × miss own`;
  assertEquals(
    failureOf(() => check.cache({ hits: 3 })),
    `Expected exactly 3 cache hits, found 2:${shown}`,
  );
  assertEquals(
    failureOf(() => check.cache({ hits: 2, stale: 0 })),
    `Expected no stale values, found 1:${shown}`,
  );
  assertEquals(
    failureOf(() => check.cache({ misses: 0 })),
    `Expected no cache misses, found 2:${shown}`,
  );
});

Deno.test("An empty trace has no queries, spans, errors and cached values", async () => {
  const recorded = await record(() => {});
  for (const trace of [recorded, { ...recorded, spans: new Map() }]) {
    expectTrace(trace).noErrors().noSpan("a").queries({ max: 0, repeated: 0 })
      .cache({ hits: 0, misses: 0 });
  }
  assertEquals(
    failureOf(() => expectTrace(recorded).queries({ min: 1 })),
    "Expected at least 1 query, found none",
  );
  assertEquals(
    failureOf(() => expectTrace(recorded).cache({ hits: 1 })),
    "Expected exactly 1 cache hit, found none",
  );
});

Deno.test("Traces of a tracer, of JSON and of OTLP are checked alike", async () => {
  const tracer = createTracer();
  await tracer.withSpan("job", "custom", async () => {
    traceQuery(NAMES, () => []);
    traceQuery(NAMES, () => []);
    await Promise.resolve();
  });
  const [stored] = tracer.getTraces();
  const json = JSON.stringify(serializeTrace(stored!));
  const [imported] = fromOTLP(toOTLP([serializeTrace(stored!)]));
  for (const trace of [stored!, deserializeTrace(json), imported!]) {
    expectTrace(trace).span("job").queries({ exactly: 2 });
    assertEquals(
      failureOf(() => expectTrace(trace).queries({ repeated: 0 })),
      `Expected no repeated queries, found 1:
  2 × ${NAMES}`,
    );
  }
});

Deno.test("A trace without some of its spans is refused", () => {
  const tracer = createTracer({ maxSpansPerTrace: 2 });
  tracer.withSpan("job", "custom", () => {
    for (let i = 0; i < 4; i++) withSpan("step", "custom", () => {});
  });
  const [trace] = tracer.getTraces();
  const error = failureOf(() => expectTrace(trace!));
  assertEquals(
    error,
    "Expected no dropped spans, found 3; raise maxSpansPerTrace of the tracer",
  );
});

Deno.test("Messages show control characters escaped, and keep a limit", async () => {
  const trace = await record(() => {
    withSpan("\u001b[31mred", "custom", () => {});
    withSpan("x".repeat(200), "custom", () => {});
  });
  const message = failureOf(() => expectTrace(trace).span("none"));
  assertStringIncludes(message, "1 × \\x1b[31mred");
  assertStringIncludes(message, `1 × ${"x".repeat(159)}…`);
});

Deno.test("The stack of a failed check begins in the test", async () => {
  const trace = await notes();
  const checks = expectTrace(trace);
  for (
    const check of [
      () => checks.queries({ max: 1 }),
      () => checks.span("none"),
      () => checks.noSpan("db.query"),
      () => checks.cache({ hits: 1 }),
    ]
  ) {
    try {
      check();
    } catch (error) {
      const [first] = (error as Error).stack!.match(/^ {4}at .*/m)!;
      assertStringIncludes(first, "expect_trace_test");
      continue;
    }
    throw new Error("The check passes");
  }
});

Deno.test("Wrong traces, names and numbers are a TypeError", async () => {
  const recording = await recordTrace(() => {});
  const check = expectTrace(recording.trace);
  const wrong: [call: () => unknown, message: string][] = [
    [
      () => expectTrace(undefined as never),
      "Cannot check trace: trace must be a trace, such as the one of recordTrace(), received undefined",
    ],
    [
      () => expectTrace(recording as never),
      "Cannot check trace: trace must be a trace, such as the one of recordTrace(), received an object",
    ],
    [
      () => check.queries({}),
      "Cannot check queries: options must contain one of exactly, min, max, repeated, received none",
    ],
    [
      () => check.queries({ max: -1 }),
      "Cannot check queries: max must be an integer, 0 or more, received -1",
    ],
    [
      () => check.queries({ repeated: 0.5 }),
      "Cannot check queries: repeated must be an integer, 0 or more, received 0.5",
    ],
    [
      () => check.span(7 as never),
      "Cannot check spans: name must be a string or a regular expression, received 7",
    ],
    [
      () => check.noSpan("a", { layer: "sql" as never }),
      'Cannot check spans: layer must be one of "request", "routing", "data", "forms", "signals", "rpc", "database", "auth", "islands", "build", "errors", "custom", received "sql"',
    ],
    [
      () => check.cache({ hits: "1" as never }),
      'Cannot check cache: hits must be an integer, 0 or more, received "1"',
    ],
    [
      () => check.cache({ hits: undefined } as never),
      "Cannot check cache: options must contain one of hits, stale, misses, received none",
    ],
  ];
  for (const [call, message] of wrong) {
    assertEquals(assertThrows(call, TypeError).message, message);
  }
});
