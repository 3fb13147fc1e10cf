import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import type { ConnectionInfo, Middleware, Route } from "@quartet/kit/app";
import {
  createTracer,
  getActiveSpan,
  type SpanData,
  traceMiddleware,
  type TraceMiddlewareOptions,
  tracePlugin,
  type TracerImpl,
} from "@quartet/kit/trace";
import { onlyTrace, rootOf, spanNamed, treeOf } from "./fakes.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";

/** Sends a request to an app in process. Returns the response and its trace. */
async function send(
  request: Request,
  options: {
    middleware?: TraceMiddlewareOptions;
    routes?: readonly Route[];
  } = {},
): Promise<{ response: Response; tracer: TracerImpl; root: SpanData }> {
  const tracer = createTracer();
  const app = createApp({ routes: options.routes ?? [], onError() {} });
  app.use(traceMiddleware(tracer, options.middleware));
  const response = await app.fetch(request);
  await response.body?.cancel();
  return { response, tracer, root: rootOf(onlyTrace(tracer)) };
}

function handle(handler: NonNullable<Route["handler"]>): readonly Route[] {
  return [{ path: "/**", method: "*", handler }];
}

/** Calls the middleware alone, as another framework would. */
async function run(
  next: () => Promise<Response>,
  context: Parameters<Middleware>[1] = { get: () => undefined, set() {} },
  tracer = createTracer(),
): Promise<{ response: Response; tracer: TracerImpl }> {
  const response = await traceMiddleware(tracer)(
    new Request("http://localhost/"),
    context,
    next,
  );
  return { response, tracer };
}

Deno.test("traceMiddleware() records method, path, query, route and status under their standard names", async () => {
  const { tracer, root } = await send(
    new Request("http://localhost/countries/fr?lang=de#top", {
      method: "POST",
    }),
    {
      routes: [{
        path: "/countries/:code",
        method: "POST",
        handler: () => new Response(null, { status: 201 }),
      }],
    },
  );
  assertEquals(root.name, "POST /countries/fr");
  assertEquals(root.layer, "request");
  assertEquals(root.status, "ok");
  assertEquals({ ...root.attributes }, {
    "http.request.method": "POST",
    "url.path": "/countries/fr",
    "url.query": "lang=de",
    "http.route": "/countries/:code",
    "http.response.status_code": 201,
  });
  assertEquals(onlyTrace(tracer).metadata, {
    origin: "server",
    method: "POST",
    pathname: "/countries/fr",
    statusCode: 201,
    routePattern: "/countries/:code",
  });
});

Deno.test("traceMiddleware() sends the trace id and the duration to the client", async () => {
  const { response, root } = await send(new Request("http://localhost/"));
  assertEquals(response.headers.get("x-app-trace-id"), root.traceId);
  assertMatch(
    response.headers.get("server-timing")!,
    /^total;dur=\d+\.\d{3}$/,
  );
});

Deno.test("traceMiddleware() sends the trace context to a page's script in server-timing", async () => {
  const { response, root } = await send(new Request("http://localhost/"), {
    routes: handle(() =>
      new Response("<p>", { headers: { "content-type": "text/html" } })
    ),
  });
  assertMatch(
    response.headers.get("server-timing")!,
    new RegExp(
      `^trace;desc=00-${root.traceId}-${root.id}-01, total;dur=\\d+\\.\\d{3}$`,
    ),
  );
});

Deno.test("Server-Timing names the trace where a page can't send traceparent", async () => {
  const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
  const data = [null, "application/json", "text/plain;charset=UTF-8"];
  const resources = ["text/html", "text/css", "image/png", "text/event-stream"];
  for (
    const [types, headers, isNamed] of [
      [resources, {}, true],
      [resources, { "sec-fetch-mode": "no-cors" }, true],
      [data, {}, false],
      [data, { "sec-fetch-mode": "no-cors" }, true],
      [[...data, ...resources], { traceparent }, false],
      [
        [...data, ...resources],
        { traceparent, "sec-fetch-mode": "cors" },
        false,
      ],
      // A proxy traces the request for the document.
      [["text/html"], { traceparent, "sec-fetch-mode": "navigate" }, true],
    ] as const
  ) {
    for (const type of types) {
      const { response, root } = await send(
        new Request("http://localhost/", { headers }),
        {
          routes: handle(() =>
            new Response(null, {
              headers: type === null ? {} : { "content-type": type },
            })
          ),
        },
      );
      assertEquals(
        response.headers.get("server-timing")!.startsWith(
          `trace;desc=00-${root.traceId}-${root.id}-01, total;dur=`,
        ),
        isNamed,
        `${type} with ${JSON.stringify(headers)}`,
      );
    }
  }
});

