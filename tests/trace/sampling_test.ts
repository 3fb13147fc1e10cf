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
  type Sample,
  tracedFetch,
  traceMiddleware,
  tracePlugin,
  type TrustParent,
} from "@quartet/kit/trace";
import { onlyTrace } from "./fakes.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1", onListen() {} };
const CALLER = "2".repeat(16);

/** Returns a `traceparent` whose trace id ends in these digits. */
function traceparent(end: string, flags = "01"): string {
  return `00-${end.padStart(32, "1")}-${CALLER}-${flags}`;
}

/** Creates an app that samples, its tracer, and the ids of traced requests. */
function sampled(
  sample: Sample | undefined,
  loader: () => unknown = () => 1,
  trustParent?: TrustParent,
) {
  const tracer = createTracer({ maxTraces: 10_000 });
  const ids: string[] = [];
  tracer.subscribe((event) => {
    if ("trace" in event) ids.push(event.trace.id);
  }, ["trace:end"]);
  const app = createApp({
    trace: tracePlugin(tracer, {
      ...(sample === undefined ? {} : { sample }),
      ...(trustParent === undefined ? {} : { trustParent }),
    }),
    routes: [{ path: "/", loader }],
  });
  const get = (headers: HeadersInit = {}) =>
    app.fetch(new Request("http://localhost/", { headers }));
  return { tracer, ids, app, get };
}

Deno.test("sample: a fraction traces that share of requests", async () => {
  const { tracer, app, get } = sampled(0.25);
  for (let i = 0; i < 4000; i++) await get();
  const share = tracer.getTraces().length / 4000;
  // Seven times the standard deviation.
  assertLess(Math.abs(share - 0.25), 0.05);
  await app.close();
});

/** Ids that would decide if sampling depended on the id, with each flag. */
const CHOSEN = ["ffffffffffffff", "80000000000000", "00000000000000"]
  .flatMap((end) =>
    ["00", "01", "02", "03"].map((flags) => traceparent(end, flags))
  );

Deno.test("sample: a caller neither forces nor suppresses a trace, by its id or by its flag", async () => {
  for (const header of CHOSEN) {
    const { ids, app, get } = sampled(0.5);
    for (let i = 0; i < 1000; i++) await get({ traceparent: header });
    // Eight times the standard deviation.
    assertLess(Math.abs(ids.length / 1000 - 0.5), 0.13, header);
    // The caller's trace is continued in any case.
    assert(ids.every((id) => id === header.split("-")[1]));
    await app.close();
  }
});

Deno.test("sample: 0 and 1 trace none and all requests, whatever callers send", async () => {
  for (const [share, count] of [[0, 0], [1, 12], [undefined, 12]] as const) {
    const { ids, app, get } = sampled(share);
    for (const header of CHOSEN) await get({ traceparent: header });
    assertEquals(ids.length, count);
    await app.close();
  }
});

Deno.test("trustParent: a trusted caller's decision replaces the fraction", async () => {
  for (const share of [0, 0.5, 1, undefined]) {
    for (const trust of [true, () => true]) {
      const { ids, app, get } = sampled(share, () => 1, trust);
      for (const header of CHOSEN) await get({ traceparent: header });
      // Half of them have the flag.
      assertEquals(ids.length, 6);
      await app.close();
    }
  }
  const { tracer, app, get } = sampled(0.25, () => 1, true);
  for (let i = 0; i < 4000; i++) await get();
  assertLess(Math.abs(tracer.getTraces().length / 4000 - 0.25), 0.05);
  await app.close();
});

Deno.test("trustParent: a function accepts some callers, by their request and connection", async () => {
  const calls: unknown[] = [];
  const { tracer, app } = sampled(0, () => 1, (request, info) => {
    const { remoteAddr } = info ?? {};
    calls.push([request.headers.get("x-from"), remoteAddr]);
    return request.headers.get("x-from") === "gateway";
  });
  const info = {
    remoteAddr: { transport: "tcp", hostname: "10.0.0.1", port: 5 } as const,
  };
  const ask = (headers: HeadersInit) =>
    app.fetch(new Request("http://localhost/", { headers }), info);
  await ask({ traceparent: traceparent("aa"), "x-from": "gateway" });
  await ask({ traceparent: traceparent("bb"), "x-from": "elsewhere" });
  // Without a parent, the function isn't called.
  await ask({ "x-from": "gateway" });
  await ask({ traceparent: "of no use", "x-from": "gateway" });
  assertEquals(calls, [
    ["gateway", info.remoteAddr],
    ["elsewhere", info.remoteAddr],
  ]);
  assertEquals(tracer.getTraces().map(({ id }) => id), [
    "aa".padStart(32, "1"),
  ]);
  await app.close();
});

