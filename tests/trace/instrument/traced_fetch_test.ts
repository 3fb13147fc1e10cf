import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  fromOTLP,
  serializeTrace,
  type SpanData,
  toOTLP,
  tracedFetch,
  tracePlugin,
  type TracerOptions,
  withSpan,
} from "@quartet/kit/trace";
import { onlyTrace, treeOf } from "../fakes.ts";

/** Starts a server that echoes requests. Disposing it stops it. */
function echo(
  answer: (request: Request) => Response | Promise<Response> = describe,
): { origin: string } & AsyncDisposable {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    answer,
  );
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface Described {
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function describe(request: Request): Promise<Response> {
  const { method, headers } = request;
  const described: Described = {
    method,
    body: await request.text(),
    headers: Object.fromEntries(headers),
  };
  return Response.json(described);
}

/** Returns the result of `run` within a span, and the spans below that one. */
async function traced<T>(
  run: () => Promise<T>,
  options: TracerOptions = {},
): Promise<{ value: T; spans: SpanData[] }> {
  const tracer = createTracer(options);
  const value = await tracer.withSpan("job", "custom", run);
  return { value, spans: [...onlyTrace(tracer).spans.values()].slice(1) };
}

const read = async (response: Response): Promise<Described> =>
  await response.json();

Deno.test("tracedFetch() creates a client span for each request", async () => {
  await using server = echo();
  const { origin } = server;
  const fetch = tracedFetch();
  const { spans: [span] } = await traced(async () =>
    read(await fetch(`${origin}/users/7?page=2`, { method: "post" }))
  );
  const { host, port } = new URL(origin);
  assertEquals(span?.name, `fetch POST ${host}/users/7`);
  assertEquals(span?.layer, "request");
  assertEquals(span?.status, "ok");
  assertEquals(span?.attributes, {
    "http.request.method": "POST",
    "url.full": `${origin}/users/7?page=2`,
    "server.address": "127.0.0.1",
    "server.port": Number(port),
    "http.response.status_code": 200,
  });
});

Deno.test("tracedFetch() sends the trace context to listed origins only", async () => {
  await using listed = echo();
  await using other = echo();
  const { value, spans } = await traced(async () => {
    const some = tracedFetch({ trustedOrigins: [listed.origin] });
    const all = tracedFetch({ trustedOrigins: "*" });
    const none = tracedFetch();
    const responses = [
      await some(listed.origin),
      await some(other.origin),
      await all(other.origin),
      await none(listed.origin),
    ];
    return await Promise.all(responses.map(read));
  });
  const contextOf = (span: SpanData) => `00-${span.traceId}-${span.id}-01`;
  assertEquals(value.map(({ headers }) => headers.traceparent), [
    contextOf(spans[0]!),
    undefined,
    contextOf(spans[2]!),
    undefined,
  ]);
});

Deno.test("tracedFetch() rejects invalid origins", () => {
  for (
    const wrong of [
      "api.example.com",
      "https://api.example.com/",
      "https://api.example.com/v1",
      "https://user@api.example.com",
      "*",
      "",
    ]
  ) {
    assertThrows(
      () => tracedFetch({ trustedOrigins: [wrong] }),
      TypeError,
      `without a path or a slash at the end, received ${JSON.stringify(wrong)}`,
    );
  }
});

Deno.test("tracedFetch() joins the traces of two servers into one tree", async () => {
  const tracers = { front: createTracer(), back: createTracer() };
  const back = createApp({
    trace: tracePlugin(tracers.back),
    routes: [{ path: "/users/:id", loader: ({ params }) => params }],
  });
  const backServer = await back.serve({ port: 0, hostname: "127.0.0.1" });
  const origin = `http://127.0.0.1:${backServer.address.port}`;
  const fetch = tracedFetch({ trustedOrigins: [origin] });
  const front = createApp({
    trace: tracePlugin(tracers.front),
    routes: [{
      path: "/page/:id",
      loader: async ({ params }) =>
        await (await fetch(`${origin}/users/${params.id}`)).json(),
    }],
  });
  const frontServer = await front.serve({ port: 0, hostname: "127.0.0.1" });
  // Several concurrent requests, each with its own parent.
  const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
  const answers = await Promise.all(ids.map(async (id) => {
    const url = `http://127.0.0.1:${frontServer.address.port}/page/${id}`;
    return await (await globalThis.fetch(url)).json();
  }));
  await frontServer.shutdown();
  await backServer.shutdown();

  assertEquals(answers, ids.map((id) => ({ id })));
  for (const id of ids) {
    const [front, back] = [tracers.front, tracers.back].map((tracer) =>
      tracer.getTraces().find(({ metadata }) =>
        metadata.pathname?.endsWith(`/${id}`)
      )!
    );
    const spans = [...front!.spans.values()];
    const call = spans.find(({ name }) => name.startsWith("fetch "))!;
    assertEquals(back!.id, front!.id);
    assertEquals(back!.spans.get(back!.rootSpanId)?.parentId, call.id);

    // Both servers export to one collector.
    const exported = [front!, back!].map((trace) =>
      toOTLP([serializeTrace(trace)])
    );
    assertEquals(
      exported.map(({ resourceSpans: [resource] }) =>
        resource!.scopeSpans[0]!.spans.filter(({ kind }) => kind !== 1)
          .map(({ kind }) => kind)
      ),
      [[2, 3], [2]],
    );
    const together = fromOTLP(exported);
    assertEquals(together.length, 1);
    const tree = treeOf({
      ...together[0]!,
      spans: new Map(together[0]!.spans.map((span) => [span.id, span])),
    });
    assertMatch(tree, /fetch GET [^(]*\(GET \/users\/\d\(/);
  }
});

Deno.test("tracedFetch() keeps a traceparent set by the caller", async () => {
  await using server = echo();
  const { origin } = server;
  const own = `00-${"1".repeat(32)}-${"2".repeat(16)}-00`;
  const fetch = tracedFetch({ trustedOrigins: "*" });
  const headers = { traceparent: own };
  const { value } = await traced(async () => [
    await read(await fetch(origin, { headers })),
    await read(await fetch(new Request(origin, { headers }))),
    await read(await fetch(new Request(origin), { headers })),
  ]);
  for (const { headers } of value) {
    assertEquals(headers.traceparent, own);
    assertEquals(headers.tracestate, undefined);
  }
});

Deno.test("tracedFetch() sends the arguments' request and doesn't change them", async () => {
  await using server = echo();
  const { origin } = server;
  const fetch = tracedFetch({ trustedOrigins: "*" });
  const bytes = () => ReadableStream.from([new TextEncoder().encode("body")]);
  const settings = { method: "PUT", headers: { "x-own": "1" } };
  const streamed = new Request(origin, { ...settings, body: bytes() });
  const init: RequestInit = { ...settings, body: bytes() };
  const headers = new Headers({ "x-own": "1" });
  const { value } = await traced(async () => [
    await read(await fetch(streamed)),
    await read(await fetch(origin, init)),
    await read(
      await fetch(new URL(origin), { ...init, headers, body: "body" }),
    ),
    // As a proxy forwards a request.
    await read(
      await fetch(
        `${origin}/`,
        new Request("http://a/", { ...settings, body: "body" }),
      ),
    ),
    await read(
      await fetch(new Request(origin, { method: "POST", body: "old" }), {
        ...settings,
        body: "body",
      }),
    ),
  ]);
  for (const { method, body, headers } of value) {
    assertEquals([method, body, headers["x-own"]], ["PUT", "body", "1"]);
    assert(headers.traceparent);
  }
  assertEquals([...streamed.headers], [["x-own", "1"]]);
  assertEquals([...headers], [["x-own", "1"]]);
  assertEquals(init.headers, { "x-own": "1" });
});

Deno.test("tracedFetch() only calls fetch outside a trace or for other schemes than HTTP", async () => {
  const calls: unknown[][] = [];
  const fetch = tracedFetch({
    trustedOrigins: "*",
    fetch: (...args) => {
      calls.push(args);
      return Promise.resolve(new Response());
    },
  });
  const request = new Request("http://localhost/");
  const init = { redirect: "manual" } as const;
  await fetch(request, init);
  const { spans } = await traced(() => fetch("data:text/plain,hello", init));
  assertEquals(spans, []);
  assertEquals(calls.length, 2);
  assertStrictEquals(calls[0]?.[0], request);
  assertStrictEquals(calls[0]?.[1], init);
  assertStrictEquals(calls[1]?.[1], init);

  const { spans: none } = await traced(() =>
    assertRejects(() => tracedFetch()("no address"), TypeError)
  );
  assertEquals(none, []);
});

Deno.test("tracedFetch() uses the global fetch at the time of the call", async () => {
  const fetch = tracedFetch();
  const native = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(new Response("mine"));
  try {
    assertEquals(await (await fetch("http://localhost/")).text(), "mine");
  } finally {
    globalThis.fetch = native;
  }
});

Deno.test("tracedFetch() records network errors and statuses from 400 as failures", async () => {
  await using server = echo(({ url }) =>
    new Response(null, { status: Number(new URL(url).pathname.slice(1)) })
  );
  const { origin } = server;
  const fetch = tracedFetch();
  const { spans } = await traced(async () => {
    for (const status of [204, 304, 404, 503]) {
      await (await fetch(`${origin}/${status}`)).body?.cancel();
    }
    const { port } = closedListener();
    await assertRejects(() => fetch(`http://127.0.0.1:${port}/`), TypeError);
  });
  assertEquals(
    spans.map(({ status, attributes }) => [status, attributes["error.type"]]),
    [
      ["ok", undefined],
      ["ok", undefined],
      ["error", "404"],
      ["error", "503"],
      ["error", "TypeError"],
    ],
  );
  const { events } = spans[4]!;
  assertEquals(events.map(({ name }) => name), ["exception"]);
});

/** Returns an address on which nothing listens. */
function closedListener(): Deno.NetAddr {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr as Deno.NetAddr;
}

Deno.test("tracedFetch() distinguishes an aborted request from one that timed out", async () => {
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  await using server = echo(() => never);
  const { origin } = server;
  const fetch = tracedFetch({ trustedOrigins: "*" });
  const reasons = [
    undefined,
    "changed my mind",
    new DOMException("too slow", "TimeoutError"),
  ];
  const { spans } = await traced(async () => {
    for (const reason of reasons) {
      const controller = new AbortController();
      const { signal } = controller;
      const given = reason === undefined
        ? new Request(origin, { signal })
        : origin;
      const answer = fetch(given, reason === undefined ? {} : { signal });
      controller.abort(reason);
      const error = await answer.then(() => undefined, (error) => error);
      assertStrictEquals(error, signal.reason);
    }
  });
  resolve(new Response());
  assertEquals(
    spans.map(({ status, events }) => [status, events.map(({ name }) => name)]),
    [
      ["ok", ["fetch.aborted"]],
      ["ok", ["fetch.aborted"]],
      ["error", ["exception"]],
    ],
  );
});

Deno.test("tracedFetch() removes secrets in the URL from the trace", async () => {
  const fetch = tracedFetch({ fetch: () => Promise.resolve(new Response()) });
  const { spans } = await traced(async () => {
    await fetch(
      "https://ada:engine@api.example.com/a?q=1&access_token=secret&%74oken=secret#secret",
    );
    await fetch("http://[::1]/", { method: "BREW" });
  });
  const [first, second] = spans.map(({ attributes }) => attributes);
  assertEquals(
    first?.["url.full"],
    "https://REDACTED:REDACTED@api.example.com/a?q=1&access_token=REDACTED&%74oken=REDACTED",
  );
  assertEquals(first?.["server.port"], 443);
  assertEquals(second?.["server.address"], "::1");
  assertEquals(second?.["server.port"], 80);
  assertEquals(second?.["http.request.method"], "_OTHER");
  assertEquals(second?.["http.request.method_original"], "BREW");
  assertFalse(JSON.stringify(spans).includes("secret"));
  assertFalse(JSON.stringify(spans).includes("engine"));
});

Deno.test("tracedFetch() sends no context after the trace has ended, and the caller's span if its own isn't recorded", async () => {
  await using server = echo();
  const { origin } = server;
  const fetch = tracedFetch({ trustedOrigins: "*" });
  const tracer = createTracer();
  const root = tracer.startTrace("job", "custom");
  const late = await tracer.withSpan("slow", "custom", async () => {
    root.end();
    return await read(await fetch(origin));
  }, { parent: root });
  assertEquals(late.headers.traceparent, undefined);

  const { value, spans } = await traced(
    () => tracer.withSpan("inner", "database", () => fetch(origin).then(read)),
    { layers: ["custom", "database"] },
  );
  const [{ id, traceId }] = spans as [SpanData];
  assertEquals(spans.length, 1);
  assertEquals(value.headers.traceparent, `00-${traceId}-${id}-01`);
});

Deno.test("tracedFetch() forwards an incoming tracestate together with its trace", async () => {
  await using server = echo();
  const { origin } = server;
  const fetch = tracedFetch({ trustedOrigins: [origin] });
  const app = createApp({
    trace: tracePlugin(createTracer()),
    routes: [{ path: "/", loader: () => fetch(origin).then(read) }],
  });
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const sent = async (headers: HeadersInit) => {
    const request = new Request("http://localhost/", { headers });
    const { headers: forwarded }: Described = await (await app.fetch(request))
      .json();
    return forwarded.tracestate;
  };
  const states = (count: number) =>
    Array.from({ length: count }, (_, i) => `v${i}=1`).join(",");
  const tracestate = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7";
  assertEquals(await sent({ traceparent, tracestate }), tracestate);
  assertEquals(await sent({ traceparent, tracestate: states(32) }), states(32));
  // Too many entries, an invalid traceparent, and no tracestate.
  assertEquals(await sent({ traceparent, tracestate: states(33) }), undefined);
  assertEquals(await sent({ traceparent: "00-1-2-3", tracestate }), undefined);
  assertEquals(await sent({ traceparent }), undefined);
  await app.close();
});

Deno.test("tracedFetch() forwards the tracestate from inside nested requests and spans", async () => {
  await using server = echo();
  const fetch = tracedFetch({ trustedOrigins: [server.origin] });
  const send = () => fetch(server.origin).then(read);
  const trace = tracePlugin(createTracer());
  const inner = createApp({ trace, routes: [{ path: "/", loader: send }] });
  const app = createApp({
    trace,
    routes: [{
      path: "/nested",
      handler: () => inner.fetch(new Request("http://localhost/")),
    }, {
      path: "/own",
      loader: () => withSpan("ask", "request", () => send()),
    }],
  });
  const tracestate = "congo=t61rcWkgMzE";
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  for (const path of ["nested", "own"]) {
    const request = new Request(`http://localhost/${path}`, {
      headers: { traceparent, tracestate },
    });
    const { headers }: Described = await (await app.fetch(request)).json();
    assertEquals(headers.tracestate, tracestate, path);
  }
  await inner.close();
  await app.close();
});

Deno.test("A redirect forwards traceparent like any header, unless it isn't followed", async () => {
  await using target = echo();
  await using server = echo(() => Response.redirect(`${target.origin}/`));
  const fetch = tracedFetch({ trustedOrigins: [server.origin] });
  const { value, spans } = await traced(async () => {
    const followed = await read(await fetch(server.origin));
    const { status, body } = await fetch(server.origin, { redirect: "manual" });
    await body?.cancel();
    return { followed, status };
  });
  assert(value.followed.headers.traceparent);
  assertEquals(value.status, 302);
  assertEquals(
    spans.map(({ attributes }) => attributes["http.response.status_code"]),
    [200, 302],
  );
});

Deno.test("An in-process request of a server to itself is below the span of the call", async () => {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [
      {
        path: "/outer",
        loader: async () =>
          (await fetch("http://localhost/inner")).headers.has("traceparent"),
      },
      { path: "/inner", loader: () => 1 },
    ],
  });
  const fetch = tracedFetch({
    fetch: async (...args) => await app.fetch(new Request(...args)),
  });
  await app.fetch(new Request("http://localhost/outer"));
  const tree = treeOf(onlyTrace(tracer));
  assertMatch(tree, /fetch GET localhost\/inner\(GET \/inner\(/);
  await app.close();
});
