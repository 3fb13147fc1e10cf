import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import type { AuthRule, Route } from "@quartet/kit/app";

/** Answers a request with an app of these routes. */
async function ask(
  routes: readonly Route[],
  path: string,
  init?: RequestInit,
): Promise<{ status: number; text: string; headers: Headers }> {
  const errors: unknown[] = [];
  const app = createApp({ routes, onError: (error) => errors.push(error) });
  const response = await app.fetch(new Request(`http://h${path}`, init));
  const { status, headers } = response;
  if (status !== 500) assertEquals(errors, []);
  return { status, headers, text: await response.text() };
}

const says = (text: string) => () => new Response(text);
const echo = (path: string): Route => ({
  path,
  loader: ({ params }) => params,
});

async function paramsOf(pattern: string, path: string): Promise<unknown> {
  const { status, text } = await ask([echo(pattern)], path);
  return status === 200 ? JSON.parse(text) : status;
}

Deno.test("A route's parameters are decoded once", async () => {
  assertEquals(await paramsOf("/a/:x", "/a/1"), { x: "1" });
  assertEquals(await paramsOf("/a/:x/:y", "/a/1/2"), { x: "1", y: "2" });
  assertEquals(await paramsOf("/a/:x", "/a/caf%C3%A9%20%F0%9F%8D%B0"), {
    x: "café 🍰",
  });
  assertEquals(await paramsOf("/a/:x", "/a/1%2F2"), { x: "1/2" });
  assertEquals(await paramsOf("/a/:x", "/a/%252F"), { x: "%2F" });
  assertEquals(await paramsOf("/a/:x", "/a/1+2"), { x: "1+2" });
});

Deno.test("A parameter is never empty and never spans two segments", async () => {
  assertEquals(await paramsOf("/a/:x", "/a"), 404);
  assertEquals(await paramsOf("/a/:x", "/a/"), 404);
  assertEquals(await paramsOf("/a/:x", "/a/1/2"), 404);
});

Deno.test("A handler reads the parameters from its context", async () => {
  const { text } = await ask([{
    path: "/:name",
    handler: (_request, { params }) => new Response(params.name!),
  }], "/ada");
  assertEquals(text, "ada");
});

Deno.test("A parameter may be named like a property of Object.prototype", async () => {
  const { text } = await ask([{
    path: "/:constructor/:toString",
    loader: ({ params }) => [params.constructor, params.toString],
  }], "/a/b");
  assertEquals(JSON.parse(text), ["a", "b"]);
});

for (const escape of ["%", "%4", "%zz", "%ff", "%C3", "%ED%A0%80"]) {
  Deno.test(`A path parameter with the malformed escape ${escape} is a 400`, async () => {
    for (const pattern of ["/a/:x", "/a/*", "/a/**"]) {
      const { status, text } = await ask([echo(pattern)], `/a/${escape}`);
      assertEquals(status, 400);
      assertEquals(JSON.parse(text).error.code, "BAD_REQUEST");
    }
  });
}

Deno.test("A * matches one or more segments, at the end also none, and /**:name the rest as a parameter", async () => {
  assertEquals(await paramsOf("/a/*", "/a/1"), { 0: "1" });
  assertEquals(await paramsOf("/a/*", "/a/1/2%20"), { 0: "1/2 " });
  assertEquals(await paramsOf("/a/*", "/a"), {});
  assertEquals(await paramsOf("/a/*/c", "/a/1/2/c"), { 0: "1/2" });
  assertEquals(await paramsOf("/a/*/c", "/a/c"), 404);
  assertEquals(await paramsOf("/a/**:rest", "/a/1/2"), { rest: "1/2" });
  assertEquals(await paramsOf("/a/**:rest", "/a"), 404);
});

Deno.test("The more specific route wins, in any order of adding", async () => {
  const routes: Route[] = [
    { path: "/**", handler: says("rest") },
    { path: "/a/:x", handler: says("parameter") },
    { path: "/a/b", handler: says("exact") },
  ];
  for (const table of [routes, routes.toReversed()]) {
    assertEquals((await ask(table, "/a/b")).text, "exact");
    assertEquals((await ask(table, "/a/c")).text, "parameter");
    assertEquals((await ask(table, "/b")).text, "rest");
  }
});

