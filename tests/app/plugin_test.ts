import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createApp, currentContext } from "@quartet/kit/app";
import type { Plugin, PluginHost } from "@quartet/kit/app";
import { cacheResponse } from "@quartet/kit/data";
import { rpcPlugin } from "@quartet/kit/rpc";
import { tracePlugin } from "@quartet/kit/trace";
import { RunningScopes } from "../../app/shutdown.ts";
import { RequestScope } from "../../core/request_scope.ts";
import { assertLinear } from "../growth.ts";

const get = (path = "/") => new Request(`http://localhost${path}`);

Deno.test("A plugin's middlewares and routes come before the app's", async () => {
  const order: string[] = [];
  const note = (name: string) =>
  (
    _request: Request,
    _context: unknown,
    next: () => Promise<Response>,
  ) => {
    order.push(name);
    return next();
  };
  const app = createApp({
    plugins: [
      {
        name: "first",
        middleware: [note("first, a"), note("first, b")],
        routes: [{ path: "/plugin", handler: () => new Response("plugin") }],
      },
      { name: "second", middleware: note("second") },
    ],
    trace: { name: "trace", middleware: note("trace") },
  });
  app.use(note("app"));
  const response = await app.fetch(get("/plugin"));
  assertEquals(await response.text(), "plugin");
  assertEquals(order, ["trace", "first, a", "first, b", "second", "app"]);
});

Deno.test("createApp() rejects two plugins with the same name", () => {
  const plugin: Plugin = { name: "cache" };
  const error = assertThrows(
    () => createApp({ plugins: [plugin, { name: "cache" }] }),
    TypeError,
  );
  assertEquals(
    error.message,
    'Cannot create app: the names of plugins must be unique, but two plugins are called "cache"; pass one of them',
  );
});

Deno.test("setup() runs once with the app, before the first of many requests is answered", async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  let given: PluginHost | undefined;
  const app = createApp({
    plugins: [
      {
        name: "slow",
        async setup(app) {
          given = app;
          order.push("slow begins");
          await gate.promise;
          app.route({ path: "/late", handler: () => new Response("late") });
          order.push("slow is ready");
        },
      },
      { name: "second", setup: () => void order.push("second is ready") },
    ],
    routes: [{
      path: "/",
      handler: () => {
        order.push("request");
        return new Response();
      },
    }],
  });
  assertEquals(order, [], "nothing runs before a request arrives");
  const responses = Promise.all([app.fetch(get()), app.fetch(get())]);
  gate.resolve();
  await responses;
  assertStrictEquals(given, app);
  assertEquals(order, [
    "slow begins",
    "slow is ready",
    "second is ready",
    "request",
    "request",
  ]);
  assertEquals(await (await app.fetch(get("/late"))).text(), "late");
});

Deno.test("setup() and the work that it starts run outside any request", async () => {
  const worker = Promise.withResolvers<void>();
  const app = createApp({
    plugins: [{
      name: "worker",
      async setup() {
        assertThrows(currentContext, TypeError);
        await undefined;
        setTimeout(() => {
          assertThrows(currentContext, TypeError);
          worker.resolve();
        });
      },
    }],
    routes: [{ path: "/", handler: () => new Response("here") }],
  });
  assertEquals(await (await app.fetch(get())).text(), "here");
  await worker.promise;
});

for (
  const [how, setup] of [
    ["throws", () => {
      throw new Error("no database");
    }],
    ["rejects", () => Promise.reject(new Error("no database"))],
  ] as const
) {
  Deno.test(`A setup() that ${how} makes every request a 500 and serve() reject`, async () => {
    const messages: string[] = [];
    let setups = 0;
    const app = createApp({
      onError: (error) => messages.push((error as Error).message),
      plugins: [{
        name: "database",
        setup() {
          setups++;
          return setup();
        },
      }],
      routes: [{ path: "/", handler: () => new Response("never") }],
    });
    for (let i = 0; i < 2; i++) {
      const response = await app.fetch(get());
      assertEquals(response.status, 500);
      assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
    }
    assertEquals(messages, ["no database", "no database"]);
    await assertRejects(() => app.serve({ port: 0 }), Error, "no database");
    assertEquals(setups, 1);
  });
}