Deno.test("sample: a function decides alone, and receives a trusted caller's decision", async () => {
  const ask = async (trustParent?: TrustParent) => {
    const calls: [string, boolean | undefined][] = [];
    const { ids, app, get } = sampled(
      (request, sampled) => {
        calls.push([new URL(request.url).pathname, sampled]);
        return sampled !== true;
      },
      () => 1,
      trustParent,
    );
    await get({ traceparent: traceparent("ff") });
    await get({ traceparent: traceparent("ff", "00") });
    await get({ traceparent: "of no use" });
    await app.close();
    return [calls, ids.length];
  };
  assertEquals(await ask(true), [
    [["/", true], ["/", false], ["/", undefined]],
    2,
  ]);
  for (const untrusted of [undefined, false, () => false]) {
    assertEquals(await ask(untrusted), [Array(3).fill(["/", undefined]), 3]);
  }
});

Deno.test("sample: if everything is recorded, a page's own trace is continued without trust", async () => {
  const { tracer, app, get } = sampled(undefined);
  const response = await get({ traceparent: traceparent("cd") });
  const id = "cd".padStart(32, "1");
  assertEquals(response.headers.get("x-app-trace-id"), id);
  assertEquals(onlyTrace(tracer).id, id);
  await app.close();
});

Deno.test("sample: an unsampled request records nothing, and its response has no trace headers", async () => {
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

Deno.test("sample: other services receive the trace id, and that it isn't recorded", async () => {
  const received: (string | null)[] = [];
  const back = sampled(1, () => 1, true);
  back.app.use((request, _context, next) => {
    for (const name of ["traceparent", "tracestate"]) {
      received.push(request.headers.get(name));
    }
    return next();
  });
  const server = await back.app.serve(LOCAL);
  const listed = `http://127.0.0.1:${server.address.port}`;
  const fetch = tracedFetch({ trustedOrigins: [listed] });
  const front = sampled(0, async () => {
    // Another host name is another origin, which isn't listed.
    for (const url of [listed, listed.replace("127.0.0.1", "localhost")]) {
      await (await fetch(url, { headers: { a: "b" } })).body?.cancel();
    }
    return 1;
  });
  await front.get({ traceparent: traceparent("ab"), tracestate: "a=1" });
  await server.shutdown();
  await front.app.close();

  const [parent, state, ...others] = received;
  const [version, traceId, id, flags] = parent!.split("-");
  assertEquals([version, traceId, flags], ["00", "ab".padStart(32, "1"), "00"]);
  assert(/^[0-9a-f]{16}$/.test(id!) && id !== CALLER);
  assertEquals(state, "a=1");
  assertEquals(others, [null, null]);
  // The listed origin hasn't recorded it either. The other has decided alone.
  assertEquals(back.tracer.getTraces().length, 1);
});

Deno.test("sample: work of an unsampled request is traced separately after the response has been sent", async () => {
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

Deno.test("sample: work on a socket is unsampled if the request that opened it is", async () => {
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

Deno.test("sample: a request to the own server is unsampled with the request that makes it", async () => {
  const { tracer, app } = sampled(0, async () => {
    const inner = await app.fetch(new Request("http://localhost/nothing"));
    return inner.headers.has("x-app-trace-id");
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(await response.json(), false);
  assertEquals(tracer.getTraces(), []);
  await app.close();
});

Deno.test("sample must be a fraction or a function", () => {
  for (const wrong of [-0.1, 1.1, 10, NaN, "0.5", null, {}]) {
    assertThrows(
      () => traceMiddleware(createTracer(), { sample: wrong as number }),
      TypeError,
      "sample must be a number from 0 to 1 or a function, received",
    );
  }
});

Deno.test("trustParent must be a boolean or a function that returns a boolean", async () => {
  for (const wrong of ["true", 1, null, {}, []]) {
    assertThrows(
      () => traceMiddleware(createTracer(), { trustParent: wrong as never }),
      TypeError,
      "Cannot trace requests: trustParent must be a boolean or a function, received",
    );
  }
  const errors: unknown[] = [];
  const app = createApp({ onError: (error) => errors.push(error) });
  app.use(traceMiddleware(createTracer(), {
    trustParent: (() => Promise.resolve(true)) as never,
  }));
  const headers = { traceparent: traceparent("ff") };
  const request = new Request("http://localhost/", { headers });
  assertEquals((await app.fetch(request)).status, 500);
  assertEquals(errors.map(String), [
    "TypeError: Cannot trace a request: trustParent must return true or false, received a promise",
  ]);
});

Deno.test("sample: a function that returns a promise is rejected, not treated as true", async () => {
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
      "TypeError: Cannot trace a request: sample must return true or false, received a promise",
    ],
  );
});