Deno.test("traceMiddleware() extends a handler's server-timing", async () => {
  const { response } = await send(new Request("http://localhost/"), {
    routes: handle(() =>
      new Response("", { headers: { "server-timing": "db;dur=5" } })
    ),
  });
  assertMatch(
    response.headers.get("server-timing")!,
    /^db;dur=5, total;dur=/,
  );
});

Deno.test("A response object that a handler reuses has one trace each time", async () => {
  const tracer = createTracer();
  const kept = new Response(null, {
    status: 304,
    headers: {
      "content-type": "text/html",
      "server-timing": "cache;desc=hit",
    },
  });
  const app = createApp({ routes: handle(() => kept) });
  app.use(traceMiddleware(tracer));
  for (let i = 0; i < 5; i++) {
    const { headers } = await app.fetch(new Request("http://localhost/"));
    const { id, traceId } = rootOf(tracer.getTraces().at(-1)!);
    assertEquals(headers.get("x-app-trace-id"), traceId);
    assertMatch(
      headers.get("server-timing")!,
      new RegExp(
        `^cache;desc=hit, trace;desc=00-${traceId}-${id}-01, total;dur=[\\d.]+$`,
      ),
    );
  }
});

Deno.test("traceMiddleware() continues the trace of a valid traceparent", async () => {
  for (
    const header of [
      `00-${TRACE_ID}-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${SPAN_ID}-00`,
      `00-${TRACE_ID}-${SPAN_ID}-ff`,
      `00-${TRACE_ID}-${SPAN_ID}-02`,
      `  00-${TRACE_ID}-${SPAN_ID}-01  `,
      `01-${TRACE_ID}-${SPAN_ID}-01`,
      `fe-${TRACE_ID}-${SPAN_ID}-01-what-comes-later`,
      `cc-${TRACE_ID}-${SPAN_ID}-01-`,
    ]
  ) {
    const { root, response } = await send(
      new Request("http://localhost/", { headers: { traceparent: header } }),
    );
    assertEquals(root.traceId, TRACE_ID, header);
    assertEquals(root.parentId, SPAN_ID, header);
    assertNotEquals(root.id, SPAN_ID, header);
    assertEquals(response.headers.get("x-app-trace-id"), TRACE_ID);
  }
});

