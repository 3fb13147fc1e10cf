/**
 * The mistakes that people make in their first hour. Each gets an error, or a
 * log line, that says how to fix it.
 *
 * @module
 */

import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  createApp,
  type Route,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  getUser,
  github,
  publicAction,
  requireAuth,
} from "@quartet/kit/auth";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { cacheFunction, createRevalidationHandler } from "@quartet/kit/data";
import { createRedisStore } from "@quartet/kit/data/redis";
import {
  createCaller,
  createRouter,
  procedure,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { infiniteQueryOptions } from "@quartet/kit/rpc/tanstack";
import {
  createOTLPReceiver,
  createTracer,
  createTracesAPIHandler,
  createTraceWebSocket,
  createViewerHandler,
  serializeTrace,
  setTracer,
  toChromeTrace,
  toOTLP,
  tracePlugin,
  traceQuery,
} from "@quartet/kit/trace";
import { createClient as createRedisClient } from "redis";
import { hasRedisServer, needsRedis, startRedis } from "./redis_server.ts";
import { ROOT, startDeno, UNHURRIED } from "./helpers.ts";

const SECRET = "a secret of at least thirty-two bytes";
const providers = [
  credentials({ authorize: ({ name }) => ({ id: String(name) }) }),
];
const router = createRouter({
  math: {
    double: procedure.query(() => 2),
    set: procedure.mutation(() => 1),
    count: procedure.subscription(async function* () {
      yield await Promise.resolve(1);
    }),
  },
});

/** Hides a mistake from the types, as code without types would. */
// deno-lint-ignore no-explicit-any -- wrong values are the point
const wrong = (value: unknown): any => value;

/** Returns a tracer with a trace. */
function recordedTracer() {
  const tracer = createTracer();
  tracer.withSpan("job", "custom", () => {});
  return tracer;
}

/** Mistakes of settings, and the error that each throws. */
const SETTINGS: Readonly<Record<string, readonly [() => unknown, string]>> = {
  "A misspelled option": [
    () => createAuthPlugin(wrong({ sesion: { secret: SECRET }, providers })),
    'Cannot create auth plugin: unknown option "sesion"; did you mean session?',
  ],
  "A secret that isn't set": [
    () => createAuthPlugin({ session: { secret: undefined }, providers }),
    "Cannot create auth plugin: session.secret must be given; make one with: openssl rand -base64 32",
  ],
  "A plugin that isn't called": [
    () => createApp({ plugins: [wrong(tracePlugin)] }),
    "received a function; call it, as in rpcPlugin({ router })",
  ],
  "A tracer instead of its plugin": [
    () => createApp({ plugins: [wrong(createTracer())] }),
    "plugins[0] must be a plugin, such as tracePlugin(tracer), received an object without a name",
  ],
  "A router instead of options": [
    () => rpcPlugin(wrong(router)),
    "options must be an object with the router, as in rpcPlugin({ router }), received the router itself",
  ],
  "A plugin instead of a middleware": [
    () => createApp().use(wrong(rpcPlugin({ router }))),
    "Cannot use middleware: it must be a function, received a plugin; pass it to createApp({ plugins })",
  ],
  "A list of plugins instead of each as an argument": [
    () => toMiddleware(wrong([tracePlugin(createTracer())])),
    "Cannot mount part 1: it must be a plugin such as tracePlugin(tracer), a middleware, or a guard such as requireAuth(), received an array; pass its elements",
  ],
  "A span without a layer": [
    () => createTracer().withSpan("load", wrong(() => 1), wrong(undefined)),
    "Cannot trace load: its work must be a function, received undefined",
  ],
  "A query without a function": [
    () => traceQuery("GET user:?", wrong(undefined)),
    "Cannot trace a query: its work must be a function, received undefined",
  ],
  "A query of a driver instead of its text": [
    () => traceQuery(wrong({ text: "SELECT 1" }), () => 1),
    "Cannot trace a query: text must be a string, received an object",
  ],
  "A name instead of the tracer": [
    () => setTracer(wrong("shop")),
    "Cannot set tracer: tracer must be the result of createTracer(), received ",
  ],
  "A provider that isn't called": [
    () =>
      createAuthPlugin(
        wrong({ session: { secret: SECRET }, providers: [credentials] }),
      ),
    "providers must hold auth providers, such as credentials() or github()",
  ],
  "A guard that isn't called": [
    () =>
      createApp().route({
        path: "/me",
        config: wrong({ ...requireAuth }),
        loader: () => 1,
      }),
    "Cannot add route /me: config.auth must have a check function, as in { ...requireAuth() }",
  ],
  "A path without a slash": [
    () => createApp().route({ path: "me", loader: () => 1 }),
    'Cannot add route: path must be a string that begins with "/", received "me"',
  ],
  "A handler instead of a procedure": [
    () => createRouter(wrong({ hello: () => "world" })),
    "Cannot create router: hello must be a procedure or an object of procedures, received a function",
  ],
  "A procedure without a handler": [
    () => createRouter(wrong({ hello: procedure })),
    "Cannot create router: hello must have a handler; add it with query(), mutation() or subscription()",
  ],
  "A promise instead of a function": [
    () => cacheFunction(wrong(Promise.resolve(1)), ["one"]),
    "fn must be a function, received a promise; pass the function that creates it",
  ],
  "A plugin that isn't awaited": [
    () =>
      createApp({ plugins: [wrong(Promise.resolve(rpcPlugin({ router })))] }),
    "plugins[0] must be a plugin, such as tracePlugin(tracer), received a promise",
  ],
  "A tag instead of a list": [
    () => cacheFunction(() => 1, ["one"], wrong({ tags: "user" })),
    'Cannot create cached function: tags must be an array of strings, received "user"',
  ],
  "Traces that aren't serialized": [
    () => toOTLP(wrong(recordedTracer().getTraces())),
    "Cannot write OTLP: traces must be an array of serialized traces, as in tracer.getTraces().map(serializeTrace), received an array",
  ],
  "A tracer instead of its traces": [
    () => toChromeTrace(wrong(recordedTracer())),
    "Cannot write a Chrome trace: traces must be an array of serialized traces, as in tracer.getTraces().map(serializeTrace), received an object",
  ],
  "All traces instead of one": [
    () => serializeTrace(wrong(recordedTracer().getTraces())),
    "Cannot serialize trace: trace must be one trace, as in tracer.getTraces().map(serializeTrace), received an array",
  ],
  "A trace that isn't kept": [
    () => serializeTrace(wrong(createTracer().getTrace("1"))),
    "Cannot serialize trace: trace must be one trace, as in tracer.getTraces().map(serializeTrace), received undefined",
  ],
  "An infinite query with its input in place of a function": [
    () =>
      infiniteQueryOptions(
        createClient<typeof router>({ httpEndpoint: "/" }).math.double.query,
        wrong({ initialPageParam: 1 }),
        wrong(undefined),
      ),
    "Cannot create infinite query: input must be a function and options an object, as in (cursor) => ({ cursor }), { initialPageParam: 0, getNextPageParam }, received an object and undefined",
  ],
  "The address of Redis instead of its client": [
    () => createRedisSessionStore(wrong({ client: "redis://localhost" })),
    "client must be a client of npm:redis 5 or 6 (createClient, createSentinel, createCluster)",
  ],
  "The store of another module": [
    () =>
      createAuthPlugin({
        session: {
          secret: SECRET,
          strategy: "cookie",
          store: wrong(
            createRedisStore({ client: createRedisClient(), name: "app" }),
          ),
        },
        providers,
      }),
    "session.store must be a store, such as createRedisSessionStore(), received an object without a function deleteByUser",
  ],
};

for (const [mistake, [run, message]] of Object.entries(SETTINGS)) {
  Deno.test(`${mistake} throws an error that says what is expected`, () => {
    assertStringIncludes(assertThrows(run, TypeError).message, message);
  });
}

Deno.test("A short secret throws in production, with the command for a longer one", async () => {
  const code = `import { createAuthPlugin } from "@quartet/kit/auth";
createAuthPlugin({ session: { secret: "short" }, providers: [] });`;
  const child = startDeno(["eval", code], ROOT, {
    env: { DENO_ENV: "production" },
  });
  assertEquals(await child.code, 1);
  assertStringIncludes(
    child.stderr,
    "Cannot create auth plugin: session.secret must be at least 32 bytes long in production, received 5; make one with: openssl rand -base64 32",
  );
});

/** Answers one request, and returns the errors that the app reports. */
async function errorsOf(
  route: Route,
  plugins = [createAuthPlugin({ session: { secret: SECRET }, providers })],
): Promise<string[]> {
  const errors: string[] = [];
  await using app = createApp({
    plugins,
    routes: [route],
    onError: (error) => errors.push(String(error)),
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(response.status, 500);
  assertEquals(await response.json(), {
    error: {
      code: "INTERNAL_ERROR",
      message: "The server could not answer this request",
    },
  });
  return errors;
}

Deno.test("Each handler requires a Request, not its URL or another framework's context", async () => {
  const tracer = createTracer();
  const auth = createAuthPlugin({ session: { secret: SECRET }, providers });
  const authorize = () => true;
  const handlers: Record<string, (request: Request) => unknown> = {
    app: createApp().fetch,
    withPlugins: withPlugins([], () => new Response("hello")).fetch,
    middleware: (request) =>
      toMiddleware(auth)(request, undefined, () => new Response("hello")),
    auth: auth.authenticate,
    router: (request) => router.handler(request, {}),
    revalidation: createRevalidationHandler(SECRET),
    viewer: createViewerHandler({ authorize }),
    traces: createTracesAPIHandler(tracer, { authorize }),
    otlp: createOTLPReceiver(tracer, { authorize }),
    stream: createTraceWebSocket(tracer, { authorize }).upgrade,
  };
  const raw = new Request("http://localhost/?path=math.double");
  const { url, method, headers } = raw;
  for (const [name, handler] of Object.entries(handlers)) {
    for (
      const given of [
        url,
        { req: { raw } },
        { url, method },
        { url: "/", method, headers: Object.fromEntries(headers) },
      ]
    ) {
      await assertRejects(
        async () => await handler(wrong(given)),
        TypeError,
        "Cannot handle request: it must be a Request, received ",
        name,
      );
    }
  }
});

Deno.test("A guard without the auth plugin reports which plugin is missing", async () => {
  const route = { path: "/", config: { ...requireAuth() }, loader: () => 1 };
  assertEquals(await errorsOf(route, []), [
    "TypeError: Cannot get auth: the auth plugin has not run for this request; add createAuthPlugin() to the app's plugins, before what needs it; on Hono: app.use(toHono(auth)) first",
  ]);
});

Deno.test("Asking a value that isn't a context for the user reports what to pass", async () => {
  const expected =
    "Cannot get auth: context must be the context of a request, such as currentContext() or Hono's c (also as the ctx of handle(), handler() and createCaller() of RPC), received ";
  for (
    const [value, received] of [
      [undefined, "undefined"],
      [new Request("http://localhost/"), "an object without a function get"],
    ] as const
  ) {
    assertThrows(() => getUser(wrong(value)), TypeError, expected + received);
  }

  const auth = createAuthPlugin({ session: { secret: SECRET }, providers });
  const errors: unknown[] = [];
  const me = createRouter({
    me: procedure.query(({ ctx }) => auth.getUser(ctx)?.id),
  }, { onError: (error) => errors.push(error) });
  const rejected = await assertRejects(() => createCaller(me).me.query());
  const rpc = rpcPlugin({ router: me });
  const request = new Request("http://localhost/api/rpc?path=me");
  const response = await rpc.handle(request, { info: undefined });
  assertEquals(response?.status, 500);
  assertEquals([rejected, ...errors].map(String), [
    `TypeError: ${expected}undefined`,
    `TypeError: ${expected}an object without a function get`,
  ]);
});

Deno.test("A cached function that asks for the user reports how to pass the user", async () => {
  const cached = (context: unknown) =>
    cacheFunction(() => getUser(wrong(context))?.id, ["greet"])();
  const errors = await errorsOf({
    path: "/",
    loader: ({ context }) => cached(context),
  });
  assertEquals(errors.length, 1);
  assertStringIncludes(
    errors[0]!,
    "the function must not ask who sent the request, because all callers share its value; pass the user's id as an argument",
  );
});

Deno.test("A sign-in with credentials at an OAuth provider reports what to use", async () => {
  const auth = createAuthPlugin({
    session: { secret: SECRET },
    providers: [github({ clientId: "id", clientSecret: "secret" })],
  });
  await using app = createApp({ plugins: [auth] });
  app.route({
    path: "/",
    config: { ...publicAction() },
    action: ({ context }) => auth.getAuth(context).signIn("github", {}),
  });
  const request = new Request("http://localhost/", { method: "POST" });
  const response = await app.fetch(request);
  assertEquals(response.status, 401);
  assertEquals((await response.json()).error, {
    code: "INVALID_CREDENTIALS",
    message: 'Provider "github" signs in by getOAuthUrl()',
  });
});

Deno.test("A sign-in that isn't awaited is logged, because its cookie is lost", async () => {
  const { error } = console;
  const lines: string[] = [];
  console.error = (line: string) => void lines.push(line);
  try {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    await using app = createApp({
      plugins: [createAuthPlugin({ session: { secret: SECRET }, providers })],
      routes: [{
        path: "/",
        config: { ...publicAction() },
        action({ context }) {
          resolve(getAuth(context).signIn("credentials", { name: "ada" }));
          return "too early";
        },
      }],
    });
    const request = new Request("http://localhost/", { method: "POST" });
    const response = await app.fetch(request);
    assertEquals(response.headers.getSetCookie(), []);
    await response.body?.cancel();
    await promise;
  } finally {
    console.error = error;
  }
  assertEquals(lines, [
    "Cannot set the session's cookie: the response was ready before the sign-in was; await it in the handler",
  ]);
});

Deno.test("An output that can't be sent reports what to return or set, over HTTP and on a socket", async () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const unsent =
    "Cannot answer a call: JSON can't represent its output; set a transformer for the router";
  const cases: [unknown, string, RegExp][] = [
    [
      new Response("hello"),
      "Cannot answer a call: its output must be data, received a Response; return what it contains, or throw an RPCError",
      /undefined/,
    ],
    [1n, unsent, /BigInt/],
    [cycle, unsent, /circ/],
  ];
  for (const [output, message, cause] of cases) {
    const errors: Error[] = [];
    const router = createRouter({
      query: procedure.query((): unknown => output),
      stream: procedure.subscription(async function* (): AsyncGenerator {
        yield output;
      }),
    }, { onError: (error) => errors.push(error as Error) });
    await using app = createApp({ plugins: [rpcPlugin({ router })] });
    const server = await app.serve({ port: 0, onListen() {} });
    const httpEndpoint = `http://127.0.0.1:${server.address.port}/api/rpc`;
    const rpc = wrong(createClient({ httpEndpoint }));
    const failures = [
      () => rpc.query.query(),
      async () => {
        for await (const _ of rpc.stream.subscribe()) { /* none comes */ }
      },
    ];
    for (const fail of failures) {
      const error = await assertRejects(fail, RPCClientError);
      assertEquals(error.code, "INTERNAL_ERROR");
    }
    assertEquals(errors.map(String), Array(2).fill(`TypeError: ${message}`));
    for (const error of errors) assertMatch(`${error.cause}`, cause);
    await server.shutdown();
  }
});

Deno.test("Wrong calls of procedures reject with the right call", async () => {
  await using app = createApp({ plugins: [rpcPlugin({ router })] });
  const server = await app.serve({ port: 0, onListen() {} });
  const at = (path: string) => {
    const httpEndpoint = `http://127.0.0.1:${server.address.port}${path}`;
    return { httpEndpoint, rpc: wrong(createClient({ httpEndpoint })) };
  };
  const { rpc } = at("/api/rpc");
  const elsewhere = at("/rpc");
  const calls: [() => Promise<unknown>, string][] = [
    [
      () => rpc.math.double.mutate(),
      "Cannot call math.double as a mutation: it is a query, use query()",
    ],
    [
      () => rpc.math.set.query(),
      "Cannot call math.set as a query: it is a mutation, use mutate()",
    ],
    [
      () => rpc.math.count.query(),
      "Cannot call math.count over HTTP: it is a subscription, use subscribe() and a WebSocket",
    ],
    [() => rpc.math.doubel.query(), "Procedure not found: math.doubel"],
    [
      () => elsewhere.rpc.math.double.query(),
      `Cannot call math.double at ${elsewhere.httpEndpoint}: 404, check httpEndpoint`,
    ],
  ];
  for (const [call, message] of calls) {
    await assertRejects(call, Error, message);
  }
  await server.shutdown();
});

Deno.test({
  name: needsRedis("A Redis client that isn't connected works", hasRedisServer),
  ignore: !hasRedisServer,
  async fn() {
    await using redis = await startRedis();
    const client = createRedisClient({ url: redis.url });
    const store = createRedisSessionStore({ client, timeout: UNHURRIED });
    assertEquals(await store.get("id"), undefined);
    await store.close();
  },
});