Deno.test("A static route for another method doesn't hide a parameter's route", async () => {
  const routes: Route[] = [
    { path: "/a", method: "POST", handler: says("post") },
    { path: "/:x", handler: says("parameter") },
  ];
  assertEquals((await ask(routes, "/a")).text, "parameter");
  assertEquals((await ask(routes, "/a", { method: "POST" })).text, "post");
});

Deno.test("Paths ignore a trailing slash and are case-sensitive", async () => {
  assertEquals((await ask([echo("/a")], "/a/")).status, 200);
  assertEquals((await ask([echo("/a/")], "/a")).status, 200);
  assertEquals((await ask([echo("/a")], "/A")).status, 404);
});

Deno.test("A route's path may contain any letters", async () => {
  assertEquals((await ask([echo("/länder")], "/l%C3%A4nder")).status, 200);
  assertEquals((await ask([echo("/länder")], "/länder")).status, 200);
});

Deno.test("Routes are matched without the query", async () => {
  assertEquals((await ask([echo("/a")], "/a?b=/c#d")).status, 200);
});

Deno.test("A path without a route is a 404 in JSON", async () => {
  const { status, text, headers } = await ask([echo("/a")], "/b");
  assertEquals(status, 404);
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(JSON.parse(text), {
    error: { code: "NOT_FOUND", message: "There is nothing at this path" },
  });
});

Deno.test("An app without tracing answers 404 where its traces would be, and how to get them", async () => {
  for (const path of ["/__app/traces", "/__app/traces/api"]) {
    const { status, text } = await ask([echo("/a")], path);
    assertEquals(status, 404);
    assertEquals(
      JSON.parse(text).error.message,
      "Nothing is traced here: mount tracePlugin(tracer), or start the dev command with --trace",
    );
  }
});

Deno.test("A method without a route is a 405 that lists the allowed methods", async () => {
  const routes: Route[] = [
    { path: "/a/:x", loader: () => 1 },
    { path: "/a/b", method: "PUT", handler: says("put") },
    { path: "/c", method: "POST", handler: says("post") },
  ];
  const { status, text, headers } = await ask(routes, "/a/b", {
    method: "DELETE",
  });
  assertEquals(status, 405);
  assertEquals(headers.get("allow"), "GET, HEAD, PUT");
  assertEquals(JSON.parse(text).error, {
    code: "METHOD_NOT_ALLOWED",
    message: "This path does not allow DELETE; it allows GET, HEAD, PUT",
  });
  const { headers: others } = await ask(routes, "/c");
  assertEquals(others.get("allow"), "POST");
});

Deno.test("HEAD is answered like GET, without the body", async () => {
  const cancelled = Promise.withResolvers<void>();
  const app = createApp({
    routes: [
      { path: "/text", handler: says("hello") },
      {
        path: "/stream",
        handler: () =>
          new Response(
            new ReadableStream({ cancel: () => cancelled.resolve() }),
            {
              status: 203,
              headers: { "x-kept": "yes" },
            },
          ),
      },
    ],
  });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const url = `http://127.0.0.1:${server.address.port}`;
  const text = await fetch(`${url}/text`, { method: "HEAD" });
  assertEquals(await text.text(), "");
  assertEquals(text.headers.get("content-length"), "5");
  const stream = await fetch(`${url}/stream`, { method: "HEAD" });
  assertEquals([stream.status, await stream.text()], [203, ""]);
  assertEquals(stream.headers.get("x-kept"), "yes");
  await cancelled.promise;
  await server.shutdown();
});

Deno.test("A Response that was already sent becomes a 500, and the log says why", async () => {
  const kept = new Response("once");
  const { status } = await ask([{ path: "/", handler: () => kept }], "/");
  assertEquals(status, 200);
  const again = await ask([{ path: "/", handler: () => kept }], "/");
  assertEquals(again.status, 500);
  assertStringIncludes(again.text, "INTERNAL_ERROR");
});

Deno.test("HEAD matches GET routes and routes for any method", async () => {
  const named = (path: string, method: string): Route => ({
    path,
    method,
    handler: () => new Response(null, { headers: { "x-route": path } }),
  });
  const routes = [
    named("/a", "GET"),
    named("/b", "*"),
    named("/c", "GET"),
    named("/c", "HEAD"),
    named("/d", "POST"),
    named("/**", "*"),
  ];
  const routeOf = async (path: string, method: string) =>
    (await ask(routes, path, { method })).headers.get("x-route");
  for (
    const [path, route] of [
      ["/a", "/a"],
      ["/b", "/b"],
      ["/c", "/c"],
      ["/d", "/**"],
      ["/e", "/**"],
    ] as const
  ) {
    assertEquals(await routeOf(path, "GET"), route);
    assertEquals(await routeOf(path, "HEAD"), route);
  }
  assertEquals(await routeOf("/a", "PUT"), "/**");
});

