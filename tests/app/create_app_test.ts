import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import type { AppOptions, Context, Middleware } from "@quartet/kit/app";
import { createTracer, serializeTrace, tracePlugin } from "@quartet/kit/trace";
import { captureErrors } from "../helpers.ts";
import { RecordedSpan } from "./recorder.ts";
import {
  currentScope,
  RequestScope,
  runInScope,
} from "../../core/request_scope.ts";

const get = (path = "/") => new Request(`http://localhost${path}`);
const SECRET = "postgres://root:hunter2@db";

/** Creates an app that collects the errors it reports. */
function appWithErrors(options: AppOptions = {}) {
  const errors: unknown[] = [];
  const app = createApp({ onError: (error) => errors.push(error), ...options });
  return { app, errors };
}

Deno.test("createApp() answers with the response of a route's handler", async () => {
  const app = createApp({
    routes: [{ path: "/", handler: () => new Response("hi", { status: 201 }) }],
  });
  const response = await app.fetch(get());
  assertEquals(response.status, 201);
  assertEquals(await response.text(), "hi");
});

Deno.test("fetch() doesn't delay a synchronous response", async () => {
  const check = () => undefined;
  const app = createApp({
    routes: [
      { path: "/handler", handler: () => new Response() },
      { path: "/loader", loader: () => 1 },
      {
        path: "/guarded",
        handler: () => new Response(),
        config: { auth: { required: true, check } },
      },
    ],
  });
  // The first request waits for the plugins' setup().
  await app.fetch(get());
  for (const path of ["/handler", "/loader", "/guarded", "/missing"]) {
    let isAnswered = false;
    app.fetch(get(path)).then(() => isAnswered = true);
    await undefined;
    assert(isAnswered, path);
  }
});

Deno.test("use() and route() return the app for chaining", async () => {
  const app = createApp();
  const chained = app
    .use((_request, _context, next) => next())
    .route({ path: "/", handler: () => new Response("hi") });
  assertStrictEquals(chained, app);
  assertEquals(await (await app.fetch(get())).text(), "hi");
});

Deno.test("use() and route() work after requests were answered", async () => {
  const app = createApp();
  assertEquals((await app.fetch(get())).status, 404);
  app.route({ path: "/", handler: () => new Response("hi") });
  app.use(async (_request, _context, next) => {
    const response = await next();
    response.headers.set("x-late", "yes");
    return response;
  });
  const response = await app.fetch(get());
  assertEquals(response.headers.get("x-late"), "yes");
  assertEquals(await response.text(), "hi");
});

Deno.test("Middlewares run around routes and around the 404 response", async () => {
  const app = createApp();
  app.use(async (_request, _context, next) => {
    const response = await next();
    return new Response(null, { status: response.status + 14 });
  });
  assertEquals((await app.fetch(get())).status, 418);
});

for (const [how, fail] of waysToFail()) {
  Deno.test(`createApp() answers with a thrown Response: ${how}`, async () => {
    const thrown = new Response("teapot", { status: 418 });
    const { app, errors } = appWithErrors();
    fail(app, thrown);
    const response = await app.fetch(get());
    assertStrictEquals(response, thrown);
    assertEquals(errors, []);
  });

  Deno.test(`createApp() answers a thrown value with a 500 that hides it, and reports it once: ${how}`, async () => {
    for (const thrown of [new Error(SECRET), SECRET, undefined, { SECRET }]) {
      const { app, errors } = appWithErrors();
      fail(app, thrown);
      const response = await app.fetch(get());
      assertEquals(response.status, 500);
      const text = await response.text();
      assertEquals(JSON.parse(text), {
        error: {
          code: "INTERNAL_ERROR",
          message: "The server could not answer this request",
        },
      });
      const headers = JSON.stringify([...response.headers]);
      assertNotMatch(text + headers, /hunter2|_test\.ts/);
      assertEquals(errors.length, 1, "reported once");
      assertStrictEquals(errors[0], thrown);
    }
  });
}

