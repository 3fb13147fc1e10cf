import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  currentContext,
  errorResponse,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import type { ConnectionInfo, Mountable } from "@quartet/kit/app";
import { getAuth } from "@quartet/kit/auth";
import { createKit } from "./kit.ts";

const get = (path = "/") => new Request(`http://localhost${path}`);

Deno.test("withPlugins() passes the server's connection info to a handler of any type", async () => {
  const seen: unknown[] = [];
  const handler = (
    _request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Response => {
    seen.push(info);
    return new Response(info.remoteAddr.hostname);
  };
  const { fetch: answer } = withPlugins([], handler);
  const given: unknown[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request, info) => {
      given.push(info);
      return answer(request, info);
    },
  );
  const response = await fetch(`http://127.0.0.1:${server.addr.port}/`);
  assertEquals(await response.text(), "127.0.0.1");
  assert(seen[0] === given[0]);
  await server.shutdown();
});

Deno.test("withPlugins() answers when a handler throws or returns nothing", async () => {
  const answers: Record<string, () => unknown> = {
    "/response": () => {
      throw errorResponse(418, "TEAPOT", "Short and stout");
    },
    "/error": () => {
      throw new Error("inside");
    },
    "/nothing": () => undefined,
    "/null": () => null,
  };
  const errors: unknown[] = [];
  const handler = (request: Request) =>
    answers[new URL(request.url).pathname]!();
  const app = withPlugins([], handler as () => Response, {
    onError: (error) => errors.push(error),
  });
  const statuses: number[] = [];
  for (const path of Object.keys(answers)) {
    const response = await app.fetch(get(path));
    statuses.push(response.status);
    assertMatch(await response.text(), /^\{"error":\{"code":/);
  }
  assertEquals(statuses, [418, 500, 500, 500]);
  assertEquals(errors.map(String), [
    "Error: inside",
    "TypeError: Cannot answer GET /nothing: the handler must return a Response, received undefined",
    "TypeError: Cannot answer GET /null: the handler must return a Response, received null",
  ]);
});

Deno.test("withPlugins() matches plugins' routes before it calls the handler", async () => {
  const log: string[] = [];
  const app = withPlugins([{
    name: "health",
    routes: [{ path: "/health", loader: () => "fine" }],
    setup: () => void log.push("setup"),
    close: () => void log.push("close"),
  }], () => new Response("handler"));
  assertEquals(await (await app.fetch(get("/health"))).json(), "fine");
  assertEquals(await (await app.fetch(get("/healthy"))).text(), "handler");
  await app.close();
  await app.close();
  assertEquals(log, ["setup", "close"]);
});

Deno.test("withPlugins() rejects an invalid handler and duplicate plugin names", () => {
  assertThrows(
    () => withPlugins([], null as never),
    TypeError,
    "Cannot put plugins around a handler: the handler must be a function, received null",
  );
  for (
    const [wrong, received] of [
      [{ fetch: () => new Response() }, "an app; pass app.fetch"],
      [{}, "an object"],
      ["secret", "a string"],
    ] as const
  ) {
    const { message } = assertThrows(() => withPlugins([], wrong as never));
    assertEquals(
      message,
      `Cannot put plugins around a handler: the handler must be a function, received ${received}`,
    );
  }
  using kit = createKit();
  assertThrows(
    () => withPlugins([kit.auth, kit.auth], () => new Response()),
    TypeError,
    'two plugins are called "auth"',
  );
  assertThrows(
    () => withPlugins(kit.auth as never, () => new Response()),
    TypeError,
    "Cannot mount parts: parts must be an array of plugins, middlewares and guards, received an object",
  );
});

Deno.test("currentContext() returns the request's context, and throws outside a request", async () => {
  assertThrows(currentContext, TypeError, "Cannot get the current context");
  using kit = createKit();
  const app = withPlugins([kit.auth], async () => {
    await Promise.resolve();
    return Response.json(getAuth(currentContext()).isAuthenticated());
  });
  assertEquals(await (await app.fetch(get())).json(), false);
  assertThrows(currentContext, TypeError, "Cannot get the current context");
});

Deno.test("toMiddleware() rethrows an error that no plugin handles", async () => {
  using kit = createKit();
  const kitMiddleware = toMiddleware(kit.trace, kit.auth);
  const failure = new Error("inside");
  let thrown: unknown;
  try {
    await kitMiddleware(get(), undefined, () => Promise.reject(failure));
  } catch (error) {
    thrown = error;
  }
  assert(thrown === failure);
  assertEquals(kit.tracer.getTraces()[0]?.metadata.statusCode, 500);
});

Deno.test("toMiddleware() throws if next() returns no response, also without plugins", async () => {
  const next = () => undefined as unknown as Response;
  const passing: Mountable = (_request, _context, next) => next();
  for (const parts of [[], [passing]]) {
    await assertRejects(
      () => toMiddleware(...parts)(get(), undefined, next),
      TypeError,
      "must return a Response, received undefined",
    );
  }
});

Deno.test("toMiddleware() waits for a next() call that its middleware didn't await", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const log: string[] = [];
  let late: (() => Promise<Response>) | undefined;
  const hasty: Mountable = (_request, _context, next) => {
    next().then(() => log.push("the server has answered"));
    return new Response("hasty");
  };
  const later: Mountable = (_request, _context, next) => {
    late = next;
    return new Response("done");
  };
  const answer = toMiddleware(hasty)(get(), undefined, async () => {
    await promise;
    return new Response("slow");
  });
  resolve();
  const response = await answer;
  assertEquals(await response.text(), "hasty");
  assertEquals(log, ["the server has answered"]);

  await toMiddleware(later)(get(), undefined, () => new Response("too late"));
  let message = "";
  await late!().catch((error: Error) => message = error.message);
  assertEquals(message, "Cannot call next(): the request was answered before");
});

Deno.test("toMiddleware() shares the context between middlewares of one request only", async () => {
  const outer = toMiddleware((_request, context, next) => {
    context.set("seen", true);
    return next();
  });
  const inner = toMiddleware((_request, context) =>
    Response.json(context.get("seen") ?? false)
  );
  const info: ConnectionInfo | undefined = undefined;
  const none = () => new Response(null, { status: 404 });
  const ask = async (request: Request, other = request) =>
    await (await outer(request, info, () => inner(other, info, none))).json();
  const request = get();
  assertEquals(await ask(request), true);
  assertEquals(await ask(request, get("/other")), false);
});