Deno.test("traceMiddleware() starts a new trace after a malformed traceparent", async () => {
  for (
    const header of [
      "",
      "00",
      "nonsense",
      `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${SPAN_ID.toUpperCase()}-01`,
      `00-${TRACE_ID}-${SPAN_ID}-0G`,
      `00-${TRACE_ID}-${SPAN_ID}-0A`,
      `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`,
      `00-${TRACE_ID}0-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${SPAN_ID.slice(1)}-01`,
      `00-${TRACE_ID}-${SPAN_ID}0-01`,
      `00-${TRACE_ID}-${SPAN_ID}-1`,
      `00-${TRACE_ID}-${SPAN_ID}`,
      `0-${TRACE_ID}-${SPAN_ID}-01`,
      `00-${"0".repeat(32)}-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${"0".repeat(16)}-01`,
      `ff-${TRACE_ID}-${SPAN_ID}-01`,
      `ff-${TRACE_ID}-${SPAN_ID}-01-more`,
      `00-${TRACE_ID}-${SPAN_ID}-01-`,
      `00-${TRACE_ID}-${SPAN_ID}-01-more`,
      `01-${TRACE_ID}-${SPAN_ID}-01more`,
      `01-${TRACE_ID}-${SPAN_ID}-01.more`,
      `00_${TRACE_ID}_${SPAN_ID}_01`,
      `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
      `00-${TRACE_ID}-${SPAN_ID}-01\t00`,
      `00-\x7f${TRACE_ID.slice(1)}-${SPAN_ID}-01`,
      `00-\x1b[31m${TRACE_ID.slice(5)}-${SPAN_ID}-01`,
      `00-é${TRACE_ID.slice(1)}-${SPAN_ID}-01`,
    ]
  ) {
    const { root } = await send(
      new Request("http://localhost/", { headers: { traceparent: header } }),
    );
    assertNotEquals(root.traceId, TRACE_ID, header);
    assertEquals(root.parentId, null, header);
    assertMatch(root.traceId, /^[0-9a-f]{32}$/);
  }
});

Deno.test("Requests with the same traceparent are joined into one trace", async () => {
  const tracer = createTracer();
  const app = createApp().use(traceMiddleware(tracer));
  const headers = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };
  await app.fetch(new Request("http://localhost/a", { headers }));
  await app.fetch(new Request("http://localhost/b", { headers }));
  const trace = onlyTrace(tracer);
  assertEquals([trace.id, trace.metadata.pathname], [TRACE_ID, "/a"]);
  assertEquals(treeOf(trace), "GET /a(route.match, GET /b(route.match))");
});

Deno.test("An unknown method is recorded as _OTHER, with the original name", async () => {
  const { root, tracer } = await send(
    new Request("http://localhost/", { method: "BREW" }),
  );
  assertEquals(root.attributes["http.request.method"], "_OTHER");
  assertEquals(root.attributes["http.request.method_original"], "BREW");
  assertEquals(onlyTrace(tracer).metadata.method, "BREW");
});

Deno.test("A 5xx is a failure of the server, and a 4xx isn't", async () => {
  const cases = [[399, "ok"], [400, "ok"], [499, "ok"], [500, "error"], [
    503,
    "error",
  ]] as const;
  for (const [status, expected] of cases) {
    const { root } = await send(new Request("http://localhost/"), {
      routes: handle(() => new Response(null, { status })),
    });
    assertEquals(root.status, expected);
    assertEquals(root.attributes["http.response.status_code"], status);
    assertEquals(
      root.attributes["error.type"],
      expected === "error" ? String(status) : undefined,
    );
  }
});

Deno.test("A handler that throws leaves a trace with status 500 and the exception, recorded once", async () => {
  const { response, root, tracer } = await send(
    new Request("http://localhost/"),
    {
      routes: [{
        path: "/",
        loader() {
          throw new RangeError("too far");
        },
      }],
    },
  );
  assertEquals(response.status, 500);
  assertEquals(response.headers.get("x-app-trace-id"), root.traceId);
  assertEquals(root.status, "error");
  assertEquals(root.attributes["http.response.status_code"], 500);
  const messages = [...onlyTrace(tracer).spans.values()].flatMap(({ events }) =>
    events.map(({ attributes }) => attributes?.["exception.message"])
  );
  assertEquals(messages, ["too far"]);
});

Deno.test("An error that another framework doesn't catch is recorded and rethrown", async () => {
  const tracer = createTracer();
  const error = new Error("inside");
  const thrown = await assertRejects(() =>
    run(() => Promise.reject(error), undefined, tracer)
  );
  assertStrictEquals(thrown, error);
  const root = rootOf(onlyTrace(tracer));
  assertEquals(root.status, "error");
  assertEquals(root.attributes["http.response.status_code"], 500);
  assertEquals(root.events[0]?.attributes?.["exception.message"], "inside");
});

Deno.test("A thrown Response is the response", async () => {
  const { response, root } = await send(new Request("http://localhost/"), {
    routes: handle(() => {
      throw new Response(null, { status: 303, headers: { location: "/in" } });
    }),
  });
  assertEquals(response.status, 303);
  assertEquals(response.headers.get("location"), "/in");
  assertEquals(response.headers.get("x-app-trace-id"), root.traceId);
  assertEquals(root.status, "ok");
  assertEquals(root.attributes["http.response.status_code"], 303);

  const foreign = await run(() =>
    Promise.reject(new Response(null, { status: 401 }))
  );
  assertEquals(foreign.response.status, 401);
  assert(foreign.response.headers.has("x-app-trace-id"));
});

Deno.test("A response with immutable headers still gets the headers", async () => {
  const { response, root } = await send(new Request("http://localhost/"), {
    routes: handle(() => Response.redirect("http://localhost/there", 307)),
  });
  assertEquals(response.status, 307);
  assertEquals(response.headers.get("location"), "http://localhost/there");
  assertEquals(response.headers.get("x-app-trace-id"), root.traceId);
});

Deno.test("A response forwarded from another server keeps its body and headers", async () => {
  const upstream = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response("from upstream", { headers: { "x-upstream": "yes" } }),
  );
  const tracer = createTracer();
  const app = createApp({
    routes: handle(() => fetch(`http://127.0.0.1:${upstream.addr.port}/`)),
  });
  app.use(traceMiddleware(tracer));

  const response = await app.fetch(new Request("http://localhost/"));

  assertEquals(await response.text(), "from upstream");
  assertEquals(response.headers.get("x-upstream"), "yes");
  assertEquals(response.headers.get("x-app-trace-id"), onlyTrace(tracer).id);
  await upstream.shutdown();
});

Deno.test("A response that can't be sent ends its trace as an error", async () => {
  const upstream = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response("text"),
  );
  const url = `http://127.0.0.1:${upstream.addr.port}/`;
  const unusable = [
    () => Promise.resolve(Response.error()),
    () => Promise.reject(Response.error()),
    async () => {
      const response = await fetch(url);
      await response.text();
      return response;
    },
  ];
  for (const handler of unusable) {
    const { response, root } = await send(new Request("http://localhost/"), {
      routes: handle(handler),
    });
    assertEquals(response.status, 500);
    assertEquals(response.headers.get("x-app-trace-id"), root.traceId);
    assertEquals(root.status, "error");
    assertEquals(root.attributes["http.response.status_code"], 500);
  }
  await upstream.shutdown();
});