Deno.test("Allow lists HEAD once, with or without its own route", async () => {
  const routes: Route[] = [
    { path: "/a", handler: says("get") },
    { path: "/b", handler: says("get") },
    { path: "/b", method: "HEAD", handler: says("") },
  ];
  for (const path of ["/a", "/b"]) {
    const { headers } = await ask(routes, path, { method: "PUT" });
    assertEquals(headers.get("allow"), "GET, HEAD");
  }
});

Deno.test("HEAD runs its own handler if a route has one", async () => {
  const routes: Route[] = [
    { path: "/", handler: says("get") },
    {
      path: "/",
      method: "HEAD",
      handler: () => new Response(null, { headers: { "x-own": "yes" } }),
    },
  ];
  const { headers } = await ask(routes, "/", { method: "HEAD" });
  assertEquals(headers.get("x-own"), "yes");
});

Deno.test("A handler answers GET unless its route sets a method, in any case", async () => {
  const routes: Route[] = [
    { path: "/", handler: says("get") },
    { path: "/", method: "post", handler: says("post") },
    {
      path: "/any",
      method: "*",
      handler: ({ method }) => new Response(method),
    },
  ];
  assertEquals((await ask(routes, "/")).text, "get");
  assertEquals((await ask(routes, "/", { method: "POST" })).text, "post");
  for (const method of ["GET", "DELETE", "OPTIONS", "PROPFIND"]) {
    assertEquals((await ask(routes, "/any", { method })).text, method);
  }
});

for (
  const [what, value, status, body] of [
    ["a Response unchanged", new Response("x", { status: 418 }), 418, "x"],
    ["an object as JSON", { a: [1] }, 200, '{"a":[1]}'],
    ["a string as JSON", "a", 200, '"a"'],
    ["null as JSON", null, 200, "null"],
    ["0 as JSON", 0, 200, "0"],
    ["false as JSON", false, 200, "false"],
    ["undefined as 204", undefined, 204, ""],
  ] as const
) {
  Deno.test(`A loader or an action sends ${what}`, async () => {
    const give = () => value instanceof Response ? value.clone() : value;
    const route = {
      path: "/",
      loader: give,
      action: () => Promise.resolve(give()),
    };
    for (const method of ["GET", "POST"]) {
      const answer = await ask([route], "/", { method });
      assertEquals(answer.status, status);
      assertEquals(answer.text, body);
      if (status === 200) {
        assertEquals(answer.headers.get("content-type"), "application/json");
      }
    }
  });
}

Deno.test("A thenable is awaited even if it's callable", async () => {
  // Like the promises of some remote objects, whose calls can be chained.
  const callable = <T>(value: T) =>
    Object.assign(() => {}, {
      then: (resolve: (value: T) => void) => resolve(value),
    }) as unknown as Promise<T>;
  const route: Route = {
    path: "/",
    config: {
      auth: { required: false, check: () => callable(undefined) },
    },
    loader: () => callable({ a: 1 }),
  };
  assertEquals((await ask([route], "/")).text, '{"a":1}');
  const handler = () => callable(new Response("hi"));
  assertEquals((await ask([{ path: "/", handler }], "/")).text, "hi");
});

Deno.test("A value that JSON can't represent is a 500, and the log names its route", async () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const values: [unknown, string][] = [
    [
      { id: 1n },
      "Do not know how to serialize a BigInt); return it as a string",
    ],
    [circular, "Converting circular structure to JSON)"],
    [() => {}, "Value is not JSON serializable)"],
  ];
  for (const [value, problem] of values) {
    const errors: string[] = [];
    await using app = createApp({
      routes: [{ path: "/a", loader: () => value, action: () => value }],
      onError: (error) => errors.push(String(error)),
    });
    for (const method of ["GET", "POST"]) {
      const request = new Request("http://localhost/a", { method });
      const response = await app.fetch(request);
      assertEquals(response.status, 500);
      assertEquals((await response.json()).error, {
        code: "INTERNAL_ERROR",
        message: "The server could not answer this request",
      });
    }
    assertEquals(
      errors,
      ["loader:/a", "form:/a"].map((name) =>
        `TypeError: Cannot send the result of ${name}: it must be a Response or data for JSON, received a value that JSON cannot hold (${problem}`
      ),
    );
  }
});

