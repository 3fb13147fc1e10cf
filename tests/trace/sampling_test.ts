import {
  assert,
  assertEquals,
  assertLess,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createApp, observe } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import {
  createTracer,
  tracedFetch,
  traceMiddleware,
  tracePlugin,
} from "@quartet/kit/trace";
import type { Sample } from "@quartet/kit/trace";
import { onlyTrace } from "./fakes.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1", onListen() {} };
const CALLER = "2".repeat(16);

/** A `traceparent` of a trace that ends in these digits. */
function traceparent(end: string, flags = "01"): string {
  return `00-${end.padStart(32, "1")}-${CALLER}-${flags}`;
}

/** An app that samples, and its tracer. */
function sampled(sample: Sample, loader: () => unknown = () => 1) {
  const tracer = createTracer({ maxTraces: 10_000 });
  const app = createApp({
    trace: tracePlugin(tracer, { sample }),
    routes: [{ path: "/", loader }],
  });
  const get = (headers: HeadersInit = {}) =>
    app.fetch(new Request("http://localhost/", { headers }));
  return { tracer, app, get };
}

Deno.test("sample: a share of the requests is traced", async () => {
  const { tracer, app, get } = sampled(0.25);
  for (let i = 0; i < 4000; i++) await get();
  const share = tracer.getTraces().length / 4000;
  // Seven times the standard deviation.
  assertLess(Math.abs(share - 0.25), 0.05);
  await app.close();
});

Deno.test("sample: the end of the trace's id decides, on all servers alike", async () => {
  const cases: [number, string, boolean][] = [
    [0, "ffffffffffffff", false],
    [0.001, "ffffffffffffff", true],
    [0.5, "80000000000000", true],
    [0.5, "7fffffffffffff", false],
    // Not a digit before the last 14.
    [0.5, "ff00000000000000", false],
    [0.5, "00ffffffffffffff", true],
    [0.999, "00000000000000", false],
    [1, "00000000000000", true],
  ];
  for (const [share, end, isTraced] of cases) {
    const { tracer, app, get } = sampled(share);
    await get({ traceparent: traceparent(end) });
    assertEquals(
      tracer.getTraces().length,
      Number(isTraced),
      `${share} ${end}`,
    );
    await app.close();
  }
});

Deno.test("sample: with a share, what the caller doesn't keep isn't kept; without one it is", async () => {
  const headers = { traceparent: traceparent("ff", "00") };
  const { tracer, app, get } = sampled(1);
  await get(headers);
  assertEquals(tracer.getTraces().length, 0);
  await get();
  assertEquals(tracer.getTraces().length, 1);
  await app.close();

  const all = createTracer();
  const other = createApp({ trace: tracePlugin(all) });
  await other.fetch(new Request("http://localhost/", { headers }));
  assertEquals(all.getTraces().length, 1);
  await other.close();
});

Deno.test("sample: a function decides alone, and is told what the caller says", async () => {
  const told: [string, boolean | undefined][] = [];
  const { tracer, app, get } = sampled((request, sampled) => {
    told.push([new URL(request.url).pathname, sampled]);
    return sampled !== true;
  });
  await get({ traceparent: traceparent("ff") });
  await get({ traceparent: traceparent("ff", "00") });
  await get({ traceparent: "of no use" });
  assertEquals(told, [["/", true], ["/", false], ["/", undefined]]);
  assertEquals(tracer.getTraces().length, 2);
  await app.close();
});

Deno.test("sample: nothing below a request that is left out is recorded, and its response says nothing", async () => {
  let ran = 0;
  const { tracer, app, get } = sampled(0, () => {
    observe("observed", "data", () => ran++);
    tracer.withSpan("with", "custom", () => ran++);
    tracer.startSpan("started").end();
    const span = tracer.activeSpan()!;
    assertStrictEquals(span.child("child", "custom"), span.root);
    return ran;
  });
  const response = await get();
  assertEquals(await response.json(), 2);
  assertEquals(response.headers.get("x-app-trace-id"), null);
  assertEquals(response.headers.get("server-timing"), null);
  assertEquals(tracer.getTraces(), []);
  await app.close();
});