Deno.test("Excluded paths are not traced and get no headers", async () => {
  const tracer = createTracer();
  const app = createApp().use(traceMiddleware(tracer, {
    exclude: ["/", "/health", "/assets/"],
  }));
  for (
    const [path, traced] of [
      ["/", false],
      ["/health", false],
      ["/health/", false],
      ["/health/?deep=1", false],
      ["/health/db", true],
      ["/health?deep=1", false],
      ["/assets/a.js", false],
      ["/__app/traces", false],
      ["/favicon.ico", false],
      ["/healthy", true],
      ["/assets", true],
      ["/__app", true],
      ["/favicon.ico.txt", true],
    ] as const
  ) {
    const before = tracer.getTraces().length;
    const response = await app.fetch(new Request(`http://localhost${path}`));
    await response.body?.cancel();
    assertEquals(tracer.getTraces().length - before, traced ? 1 : 0, path);
    assertEquals(response.headers.has("x-app-trace-id"), traced, path);
  }
});

Deno.test("No request headers are recorded by default", async () => {
  const { root } = await send(
    new Request("http://localhost/", { headers: { "accept-language": "fr" } }),
  );
  assertEquals(
    Object.keys(root.attributes).filter((key) => key.includes("header")),
    [],
  );
});

Deno.test("recordHeaders records the named headers, case-insensitively", async () => {
  const { root } = await send(
    new Request("http://localhost/", {
      headers: { "Accept-Language": "fr", "user-agent": "x", "cookie": "a=b" },
    }),
    { middleware: { recordHeaders: ["ACCEPT-language", "cookie", "absent"] } },
  );
  assertEquals(
    Object.entries(root.attributes).filter(([key]) => key.includes("header")),
    [["http.request.header.accept-language", "fr"]],
  );
});