/** Returns where and how a handler or middleware can throw. */
function waysToFail() {
  type App = ReturnType<typeof createApp>;
  const fromMiddleware =
    (middleware: (thrown: unknown) => Middleware<Context>) =>
    (app: App, thrown: unknown) => void app.use(middleware(thrown));
  return [
    [
      "from a handler, at once",
      (app: App, thrown: unknown) =>
        void app.route({
          path: "/",
          handler: () => {
            throw thrown;
          },
        }),
    ],
    [
      "from a handler, later",
      (app: App, thrown: unknown) =>
        void app.route({ path: "/", handler: () => Promise.reject(thrown) }),
    ],
    [
      "from a loader",
      (app: App, thrown: unknown) =>
        void app.route({
          path: "/",
          loader: () => {
            throw thrown;
          },
        }),
    ],
    [
      "from a middleware, at once",
      fromMiddleware((thrown) => () => {
        throw thrown;
      }),
    ],
    [
      "from a middleware, later",
      fromMiddleware((thrown) => () => Promise.reject(thrown)),
    ],
    [
      "from an outermost middleware",
      fromMiddleware((thrown) =>
        Object.assign(() => Promise.reject(thrown), { outermost: true })
      ),
    ],
  ] as const;
}

Deno.test("onError receives the request with the error", async () => {
  let failed: Request | undefined;
  const app = createApp({
    onError: (_error, request) => failed = request,
    routes: [{ path: "/", handler: () => Promise.reject(new Error()) }],
  });
  const request = get();
  await app.fetch(request);
  assertStrictEquals(failed, request);
});

Deno.test("An onError that throws doesn't change the response", async () => {
  const failure = new Error("logger is down");
  for (
    const onError of [
      () => {
        throw failure;
      },
      // Nothing else would catch a rejection of onError.
      () => Promise.reject(failure),
    ]
  ) {
    const logged = await errorsOf(async () => {
      const app = createApp({
        onError,
        routes: [{ path: "/", handler: () => Promise.reject(new Error()) }],
      });
      assertEquals((await app.fetch(get())).status, 500);
    });
    assertEquals(logged, [["onError failed:", failure]]);
  }
});

Deno.test("Without onError, an error is logged once, with method and path but without the query", async () => {
  const error = new Error(SECRET);
  const logged = await errorsOf(async () => {
    const app = createApp({
      routes: [{ path: "/:name", handler: () => Promise.reject(error) }],
    });
    await app.fetch(get("/%c3%a9?token=abc"));
  });
  // The path isn't part of the format: "%c" in it must not hide the error.
  const [[format, method, path, text] = []] = logged;
  assertEquals(logged.length, 1);
  assertEquals([format, method, path], ["%s %s failed:", "GET", "/%c3%a9"]);
  assertMatch(String(text), /^Error: postgres:\/\/REDACTED:REDACTED@db\n/);
});

Deno.test("An invalid JSON body appears in neither the log nor the trace", async () => {
  const tracer = createTracer();
  const app = createApp({ trace: tracePlugin(tracer) }).route({
    path: "/sign-in",
    action: async ({ request }) => await request.json(),
  });
  const logged = await errorsOf(async () => {
    for (const body of ["password=hunter22", "name=ada&password=hunter22"]) {
      const request = new Request("http://localhost/sign-in", {
        method: "POST",
        body,
      });
      assertEquals((await app.fetch(request)).status, 500);
    }
  });
  const log = Deno.inspect(logged, { strAbbreviateSize: 1e6 });
  assertStringIncludes(log, "the text is not valid JSON");
  const told = log + JSON.stringify(tracer.getTraces().map(serializeTrace));
  for (const part of ["password", "hunter", "name="]) {
    assert(!told.includes(part), told);
  }
  await app.close();
});