Deno.test("sample: other services are told the trace, and that it isn't kept", async () => {
  const heard: (string | null)[] = [];
  const back = sampled(1, () => 1);
  back.app.use((request, _context, next) => {
    for (const name of ["traceparent", "tracestate"]) {
      heard.push(request.headers.get(name));
    }
    return next();
  });
  const server = await back.app.serve(LOCAL);
  const told = `http://127.0.0.1:${server.address.port}`;
  const fetch = tracedFetch({ origins: [told] });
  const front = sampled(0, async () => {
    // Under the other name it is another origin, which isn't listed.
    for (const url of [told, told.replace("127.0.0.1", "localhost")]) {
      await (await fetch(url, { headers: { a: "b" } })).body?.cancel();
    }
    return 1;
  });
  await front.get({ traceparent: traceparent("ab"), tracestate: "a=1" });
  await server.shutdown();
  await front.app.close();

  const [parent, state, ...others] = heard;
  const [version, traceId, id, flags] = parent!.split("-");
  assertEquals([version, traceId, flags], ["00", "ab".padStart(32, "1"), "00"]);
  assert(/^[0-9a-f]{16}$/.test(id!) && id !== CALLER);
  assertEquals(state, "a=1");
  assertEquals(others, [null, null]);
  // Who was told has left it out as well; who wasn't has decided alone.
  assertEquals(back.tracer.getTraces().length, 1);
});

Deno.test("sample: what a request has set going is on its own once the response has been sent", async () => {
  const { promise: sent, resolve: send } = Promise.withResolvers<void>();
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const { tracer, app } = sampled(0, () => {
    void sent.then(() => {
      tracer.withSpan("job", "custom", () => {});
      finish();
    });
    tracer.withSpan("part", "custom", () => {});
    return 1;
  });
  const { promise: completed, resolve: complete } = Promise
    .withResolvers<void>();
  await app.fetch(new Request("http://localhost/"), { completed });
  complete();
  await completed;
  send();
  await done;
  assertEquals([...onlyTrace(tracer).spans.values()].map(({ name }) => name), [
    "job",
  ]);
  await app.close();
});

Deno.test("sample: what goes on on a socket is left out with the request that opened it", async () => {
  const router = createRouter({
    count: procedure.subscription(async function* () {
      yield await observe("step", "custom", () => Promise.resolve(1));
    }),
  });
  for (const [sample, isTraced] of [[0, false], [1, true]] as const) {
    const tracer = createTracer();
    const app = createApp({
      trace: tracePlugin(tracer, { sample }),
      plugins: [rpcPlugin({ router })],
    });
    const server = await app.serve(LOCAL);
    const rpc = createClient<typeof router>({
      httpEndpoint: `http://127.0.0.1:${server.address.port}/api/rpc`,
    });
    for await (const value of rpc.count.subscribe()) assertEquals(value, 1);
    await server.shutdown();
    assertEquals(tracer.getTraces().length > 0, isTraced);
  }
});

Deno.test("sample: what a request asks of its own server is left out with it", async () => {
  const { tracer, app } = sampled(0, async () => {
    const inner = await app.fetch(new Request("http://localhost/nothing"));
    return inner.headers.has("x-app-trace-id");
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(await response.json(), false);
  assertEquals(tracer.getTraces(), []);
  await app.close();
});

Deno.test("sample has to be a share or a function", () => {
  for (const wrong of [-0.1, 1.1, 10, NaN, "0.5", null, {}]) {
    assertThrows(
      () => traceMiddleware(createTracer(), { sample: wrong as number }),
      TypeError,
      "sample must be a number from 0 to 1 or a function, received",
    );
  }
});

Deno.test("A sample that promises is refused, not taken for a yes", async () => {
  const errors: unknown[] = [];
  const app = createApp({ onError: (error) => errors.push(error) });
  app.use(traceMiddleware(createTracer(), {
    sample: (() => Promise.resolve(false)) as never,
  }));
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(response.status, 500);
  assertEquals(
    errors.map(String),
    [
      "TypeError: Cannot trace a request: sample must give true or false, received an object",
    ],
  );
});