Deno.test("recordHeaders never records a cookie, a credential or a key", async () => {
  const secret = "s3cr3t";
  const names = [
    "authorization",
    "proxy-authorization",
    "x-forwarded-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
    "x-csrf-token",
    "x-session-id",
    "x-amz-security-token",
    "x-hub-signature-256",
    "x-client-secret",
    "x-password",
    "cf-access-jwt-assertion",
    "x-goog-iap-jwt-assertion",
    "sec-websocket-protocol",
    "x-verification-code",
    "x-shopify-hmac-sha256",
    "x-totp",
    "x-access-code",
    "x-user-pw",
  ];
  const headers = new Headers(
    names.map((name): [string, string] => [name, secret]),
  );
  headers.set("x-harmless", "kept");
  const nested = encodeURIComponent(`/cb?token=${secret}#${secret}`);
  headers.set(
    "referer",
    `https://a:${secret}@host/in?code=${secret}&lang=fr&next=${nested}#${secret}`,
  );

  for (const recordHeaders of [true, [...headers.keys()]]) {
    const { root } = await send(
      new Request("http://localhost/", { headers }),
      { middleware: { recordHeaders } },
    );
    assertEquals(root.attributes["http.request.header.x-harmless"], "kept");
    assertEquals(
      root.attributes["http.request.header.referer"],
      "https://REDACTED:REDACTED@host/in?code=REDACTED&lang=fr&next=/cb%3Ftoken%3DREDACTED%23REDACTED",
    );
    assert(!JSON.stringify(root).includes(secret));
  }
});

Deno.test("Secret query values are removed, and others are recorded as they were sent", async () => {
  const secret = "s3cr3t";
  const secrets = [
    "token",
    "access_token",
    "id_token",
    "client_secret",
    "password",
    "api_key",
    "api-key",
    "apikey",
    "code",
    "state",
    "sig",
    "key",
    "auth",
    "jwt",
    "session",
    "X-Amz-Signature",
    "X-Amz-Credential",
    "user[password]",
    "%74oken",
    "TOKEN",
    "pwd",
    "totp",
    "passcode",
    "oobCode",
    "oob_code",
    "OOBCODE",
    "verification_code",
    "verificationCode",
    "verification-code",
    "device_code",
    "deviceCode",
    "sms_code",
    "smsCode",
    "recovery_code",
    "recovery-code",
    "privateKey",
    "private_key",
    "signingKey",
    "signing-key",
    "hmac",
    "X-Hmac-SHA256",
    "magic",
    "magicLink",
    "userPin",
    "pw",
    "accessCode",
  ];
  for (const name of secrets) {
    const { root } = await send(
      new Request(`http://localhost/?a=1&${name}=${secret}&b=%20x`),
    );
    assertEquals(
      root.attributes["url.query"],
      `a=1&${name}=REDACTED&b=%20x`,
    );
  }
  const harmless =
    "q=token&page=2&sort=a&flag&author=ada&tokenizer=x&keyboard=x&%zz=1&=&a=b=c&next=%2Fhome%3Fpage%3D2";
  const { root } = await send(new Request(`http://localhost/?${harmless}`));
  assertEquals(root.attributes["url.query"], harmless);
});

Deno.test("A request that an outer app already traces has one span, and that gets the route", async () => {
  const [outer, inner] = [createTracer(), createTracer()];
  const app = createApp({
    trace: tracePlugin(inner),
    routes: [{ path: "/posts/:id", loader: () => "post" }],
  });
  const dev = createApp({ trace: tracePlugin(outer) });
  dev.use((request, context) => app.fetch(request, context.info));

  const response = await dev.fetch(new Request("http://localhost/posts/7"));
  await response.text();
  const trace = onlyTrace(outer);
  assertEquals(treeOf(trace), "GET /posts/7(route.match, loader:/posts/:id)");
  assertEquals(trace.metadata.routePattern, "/posts/:id");
  assertEquals(trace.metadata.statusCode, 200);
  assertEquals(inner.getTraces(), []);
});

Deno.test("A request to another app inside a request joins its tree", async () => {
  const tracer = createTracer();
  const inner = createApp({
    routes: [{ path: "/inner/:id", loader: () => ({}) }],
  });
  inner.use(traceMiddleware(tracer));
  const outer = createApp({
    routes: [{
      path: "/outer/:id",
      loader: () => inner.fetch(new Request("http://inner/inner/2")),
    }],
  });
  outer.use(traceMiddleware(tracer));

  const response = await outer.fetch(new Request("http://outer/outer/1"));
  await response.body?.cancel();

  const trace = onlyTrace(tracer);
  assertEquals(
    treeOf(trace),
    "GET /outer/1(route.match, loader:/outer/:id(GET /inner/2(route.match, loader:/inner/:id)))",
  );
  assertEquals(trace.metadata.routePattern, "/outer/:id");
  assertEquals(trace.metadata.pathname, "/outer/1");
  const below = spanNamed(trace, "GET /inner/2").attributes;
  assertEquals(below["http.route"], "/inner/:id");
  assertEquals(below["http.response.status_code"], 200);
  assertEquals(response.headers.get("x-app-trace-id"), trace.id);
  assertEquals(
    response.headers.get("server-timing")?.match(/total;dur=/g)?.length,
    1,
  );
});