Deno.test("close() closes each plugin once, in reverse order, one after another", async () => {
  const order: string[] = [];
  const plugin = (name: string): Plugin => ({
    name,
    async close() {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} is closed`);
    },
  });
  const app = createApp({
    trace: plugin("trace"),
    plugins: [plugin("a"), { name: "nothing" }, plugin("b")],
  });
  await Promise.all([app.close(), app.close()]);
  await app.close();
  assertEquals(order, [
    "b begins",
    "b is closed",
    "a begins",
    "a is closed",
    "trace begins",
    "trace is closed",
  ]);
});

Deno.test("close() closes all plugins even if some fail, and reports all failures", async () => {
  const closed: string[] = [];
  const fails = (name: string): Plugin => ({
    name,
    close() {
      closed.push(name);
      throw new Error(name);
    },
  });
  const one = createApp({
    plugins: [{ name: "a", close: () => void closed.push("a") }, fails("b")],
  });
  await assertRejects(() => one.close(), Error, "b");
  assertEquals(closed, ["b", "a"]);

  const two = createApp({ plugins: [fails("c"), fails("d")] });
  const error = await assertRejects(() => two.close(), AggregateError);
  assertEquals(
    error.errors.map(({ message }: Error) => message),
    ["d", "c"],
  );
  assertEquals(
    error.message,
    'Cannot close app: the plugins "d", "c" failed to close',
  );
});

Deno.test("close() waits for every running request, in whatever order they end", async () => {
  const gates = new Map(
    ["a", "b", "c", "d"].map((id) => [id, Promise.withResolvers<void>()]),
  );
  let isClosed = false;
  const app = createApp({
    plugins: [{ name: "it", close: () => void (isClosed = true) }],
    routes: [
      {
        path: "/:id",
        handler: async (_, { params }) => {
          await gates.get(params.id!)!.promise;
          // A call from within a running request is a part of it.
          return await app.fetch(new Request("http://localhost/inner/x"));
        },
      },
      { path: "/inner/x", handler: () => new Response("inner") },
    ],
  });
  const answers = Array.from(
    gates.keys(),
    (id) => app.fetch(new Request(`http://localhost/${id}`)),
  );
  await new Promise((resolve) => setTimeout(resolve));
  const closing = app.close();
  for (const id of ["b", "d", "a", "c"]) {
    assertEquals(isClosed, false, `${id} is running`);
    gates.get(id)!.resolve();
    const response = await answers[[...gates.keys()].indexOf(id)]!;
    assertEquals([response.status, await response.text()], [200, "inner"]);
  }
  await closing;
  assertEquals(isClosed, true);
});

Deno.test("close() takes linear time in the number of running requests", async () => {
  await assertLinear("Ending requests while an app closes", {
    lengths: [1_000, 10_000],
    prepare(count) {
      const running = new RunningScopes();
      const scopes = Array.from(
        { length: count },
        () => new RequestScope(undefined, undefined),
      );
      for (const scope of scopes) running.add(scope);
      return { running, scopes };
    },
    async run({ running, scopes }) {
      const ended = running.end(() => Promise.resolve());
      for (const scope of scopes) running.remove(scope);
      await ended;
    },
  });
});

Deno.test("createApp() rejects a function as a plugin, though it has a name", () => {
  const CALL_IT =
    "must be a plugin, such as tracePlugin(tracer), received a function; call it, as in rpcPlugin({ router }), or pass it to app.use() if it is a middleware";
  const middleware = cacheResponse({ maxAge: 60 });
  for (
    const [create, what] of [
      // @ts-expect-error: it is not called
      [() => createApp({ plugins: [rpcPlugin] }), "plugins[0]"],
      // @ts-expect-error: it is a middleware
      [() => createApp({ plugins: [middleware] }), "plugins[0]"],
      // @ts-expect-error: it is not called
      [() => createApp({ trace: tracePlugin }), "trace"],
    ] as const
  ) {
    assertEquals(
      assertThrows(create, TypeError).message,
      `Cannot create app: ${what} ${CALL_IT}`,
    );
  }
});
