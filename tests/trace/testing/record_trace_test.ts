/** The recording of traces in tests. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { createApp, observe, toHono } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
import {
  createTracer,
  getActiveSpan,
  getTracer,
  noopTracer,
  tracedAdapter,
  tracePlugin,
  traceQuery,
  withSpan,
} from "@quartet/kit/trace";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import { Hono } from "hono";
import { treeOf } from "../fakes.ts";

const get = (path: string) => new Request(`http://localhost${path}`);
const query = (text: string) => traceQuery(text, () => Promise.resolve([]));

Deno.test("recordTrace() returns the trace and the result", async () => {
  const { trace, result } = await recordTrace(async () => {
    await query("SELECT 1");
    return observe("sum", "custom", () => withSpan("add", "custom", () => 42));
  });
  assertEquals(result, 42);
  assertEquals(treeOf(trace), "recordTrace(db.query, sum(add))");
  const sync = await recordTrace(() => "done");
  assertEquals([sync.result, treeOf(sync.trace)], ["done", "recordTrace"]);
});

Deno.test("recordTrace() records an adapter, a cached function, a procedure and a user's tracer", async () => {
  const adapter = tracedAdapter({ query: (_: string) => Promise.resolve([1]) });
  const load = createCache().cacheFunction(() => adapter.query("SELECT 1"));
  const caller = createCaller(createRouter({
    get: procedure.query(() => load()),
  }));
  const other = createTracer();
  const { trace } = await recordTrace(async () => {
    await caller.get.query();
    other.withSpan("job", "custom", () => {});
  });
  assertEquals(
    treeOf(trace),
    "recordTrace(rpc:get(cache.get(db.query)), job)",
  );
  assertEquals(other.getTraces(), []);
});

Deno.test("recordTrace() records requests to apps with and without tracing of their own", async () => {
  const tracer = createTracer();
  const routes = [{ path: "/", loader: () => query("SELECT 1") }];
  await using traced = createApp({ trace: tracePlugin(tracer), routes });
  await using plain = createApp({ routes });
  const hono = new Hono();
  hono.use(toHono(tracePlugin(tracer)));
  hono.get("/", async (c) => c.json(await query("SELECT 2")));
  const { trace, result } = await recordTrace(async () => {
    const responses = [
      await traced.fetch(get("/")),
      await plain.fetch(get("/")),
      await hono.request("/"),
    ];
    return responses.map(({ status }) => status);
  });
  assertEquals(result, [200, 200, 200]);
  assertEquals(
    treeOf(trace),
    "recordTrace(GET /(route.match, loader:/(db.query)), route.match, loader:/(db.query), GET /(db.query))",
  );
  assertEquals(tracer.getTraces(), []);
});

Deno.test("An app's sampling and exclusions don't hide spans from a recording", async () => {
  await using app = createApp({
    trace: tracePlugin(createTracer(), { sample: 0, exclude: ["/health"] }),
    routes: [
      { path: "/", loader: () => query("SELECT 1") },
      { path: "/health", loader: () => query("SELECT 2") },
    ],
  });
  const { trace } = await recordTrace(async () => {
    await app.fetch(get("/"));
    await app.fetch(get("/health"));
  });
  expectTrace(trace).queries({ exactly: 2 });
});

Deno.test("Recordings in parallel don't mix, and leave nothing behind", async () => {
  const record = (name: string) =>
    recordTrace(async () => {
      for (let i = 0; i < 3; i++) {
        await withSpan(`${name}${i}`, "custom", () => Promise.resolve());
      }
    });
  const [a, b] = await Promise.all([record("a"), record("b")]);
  assertEquals(treeOf(a.trace), "recordTrace(a0, a1, a2)");
  assertEquals(treeOf(b.trace), "recordTrace(b0, b1, b2)");
  assertEquals(getActiveSpan(), undefined);
  assertStrictEquals(getTracer(), noopTracer);
});

Deno.test("A recording inside another one is separate", async () => {
  const outer = await recordTrace(async () => {
    withSpan("before", "custom", () => {});
    const inner = await recordTrace(() => withSpan("in", "custom", () => {}));
    withSpan("after", "custom", () => {});
    return inner;
  });
  assertEquals(treeOf(outer.trace), "recordTrace(before, after)");
  assertEquals(treeOf(outer.result.trace), "recordTrace(in)");
});

Deno.test("recordTrace() rejects with the error of the function", async () => {
  const failure = new Error("no such table");
  const failing = () => withSpan("load", "data", () => Promise.reject(failure));
  for (
    const fn of [failing, () => {
      throw failure;
    }]
  ) {
    const error = await assertRejects(() => recordTrace<unknown>(fn));
    assertStrictEquals(error, failure);
  }
  const { trace, result } = await recordTrace(() => failing().catch(String));
  assertEquals(result, "Error: no such table");
  expectTrace(trace).span("load", { exactly: 1 });
});

Deno.test("Work after the end of a recording isn't recorded", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let late: Promise<unknown> | undefined;
  const { trace } = await recordTrace(() => {
    late = promise.then(() => query("SELECT 1"));
  });
  resolve();
  await late;
  assertEquals(treeOf(trace), "recordTrace");
});

Deno.test("recordTrace() refuses a wrong function, wrong options and a tracer that keeps nothing", async () => {
  const refused = async (...args: unknown[]) => {
    // deno-lint-ignore no-explicit-any -- wrong arguments are the point
    const call = () => recordTrace(...args as [any]);
    return (await assertRejects(call, TypeError)).message;
  };
  assertEquals(
    await refused(Promise.resolve()),
    "Cannot record trace: fn must be a function, received a promise",
  );
  assertEquals(
    await refused(() => {}, { trace: 1 }),
    'Cannot record trace: unknown option "trace"; did you mean tracer? Known options: tracer',
  );
  assertEquals(
    await refused(() => {}, { tracer: {} }),
    "Cannot record trace: tracer must be the result of createTracer(), received an object without a function startTrace",
  );
  const unstored =
    "Cannot record trace: tracer must store each trace, received one that dropped it";
  const tracer = createTracer({ minDurationMs: Infinity });
  assertEquals(await refused(() => {}, { tracer }), unstored);
  assertEquals(await refused(() => {}, { tracer: noopTracer }), unstored);
  assert(tracer.getTraces().length === 0);
});