Deno.test("A context with only get and set suffices, as in Hono", async () => {
  const tracer = createTracer();
  const values = new Map<string, unknown>();
  const context = {
    get: (key: string) => values.get(key),
    set: (key: string, value: unknown) => void values.set(key, value),
  };
  const { response } = await run(
    async () => {
      await Promise.resolve();
      return tracer.withSpan("inside", "custom", () => new Response("hi"));
    },
    context,
    tracer,
  );
  assertEquals(await response.text(), "hi");
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(inside)");
});

Deno.test("Concurrent requests of a host without a scope stay separate", async () => {
  const tracer = createTracer();
  const middleware = traceMiddleware(tracer);
  await Promise.all(Array.from({ length: 20 }, async (_, i) => {
    const request = new Request(`http://localhost/${i}`);
    const response = await middleware(
      request,
      { get: () => undefined, set() {} },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, (i * 7) % 5));
        tracer.withSpan(`work ${i}`, "custom", () => {});
        return new Response(String(i));
      },
    );
    await response.text();
  }));
  assertEquals(
    tracer.getTraces().map((trace) => treeOf(trace)).sort(),
    Array.from({ length: 20 }, (_, i) => `GET /${i}(work ${i})`).sort(),
  );
});

Deno.test("A text body ends the trace with its headers, if the host reports no completion", async () => {
  const { response, tracer } = await run(() =>
    Promise.resolve(new Response("text"))
  );
  assertEquals(tracer.getTraces().length, 1);
  assertEquals(await response.text(), "text");
});

/** A body whose chunks are written by the test. */
function gatedBody(): {
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
  write(text: string): void;
  close(): void;
  fail(error: Error): void;
  cancelled: Promise<void>;
} {
  const cancelled = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(value) {
      controller = value;
    },
    cancel: () => cancelled.resolve(),
  });
  return {
    body,
    write: (text) => controller.enqueue(new TextEncoder().encode(text)),
    close: () => controller.close(),
    fail: (error) => controller.error(error),
    cancelled: cancelled.promise,
  };
}

Deno.test("Server-sent events in process end their trace when the body has been read", async () => {
  const gate = gatedBody();
  const { response, tracer } = await run(() =>
    Promise.resolve(
      new Response(gate.body, {
        headers: { "content-type": "text/event-stream; charset=utf-8" },
      }),
    )
  );
  const reader = response.body!.getReader();
  gate.write("data: 1\n\n");
  assertEquals(
    new TextDecoder().decode((await reader.read()).value),
    "data: 1\n\n",
  );
  assertEquals(tracer.getTraces(), []);

  gate.close();

  assertEquals((await reader.read()).done, true);
  assertEquals(rootOf(onlyTrace(tracer)).status, "ok");
});

Deno.test("A stream in process that fails or is cancelled ends its trace as cut off", async () => {
  const failing = gatedBody();
  const failed = await run(() => Promise.resolve(new Response(failing.body)));
  failing.fail(new Error("upstream"));
  await assertRejects(() => failed.response.text(), Error, "upstream");

  const leaving = gatedBody();
  const left = await run(() => Promise.resolve(new Response(leaving.body)));
  await left.response.body!.cancel();
  await leaving.cancelled;

  const roots = [failed, left].map(({ tracer }) => rootOf(onlyTrace(tracer)));
  assertEquals(roots.map(({ status }) => status), ["error", "error"]);
  assertEquals(
    roots.map(({ events }) =>
      events.map(({ name, attributes }) =>
        attributes?.["exception.message"] ?? name
      )
    ),
    // A client may leave, but only a stream has an error of its own.
    [["response.cut_off", "upstream"], ["response.cut_off"]],
  );
});