Deno.test("An error of a value's toJSON() is reported as it is", async () => {
  const thrown = new RangeError("no text");
  const toJSON = () => {
    throw thrown;
  };
  const errors: unknown[] = [];
  await using app = createApp({
    routes: [{ path: "/", loader: () => ({ toJSON }) }],
    onError: (error) => errors.push(error),
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals([response.status, errors], [500, [thrown]]);
});

Deno.test("A loader answers GET, an action POST, PUT, PATCH and DELETE", async () => {
  const route: Route = {
    path: "/",
    loader: () => "loader",
    action: ({ request }) => request.method,
  };
  assertEquals((await ask([route], "/")).text, '"loader"');
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    assertEquals((await ask([route], "/", { method })).text, `"${method}"`);
  }
  const { status, headers } = await ask([route], "/", { method: "OPTIONS" });
  assertEquals(status, 405);
  assertEquals(
    headers.get("allow"),
    "DELETE, GET, HEAD, PATCH, POST, PUT",
  );
});

Deno.test("An action reads the request's body", async () => {
  const { text } = await ask(
    [{
      path: "/",
      action: async ({ request }) => (await request.json()).a,
    }],
    "/",
    { method: "POST", body: '{"a":7}' },
  );
  assertEquals(text, "7");
});

const BAD: readonly (readonly [what: string, route: unknown, error: string])[] =
  [
    [
      "no path",
      { handler: says("") },
      'Cannot add route: path must be a string that begins with "/", received undefined',
    ],
    [
      "a path instead of an object",
      "/a",
      'Cannot add route: it must be an object such as { path, handler }, received "/a"',
    ],
    [
      "a path without a slash",
      { path: "a", handler: says("") },
      'Cannot add route: path must be a string that begins with "/", received "a"',
    ],
    [
      "nothing to run",
      { path: "/a" },
      "Cannot add route /a: it must have a handler, a loader or an action",
    ],
    [
      "a handler and a loader",
      { path: "/a", handler: says(""), loader: says("") },
      "Cannot add route /a: it must have either a handler or a loader and an action, received both",
    ],
    [
      "a handler and an action",
      { path: "/a", handler: says(""), action: says("") },
      "Cannot add route /a: it must have either a handler or a loader and an action, received both",
    ],
    [
      "a method and a loader",
      { path: "/a", method: "GET", loader: says("") },
      "Cannot add route /a: method goes with a handler; a loader answers GET, an action POST, PUT, PATCH, DELETE",
    ],
    [
      "a handler that isn't a function",
      { path: "/a", handler: "x" },
      'Cannot add route /a: route.handler must be a function, received "x"',
    ],
    [
      "a handler that is an array",
      { path: "/a", handler: [] },
      "Cannot add route /a: route.handler must be a function, received an array",
    ],
    [
      "a loader that is null",
      { path: "/a", loader: null },
      "Cannot add route /a: route.loader must be a function, received null",
    ],
    [
      "an empty method",
      { path: "/a", method: "", handler: says("") },
      'Cannot add route /a: route.method must be an HTTP method or "*", received ""',
    ],
    [
      "a method that is a number",
      { path: "/a", method: 5, handler: says("") },
      'Cannot add route /a: route.method must be an HTTP method or "*", received 5',
    ],
    [
      "a misspelled method",
      { path: "/a", method: "GETT", handler: says("") },
      'Cannot add route /a: route.method must be an HTTP method or "*", received "GETT"',
    ],
    [
      "a named wildcard as in Express",
      { path: "/s/*name", handler: says("") },
      "Cannot add route /s/*name: a wildcard has no name after *; use /s/**:name at the end of the path",
    ],
    [
      "an optional named wildcard as in Express",
      { path: "/{*name}", handler: says("") },
      "Cannot add route /{*name}: a wildcard has no name after *; use /**:name at the end of the path",
    ],
    [
      "a parameter as in Next.js",
      { path: "/a/[id]", handler: says("") },
      "Cannot add route /a/[id]: [id] isn't a parameter; write :id",
    ],
    [
      "a parameter as in Flask",
      { path: "/a/<id>/b", handler: says("") },
      "Cannot add route /a/<id>/b: <id> isn't a parameter; write :id",
    ],
    [
      "a parameter as in OpenAPI",
      { path: "/a/{id}", handler: says("") },
      "Cannot add route /a/{id}: {id} isn't a parameter; write :id",
    ],
    [
      "an unclosed group in its path",
      { path: "/a((", handler: says("") },
      "Cannot add route /a((: a `(` must close in its own segment",
    ],
    [
      "a query in its path",
      { path: "/a?id=1", loader: says("") },
      "Cannot add route /a?id=1: path must have no query, received ?id=1; read it from context.url.searchParams",
    ],
    [
      "a query after a parameter",
      { path: "/:a?draft", handler: says("") },
      "Cannot add route /:a?draft: path must have no query, received ?draft; read it from context.url.searchParams",
    ],
    [
      "a misplaced modifier in its path",
      { path: "/a?", handler: says("") },
      "Cannot add route /a?: misplaced `?`",
    ],
    [
      "a parameter twice",
      { path: "/:a/:a", handler: says("") },
      'Cannot add route /:a/:a: duplicate param name "a"',
    ],
    [
      "an auth rule without a check",
      { path: "/a", handler: says(""), config: { auth: { required: true } } },
      "Cannot add route /a: config.auth must have a check function",
    ],
    [
      "an auth rule that is null",
      { path: "/a", loader: says(""), config: { auth: null } },
      "Cannot add route /a: config.auth must have a check function",
    ],
    [
      "an auth rule that is true",
      { path: "/a", action: says(""), config: { auth: true } },
      "Cannot add route /a: config.auth must have a check function",
    ],
    [
      "a guard under another name",
      {
        path: "/a",
        loader: says(""),
        config: { requireAuth: { auth: { required: true, check() {} } } },
      },
      "Cannot add route /a: a guard must be spread into config, as in config: { ...requireAuth() }, and config.requireAuth holds one",
    ],
    [
      "a guard outside its config",
      { path: "/a", loader: says(""), auth: { required: true, check() {} } },
      "Cannot add route /a: a guard must be spread into config, as in config: { ...requireAuth() }, and the route itself holds one",
    ],
    [
      "a list of guards",
      { path: "/a", loader: says(""), config: [{ auth: { check() {} } }] },
      "Cannot add route /a: route.config must be an object, received an array",
    ],
    [
      "null as its config",
      { path: "/a", loader: says(""), config: null },
      "Cannot add route /a: route.config must be an object, received null",
    ],
  ];

for (const [what, route, message] of BAD) {
  Deno.test(`route() rejects ${what}`, () => {
    const app = createApp();
    for (
      const add of [
        () => app.route(route as Route),
        () => createApp({ routes: [route as Route] }),
      ]
    ) {
      const error = assertThrows(add, TypeError);
      assertStringIncludes(error.message, message);
    }
  });
}

const SAME: readonly (readonly [first: Route, second: Route, error: string])[] =
  [
    [
      echo("/a"),
      echo("/a"),
      "Cannot add route GET /a: it exists already",
    ],
    [
      echo("/a"),
      { path: "/a", handler: says("") },
      "Cannot add route GET /a: it exists already",
    ],
    [
      { path: "/a", method: "*", handler: says("") },
      { path: "/a", method: "*", handler: says("") },
      "Cannot add route * /a: it exists already",
    ],
    [
      { path: "/a", action: () => 1 },
      { path: "/a", method: "PATCH", handler: says("") },
      "Cannot add route PATCH /a: it exists already",
    ],
    [
      echo("/a/:id"),
      echo("/a/:name"),
      "Cannot add route GET /a/:name: /a/:id matches the same",
    ],
    [echo("/a/"), echo("/a"), "Cannot add route GET /a: /a/ matches the same"],
    [
      { path: "/a", method: "PUT", handler: says("") },
      { path: "/a", method: "put", handler: says("") },
      "Cannot add route PUT /a: it exists already",
    ],
  ];

for (const [first, second, message] of SAME) {
  Deno.test(`route() rejects a second route: ${message}`, () => {
    const app = createApp({ routes: [first] });
    assertEquals(
      assertThrows(() => app.route(second), TypeError).message,
      message,
    );
  });
}

Deno.test("route() accepts routes that only look alike", async () => {
  const routes: Route[] = [
    { path: "/a/:id(\\d+)", handler: says("number") },
    { path: "/a/:name", handler: says("name") },
    { path: "/:x", handler: says("parameter") },
    { path: "/\\:x", handler: says("colon x") },
    { path: "/\\:y", handler: says("colon y") },
    { path: "/\\[id]", handler: says("brackets") },
    { path: "/c{/:id}?", handler: says("group") },
    { path: "/", handler: says("root") },
    { path: "/b", method: "*", handler: says("any") },
    { path: "/b", handler: says("get") },
  ];
  assertEquals((await ask(routes, "/a/7")).text, "number");
  assertEquals((await ask(routes, "/a/b")).text, "name");
  assertEquals((await ask(routes, "/:y")).text, "colon y");
  assertEquals((await ask(routes, "/[id]")).text, "brackets");
  assertEquals((await ask(routes, "/c")).text, "group");
  assertEquals((await ask(routes, "/")).text, "root");
  assertEquals((await ask(routes, "/b")).text, "get");
  assertEquals((await ask(routes, "/b", { method: "PUT" })).text, "any");
});

/** Creates a guarded route of each kind, and records whether its code ran. */
function guarded(check: AuthRule["check"]) {
  let runs = 0;
  const run = () => {
    runs++;
    return new Response("SECRET");
  };
  const config = { auth: { required: true, check } };
  const routes: Route[] = [
    { path: "/handler", method: "*", handler: run, config },
    { path: "/", loader: run, action: run, config },
  ];
  const requests = [
    ["/handler", "GET"],
    ["/handler", "HEAD"],
    ["/handler", "POST"],
    ["/", "GET"],
    ["/", "HEAD"],
    ["/", "POST"],
    ["/", "PUT"],
    ["/", "PATCH"],
    ["/", "DELETE"],
  ] as const;
  const askAll = () =>
    Promise.all(
      requests.map(([path, method]) => ask(routes, path, { method })),
    );
  return { askAll, ran: () => runs, count: requests.length };
}

for (
  const [what, status, check] of [
    [
      "refuses",
      403,
      () => new Response("no", { status: 403 }),
    ],
    [
      "refuses later",
      401,
      () => Promise.resolve(new Response("no", { status: 401 })),
    ],
    [
      "throws",
      500,
      () => {
        throw new Error("store is down");
      },
    ],
    ["rejects", 500, () => Promise.reject(new Error("store is down"))],
    [
      "throws a Response",
      303,
      () => {
        throw new Response(null, { status: 303, headers: { location: "/in" } });
      },
    ],
    ["returns false, not a Response", 500, () => false as unknown as undefined],
    ["returns true, not a Response", 500, () => true as unknown as undefined],
  ] as const
) {
  Deno.test(`A route's code doesn't run if its auth rule ${what}`, async () => {
    const { askAll, ran } = guarded(check);
    for (const answer of await askAll()) {
      assertEquals(answer.status, status);
      assert(!answer.text.includes("SECRET"));
    }
    assertEquals(ran(), 0);
  });
}

Deno.test("A route's code runs if its auth rule returns nothing", async () => {
  for (const check of [() => undefined, () => Promise.resolve(undefined)]) {
    const { askAll, ran, count } = guarded(check);
    for (const { status } of await askAll()) assertEquals(status, 200);
    assertEquals(ran(), count);
  }
});

Deno.test("An auth rule is called as a method and can use this", async () => {
  class Rule implements AuthRule {
    required = true;
    #status = 418;
    check() {
      return new Response(null, { status: this.#status });
    }
  }
  const { status } = await ask([{
    path: "/",
    handler: says("SECRET"),
    config: { auth: new Rule() },
  }], "/");
  assertEquals(status, 418);
});

Deno.test("A guard that returns neither a Response nor undefined is a 500, and the error names the value", async () => {
  for (
    const [refusal, kind] of [
      [null, "null"],
      [false, "a boolean"],
      [{ status: 401 }, "an object"],
      [Symbol("no"), "a symbol"],
    ] as const
  ) {
    const errors: unknown[] = [];
    const app = createApp({ onError: (error) => errors.push(error) });
    const check = () => refusal as unknown as Response;
    app.route({
      path: "/a",
      handler: says("in"),
      config: { auth: { required: true, check } },
    });
    const response = await app.fetch(new Request("http://localhost/a"));
    assertEquals(response.status, 500);
    assertEquals(errors.map((error) => (error as Error).message), [
      `Cannot guard /a: config.auth.check must return a Response or undefined, received ${kind}`,
    ]);
  }
});