Deno.test("Control characters in a path can't forge log lines", async () => {
  const FORGED = "x\nGET /admin failed: no\x1b[2J\u202e";
  const logged = await errorsOf(async () => {
    const app = createApp({
      onError(error) {
        if ((error as Error).message.startsWith("told")) throw error;
      },
      routes: [{
        path: "/:name",
        handler: (_request, { params }) =>
          Promise.reject(new Error(`told of ${params.name}`)),
      }],
    });
    const path = `/${encodeURIComponent(FORGED)}`;
    await app.fetch(get(path));
    const silent = createApp({
      routes: [{
        path: "/:name",
        handler: (_request, { params }) => Promise.reject(params.name),
      }],
    });
    await silent.fetch(get(path));
  });
  assertEquals(logged.length, 2);
  for (const args of logged) {
    const text = args.map(String).join(" ");
    assertNotMatch(text, /^GET \/admin/m);
    assert(!text.includes("\x1b") && !text.includes("\u202e"), text);
    assert(text.includes("\\x1b[2J\\u202e"), text);
  }
});

/** Returns what `fn` prints with `console.error`. */
async function errorsOf(fn: () => Promise<void>): Promise<unknown[][]> {
  using captured = captureErrors();
  await fn();
  return captured.calls;
}

Deno.test("An outermost middleware runs first and sees error responses, even if added last", async () => {
  const order: string[] = [];
  const { app } = appWithErrors({
    routes: [{
      path: "/",
      handler: () => {
        order.push("handler");
        throw new Error();
      },
    }],
  });
  app.use((_request, _context, next) => {
    order.push("inner");
    return next();
  });
  const late: Middleware<Context> = async (_request, _context, next) => {
    order.push("outermost");
    const response = await next();
    response.headers.set("x-seen", String(response.status));
    return response;
  };
  app.use(Object.assign(late, { outermost: true }));
  const response = await app.fetch(get());
  assertEquals(order, ["outermost", "inner", "handler"]);
  assertEquals(response.status, 500);
  assertEquals(response.headers.get("x-seen"), "500");
});

Deno.test("Every response of a traced app carries its trace id, also errors and refusals", async () => {
  const tracer = createTracer();
  const { app, errors } = appWithErrors({
    trace: tracePlugin(tracer),
    routes: [
      { path: "/ok", handler: () => new Response("ok") },
      { path: "/throws", handler: () => Promise.reject(new Error(SECRET)) },
      {
        path: "/response",
        handler: () => Promise.reject(new Response(null, { status: 418 })),
      },
      {
        path: "/nothing",
        handler: () => undefined as unknown as Response,
      },
      { path: "/redirect", handler: () => Response.redirect("http://h/", 303) },
    ],
  });
  app.use((_request, { url }, next) => {
    if (url.pathname === "/middleware") throw new Error(SECRET);
    if (url.pathname === "/none") return undefined as unknown as Response;
    return next();
  });
  const expected = {
    "/ok": 200,
    "/throws": 500,
    "/response": 418,
    "/nothing": 500,
    "/redirect": 303,
    "/middleware": 500,
    "/none": 500,
    "/missing": 404,
    "/%": 404,
  };
  for (const [path, status] of Object.entries(expected)) {
    const response = await app.fetch(get(path));
    assertEquals(response.status, status, path);
    const id = response.headers.get("x-app-trace-id");
    assertMatch(id ?? "none", /^[0-9a-f]{32}$/, path);
    const trace = tracer.getTrace(id!)!;
    assertEquals(trace.metadata.statusCode, status, path);
    const root = trace.spans.get(trace.rootSpanId)!;
    assertEquals(root.status, status >= 500 ? "error" : "ok", path);
  }
  assertEquals(errors.length, 4, "each error is reported once");
  await app.close();
});