/** Serves `routes` with a traced app on a free port. */
async function serving(
  routes: readonly Route[],
  test: (url: string, tracer: TracerImpl) => Promise<void>,
): Promise<void> {
  const tracer = createTracer();
  const app = createApp({ routes, onError() {} });
  app.use(traceMiddleware(tracer));
  const server = await app.serve({
    port: 0,
    signals: false,
    // A failing test may leave its body open.
    shutdownTimeout: 1,
    onListen() {},
  });
  try {
    await test(`http://127.0.0.1:${server.address.port}`, tracer);
  } finally {
    await server.shutdown();
  }
}

/** Resolves when the tracer's next trace has ended. */
function nextTrace(tracer: TracerImpl): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = tracer.subscribe(() => {
    stop();
    resolve();
  }, ["trace:end"]);
  return promise;
}

Deno.test("Over a real server, the trace ends when the whole body has been sent", async () => {
  for (const type of ["text/event-stream", "text/html", undefined]) {
    const gate = gatedBody();
    const headers: HeadersInit = type === undefined
      ? {}
      : { "content-type": type };
    await serving(
      handle(() => new Response(gate.body, { headers })),
      async (url, tracer) => {
        const response = await fetch(url);
        const reader = response.body!.getReader();
        gate.write("first");
        await reader.read();
        assertEquals(tracer.getTraces(), []);
        assertEquals(
          tracer.getTrace(response.headers.get("x-app-trace-id")!)?.metadata
            .statusCode,
          200,
        );

        const ended = nextTrace(tracer);
        gate.close();
        assertEquals((await reader.read()).done, true);
        await ended;

        assertEquals(rootOf(onlyTrace(tracer)).status, "ok");
      },
    );
  }
});

Deno.test("Spans created while the body is sent are part of the trace", async () => {
  await serving(
    handle(() => {
      const span = getActiveSpan()!;
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve));
          span.child("chunk", "custom").end();
          controller.enqueue(new TextEncoder().encode("chunk"));
          controller.close();
        },
      }, { highWaterMark: 0 });
      return new Response(body);
    }),
    async (url, tracer) => {
      const ended = nextTrace(tracer);
      await (await fetch(url)).text();
      await ended;
      assertEquals(treeOf(onlyTrace(tracer)), "GET /(route.match, chunk)");
    },
  );
});

Deno.test("A client that disconnects in the middle of a body ends the trace", async () => {
  const gate = gatedBody();
  await serving(
    handle(() => new Response(gate.body)),
    async (url, tracer) => {
      const client = new AbortController();
      const response = await fetch(url, { signal: client.signal });
      const reader = response.body!.getReader();
      gate.write("first");
      await reader.read();
      assertEquals(tracer.getTraces(), []);

      const ended = nextTrace(tracer);
      client.abort();
      await assertRejects(() => reader.read());
      await ended;

      assertEquals(onlyTrace(tracer).metadata.statusCode, 200);
      await gate.cancelled;
    },
  );
});

Deno.test("A client that leaves an event stream is recorded in the trace", async () => {
  const gate = gatedBody();
  const headers = { "content-type": "text/event-stream" };
  await serving(
    handle(() => new Response(gate.body, { headers })),
    async (url, tracer) => {
      const client = new AbortController();
      const response = await fetch(url, { signal: client.signal });
      const reader = response.body!.getReader();
      gate.write("data: 1\n\n");
      await reader.read();

      const ended = nextTrace(tracer);
      client.abort();
      await assertRejects(() => reader.read());
      await ended;
      await gate.cancelled;

      const root = rootOf(onlyTrace(tracer));
      assertEquals(root.status, "error");
      assertEquals(root.events.map(({ name }) => name), ["response.cut_off"]);
    },
  );
});

Deno.test("HEAD on an event stream isn't recorded as cut off", async () => {
  const headers = { "content-type": "text/event-stream" };
  await serving(
    handle(() => new Response(gatedBody().body, { headers })),
    async (url, tracer) => {
      const ended = nextTrace(tracer);
      await (await fetch(url, { method: "HEAD" })).body?.cancel();
      await ended;
      const root = rootOf(onlyTrace(tracer));
      assertEquals([root.status, root.events], ["ok", []]);
    },
  );
});

