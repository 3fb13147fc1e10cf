/** Recordings of requests over sockets, which the server traces. */

import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  tracedFetch,
  tracePlugin,
  traceQuery,
} from "@quartet/kit/trace";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";

/** Starts a server with a tracer, and a `fetch` that sends the trace to it. */
function start() {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    routes: [{ path: "/", loader: () => traceQuery("SELECT 1", () => [1]) }],
  });
  const server = app.serve({ port: 0, onListen() {} });
  const fetch = tracedFetch({ trustedOrigins: "*" });
  return {
    tracer,
    async ask(): Promise<unknown> {
      const { address } = await server;
      const response = await fetch(`http://127.0.0.1:${address.port}/`);
      return await response.json();
    },
    [Symbol.asyncDispose]: async () => await (await server).shutdown(),
  };
}

Deno.test("With the server's tracer, a recording contains requests over sockets", async () => {
  await using server = start();
  const { tracer, ask } = server;
  await ask();
  const { trace, result } = await recordTrace(ask, { tracer });
  assertEquals(result, [1]);
  expectTrace(trace).noErrors().span("GET /", { exactly: 1 });
  assertEquals([...trace.spans.values()].map(({ name }) => name).slice(2), [
    "GET /",
    "route.match",
    "loader:/",
    "db.query",
  ]);
});

Deno.test("Recordings in parallel on one server don't mix", async () => {
  await using server = start();
  const { tracer, ask } = server;
  const count = async (times: number) => {
    const { trace } = await recordTrace(async () => {
      for (let i = 0; i < times; i++) await ask();
    }, { tracer });
    expectTrace(trace).queries({ exactly: times, repeated: times - 1 });
    return trace.id;
  };
  const ids = await Promise.all([count(1), count(2), count(3)]);
  assertEquals(new Set(ids).size, 3);
});

Deno.test("With a tracer of its own, a recording contains only the sent request", async () => {
  await using server = start();
  const { trace } = await recordTrace(server.ask);
  expectTrace(trace).queries({ max: 0 }).span(/^fetch GET 127\.0\.0\.1:/)
    .noSpan("GET /");
});