Deno.test("A thrown error is recorded on the request's span, a thrown Response isn't", async () => {
  const error = new Error(SECRET);
  for (
    const [thrown, expected] of [
      [error, [error]],
      [new Response(), []],
    ] as const
  ) {
    const span = new RecordedSpan("request", "request");
    const { app } = appWithErrors({
      routes: [{ path: "/", handler: () => Promise.reject(thrown) }],
    });
    const trace: Middleware<Context> = (_request, _context, next) =>
      runInScope(new RequestScope(undefined, span, currentScope()), next);
    app.use(Object.assign(trace, { outermost: true }));
    await app.fetch(get());
    assertEquals(span.errors, [...expected]);
  }
});

Deno.test("The error about a handler that returns a value recommends a loader", async () => {
  const { app, errors } = appWithErrors({
    routes: [{
      path: "/",
      handler: () => ({ a: 1 }) as unknown as Response,
    }],
  });
  assertEquals((await app.fetch(get("/"))).status, 500);
  assertEquals(
    (errors[0] as Error).message,
    "Cannot answer GET /: route / must return a Response, received an object; to return a value, use loader or action",
  );
});

for (const name of ["plugins", "routes"]) {
  Deno.test(`createApp() rejects ${name} that aren't an array`, () => {
    const error = assertThrows(
      () => createApp({ [name]: { a: 1 } } as AppOptions),
      TypeError,
    );
    assertEquals(
      error.message,
      `Cannot create app: ${name} must be an array of ${name}, received an object`,
    );
  });
}

Deno.test("The error about a missing Response names the handler's route", async () => {
  const { app, errors } = appWithErrors({
    routes: [{
      path: "/:id",
      handler: () => undefined as unknown as Response,
    }],
  });
  assertEquals((await app.fetch(get("/7?token=hidden"))).status, 500);
  assertEquals(
    (errors[0] as Error).message,
    "Cannot answer GET /7: route /:id must return a Response, received undefined",
  );
});

Deno.test("app.fetch() can be called within app.fetch() and has its own context", async () => {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [
      {
        path: "/outer",
        async loader({ context }) {
          context.set("user", "ada");
          const inner = await (await app.fetch(get("/inner"))).json();
          return { inner, same: currentScope()?.context === context };
        },
      },
      {
        path: "/inner",
        loader: ({ context }) => ({
          user: context.get("user") ?? "nobody",
          same: currentScope()?.context === context,
        }),
      },
    ],
  });
  const response = await app.fetch(get("/outer"));
  assertEquals(await response.json(), {
    inner: { user: "nobody", same: true },
    same: true,
  });
  const traces = tracer.getTraces();
  assertEquals(traces.length, 1, "both requests share one trace");
  const spans = [...traces[0]!.spans.values()];
  const inner = spans.find(({ name }) => name === "GET /inner")!;
  const parent = traces[0]!.spans.get(inner.parentId!)!;
  assertEquals(parent.name, "loader:/outer");
  await app.close();
});

Deno.test("app.fetch() answers concurrent requests, each with its own response", async () => {
  const app = createApp({
    routes: [{ path: "/:n", loader: ({ params }) => Number(params.n) }],
  });
  const numbers = Array.from({ length: 100 }, (_, i) => i);
  const answers = await Promise.all(
    numbers.map(async (n) => (await app.fetch(get(`/${n}`))).json()),
  );
  assertEquals(answers, numbers);
});

Deno.test("app.fetch can be passed to Deno.serve as its handler", async () => {
  const { fetch: handler } = createApp({
    routes: [{ path: "/", handler: () => new Response("hi") }],
  });
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    handler,
  );
  const response = await fetch(`http://127.0.0.1:${server.addr.port}/`);
  assert(response.ok);
  assertEquals(await response.text(), "hi");
});

Deno.test("A Response thrown by a route passes through the middlewares like a returned one", async () => {
  const app = createApp({
    routes: [{
      path: "/",
      loader: () => {
        throw new Response("elsewhere", { status: 403 });
      },
    }],
  });
  app.use(async (_request, _context, next) => {
    const response = await next();
    response.headers.set("x-mine", "1");
    return response;
  });
  const response = await app.fetch(get());
  assertEquals(response.status, 403);
  assertEquals(response.headers.get("x-mine"), "1");
});