Deno.test("HEAD is answered without waiting for a stream of any type, and cancels it", async () => {
  for (const type of ["text/event-stream", "text/html", undefined]) {
    const gate = gatedBody();
    gate.write("begun");
    await serving(
      handle(() =>
        new Response(gate.body, {
          headers: type === undefined ? {} : { "content-type": type },
        })
      ),
      async (url, tracer) => {
        const ended = nextTrace(tracer);
        const response = await fetch(url, { method: "HEAD" });
        assertEquals(await response.text(), "");
        await Promise.all([ended, gate.cancelled]);
        const root = rootOf(onlyTrace(tracer));
        assertEquals([root.status, root.events], ["ok", []]);
      },
    );
  }
});

Deno.test("Responses without a body end their trace over a real server", async () => {
  await serving(
    [
      {
        path: "/empty",
        handler: () => new Response(null, { status: 204 }),
      },
      { path: "/text", handler: () => new Response("text") },
    ],
    async (url, tracer) => {
      for (
        const [path, method, status] of [
          ["/empty", "GET", 204],
          ["/text", "HEAD", 200],
          ["/nothing", "GET", 404],
        ] as const
      ) {
        const ended = nextTrace(tracer);
        const response = await fetch(url + path, { method });
        await response.body?.cancel();
        await ended;
        assertEquals(tracer.getTraces().at(-1)?.metadata.statusCode, status);
      }
    },
  );
});

Deno.test("A WebSocket upgrade is a trace with status 101 that ends with the handshake", async () => {
  await serving(
    handle((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = ({ data }) => socket.send(`echo ${data}`);
      return response;
    }),
    async (url, tracer) => {
      const socket = new WebSocket(url.replace("http", "ws"));
      const message = await new Promise<MessageEvent>((resolve) => {
        socket.onopen = () => socket.send("hello");
        socket.onmessage = resolve;
      });
      assertEquals(message.data, "echo hello");
      assertEquals(onlyTrace(tracer).metadata.statusCode, 101);
      assertEquals(rootOf(onlyTrace(tracer)).status, "ok");
      const closed = new Promise((resolve) => socket.onclose = resolve);
      socket.close();
      await closed;
    },
  );
});

Deno.test("An in-process request with a connection's info ends when that completes", async () => {
  const sent = Promise.withResolvers<void>();
  const info: ConnectionInfo = { completed: sent.promise };
  const tracer = createTracer();
  const app = createApp({ routes: handle(() => new Response("text")) });
  app.use(traceMiddleware(tracer));
  const response = await app.fetch(new Request("http://localhost/"), info);
  assertEquals(await response.text(), "text");
  assertEquals(tracer.getTraces(), []);
  sent.resolve();
  await sent.promise;
  assertEquals(tracer.getTraces().length, 1);
});

Deno.test("Names of secrets are recognized by their parts, in queries and headers", async () => {
  const query = [
    "PHPSESSID",
    "sid",
    "pin",
    "pwd1",
    "auth_code",
    "SAMLResponse",
    "ticket",
    "csrf",
    "x-auth",
  ];
  const { root } = await send(
    new Request(`http://localhost/?${query.join("=S&")}=S&country=FR`, {
      headers: {
        "x-key": "S",
        "dpop": "S",
        "x-otp": "S",
        "referer": "http://localhost/#token=S",
        "accept": "text/html",
      },
    }),
    { middleware: { recordHeaders: true } },
  );
  assertEquals(JSON.stringify(root.attributes).includes('"S'), false);
  assertEquals(JSON.stringify(root.attributes).includes("=S"), false);
  assertEquals(
    String(root.attributes["url.query"]).endsWith("&country=FR"),
    true,
  );
});

Deno.test("Spans of a generator that writes an event stream are in its request", async () => {
  async function* events(tracer: TracerImpl) {
    for (let i = 0; i < 3; i++) {
      await Promise.resolve();
      yield tracer.withSpan("chunk", "custom", () => "data: 1\n\n");
    }
  }
  const headers = { "content-type": "text/event-stream" };
  const tracer = createTracer();
  const app = createApp({
    routes: handle(() => {
      const body = ReadableStream.from(events(tracer))
        .pipeThrough(new TextEncoderStream());
      return new Response(body, { headers });
    }),
  });
  app.use(traceMiddleware(tracer));
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals((await response.text()).length, 27);
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /(route.match, chunk, chunk, chunk)",
  );
});