Deno.test("createApp() names the invalid plugin in its error", () => {
  // deno-lint-ignore no-explicit-any -- what JavaScript callers may pass
  const wrong = (options: any) => () => createApp(options);
  assertThrows(
    wrong({ trace: { getTraces: () => [] } }),
    TypeError,
    "Cannot create app: trace must be a plugin, such as tracePlugin(tracer), received an object without a name",
  );
  assertThrows(
    wrong({ plugins: [undefined] }),
    TypeError,
    "Cannot create app: plugins[0] must be a plugin, such as tracePlugin(tracer), received undefined",
  );
});

Deno.test("A thrown Response whose body was read becomes a 500, and the log says why", async () => {
  const errors: unknown[] = [];
  const app = createApp({ onError: (error) => errors.push(error) });
  app.use(async (request, _context, next) => {
    const response = await next();
    if (request.url.endsWith("/after")) {
      await response.text();
      throw response;
    }
    return response;
  });
  app.route({
    path: "/*",
    handler: async (request) => {
      const response = new Response("once");
      if (request.url.endsWith("/route")) await response.text();
      throw response;
    },
  });
  const send = (path: string) => app.fetch(get(path));
  assertEquals(await (await send("/fine")).text(), "once");
  for (const path of ["/route", "/after"]) {
    const response = await send(path);
    assertEquals(response.status, 500);
    assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
  }
  assertEquals(errors.length, 2);
  for (const error of errors) {
    assertStringIncludes(
      `${error}`,
      "the body of the thrown Response was read",
    );
  }
});

for (
  const [how, handler] of [
    ["at once", () => Response.error()],
    ["later", () => Promise.resolve(Response.error())],
  ] as const
) {
  Deno.test(`A guarded request whose response can't be sent is a 500: ${how}`, async () => {
    const errors: unknown[] = [];
    const app = createApp({
      onError: (error) => errors.push(error),
      routes: [{
        path: "/",
        handler,
        config: { auth: { required: false, check: () => undefined } },
      }],
    });
    // The second request is answered without waiting for setup().
    for (let i = 0; i < 2; i++) {
      const response = await app.fetch(get());
      assertEquals(response.status, 500);
      assertEquals(response.headers.get("cache-control"), "private");
      assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
    }
    assertEquals(errors.length, 2);
  });
}

Deno.test("A guarded request whose response a middleware has read is a 500, and the log says why", async () => {
  const errors: unknown[] = [];
  const app = createApp({
    onError: (error) => errors.push(error),
    routes: [{
      path: "/",
      handler: () => new Response(),
      config: { auth: { required: false, check: () => undefined } },
    }],
  });
  app.use(async (_request, _context, next) => {
    await next();
    // Its headers are immutable, so the app would have to copy the response.
    const response = await fetch("data:,text");
    await response.text();
    return response;
  });
  const response = await app.fetch(get());
  assertEquals(response.status, 500);
  assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
  assertEquals(errors.map(String), [
    "TypeError: Cannot answer GET /: a middleware must return a Response, received one with a body that was read before; return a new one, or a clone()",
  ]);
});

Deno.test("Response.error() is a 500, and the log says that it has no status", async () => {
  const errors: unknown[] = [];
  const app = createApp({
    onError: (error) => errors.push(error),
    routes: [
      { path: "/returned", handler: () => Response.error() },
      {
        path: "/thrown",
        handler: () => {
          throw Response.error();
        },
      },
    ],
  });
  for (const path of ["/returned", "/thrown"]) {
    const response = await app.fetch(get(path));
    assertEquals(response.status, 500);
    assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
  }
  assertEquals(errors.map(String), [
    "TypeError: Cannot answer GET /returned: route /returned must return a Response, received Response.error(); return one with a status",
    "TypeError: Cannot answer GET /thrown: the thrown Response is Response.error(); throw one with a status",
  ]);
});
