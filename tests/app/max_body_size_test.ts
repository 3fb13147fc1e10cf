/** The body limit of routes, with requests created in code. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createApp, createGuard, withPlugins } from "@quartet/kit/app";
import type { AppOptions, Route } from "@quartet/kit/app";
import {
  createAuthPlugin,
  getAuth,
  mock,
  requireAuth,
} from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { z } from "zod";

const LIMIT = 1_000;
const MIB = 1_048_576;

const TOO_LARGE = (limit: number) => ({
  error: {
    code: "PAYLOAD_TOO_LARGE",
    message: `The body must be at most ${limit} bytes`,
  },
});

/** Returns a JSON string of this many bytes. */
const jsonOf = (size: number) => JSON.stringify("x".repeat(size - 2));

/** Returns a chunked body of this many bytes, without a declared length. */
function streamOf(text: string, chunkSize = 100) {
  const bytes = new TextEncoder().encode(text);
  const taken = { bytes: 0, isCancelled: false };
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = bytes.slice(taken.bytes, taken.bytes + chunkSize);
      if (chunk.length === 0) return controller.close();
      taken.bytes += chunk.length;
      controller.enqueue(chunk);
    },
    cancel: () => void (taken.isCancelled = true),
  }, { highWaterMark: 0 });
  return { taken, stream };
}

const post = (body: BodyInit | null, headers: HeadersInit = {}, path = "/") =>
  new Request(`http://localhost${path}`, { method: "POST", body, headers });

/** Creates an app with one route that collects the errors of its handler. */
function appOf(
  handler: NonNullable<Route["handler"]>,
  options: Omit<AppOptions, "routes" | "onError"> = { maxBodySize: LIMIT },
  route: Partial<Route> = {},
) {
  const errors: unknown[] = [];
  const app = createApp({
    ...options,
    onError: (error) => void errors.push(error),
    routes: [{ path: "/", method: "*", handler, ...route } as Route],
  });
  return { app, errors };
}

async function* chunksOf(body: AsyncIterable<Uint8Array> | null) {
  for await (const chunk of body ?? []) yield chunk.length;
}

const READERS: Record<string, (request: Request) => Promise<unknown>> = {
  "json()": (request) => request.json(),
  "text()": (request) => request.text(),
  "bytes()": (request) => request.bytes(),
  "arrayBuffer()": (request) => request.arrayBuffer(),
  "blob()": (request) => request.blob(),
  "body": async (request) => {
    let size = 0;
    for await (const length of chunksOf(request.body)) size += length;
    return size;
  },
  "a reader": async ({ body }) => {
    const reader = body!.getReader();
    while (!(await reader.read()).done);
  },
  "clone().text()": (request) => request.clone().text(),
  "clone() and text()": async (request) => {
    const copy = request.clone();
    return await Promise.all([request.text(), copy.text()]);
  },
  "clone().clone().text()": (request) => request.clone().clone().text(),
  "new Request(request).text()": (request) => new Request(request).text(),
};

for (const [what, read] of Object.entries(READERS)) {
  Deno.test(`A body read by ${what} may have at most as many bytes as the limit`, async () => {
    for (const from of ["argument", "context"] as const) {
      const { app, errors } = appOf(async (request, context) => {
        await read(from === "argument" ? request : context.request);
        return new Response("read");
      });
      const exact = await app.fetch(post(streamOf(jsonOf(LIMIT)).stream));
      assertEquals([exact.status, await exact.text()], [200, "read"]);
      const { taken, stream } = streamOf(jsonOf(LIMIT * 50));
      const over = await app.fetch(post(stream));
      assertEquals(over.status, 413);
      assertEquals(await over.json(), TOO_LARGE(LIMIT));
      assert(taken.bytes <= LIMIT + 300, `${taken.bytes} bytes were read`);
      assertEquals(errors, []);
      const next = await app.fetch(post(streamOf(jsonOf(LIMIT + 1)).stream));
      assertEquals(next.status, 413);
      await next.body?.cancel();
    }
  });
}

Deno.test("A form may have at most as many bytes as the limit", async () => {
  const { app } = appOf(async (request) => {
    const form = await request.formData();
    return Response.json(String(form.get("a")).length);
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const ask = async (size: number) => {
    const text = "a=" + "x".repeat(size - 2);
    const response = await app.fetch(post(streamOf(text).stream, headers));
    return [response.status, await response.json()];
  };
  assertEquals(await ask(LIMIT), [200, LIMIT - 2]);
  assertEquals(await ask(LIMIT + 1), [413, TOO_LARGE(LIMIT)]);
});

Deno.test("Loaders and actions have the limit too, by default 1 MiB", async () => {
  await using app = createApp({
    routes: [{
      path: "/",
      loader: () => "loaded",
      action: async ({ request }) => (await request.text()).length,
    }],
  });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const ask = async (size: number, declared: boolean) => {
      const text = "x".repeat(size);
      const body = declared ? text : streamOf(text, 65_536).stream;
      const headers = declared ? { "content-length": String(size) } : {};
      const request = new Request("http://localhost/", {
        method,
        body,
        headers,
      });
      const response = await app.fetch(request);
      return [response.status, await response.json()];
    };
    for (const declared of [true, false]) {
      assertEquals(await ask(MIB, declared), [200, MIB]);
      assertEquals(await ask(MIB + 1, declared), [413, TOO_LARGE(MIB)]);
    }
  }
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(await response.json(), "loaded");
});

Deno.test("A body with a declared length over the limit is refused before the handler runs", async () => {
  let runs = 0;
  const { app } = appOf(() => {
    runs++;
    return new Response("ran");
  });
  for (const length of [`${LIMIT + 1}`, "9".repeat(40)]) {
    const { taken, stream } = streamOf("x".repeat(LIMIT + 1));
    const response = await app.fetch(
      post(stream, { "content-length": length }),
    );
    assertEquals(response.status, 413);
    assertEquals(await response.json(), TOO_LARGE(LIMIT));
    assertEquals(taken.bytes, 0);
  }
  assertEquals(runs, 0);
});

for (
  const [what, headers] of [
    ["sent twice", { "content-length": "5, 5" }],
    ["that isn't a number", { "content-length": "-5" }],
    [
      "of a decoded body",
      { "content-length": "5", "content-encoding": "gzip" },
    ],
  ] as const
) {
  Deno.test(`A Content-Length ${what} isn't trusted`, async () => {
    const { app } = appOf(async (request) =>
      Response.json(await request.text())
    );
    const ask = async (size: number) => {
      const { stream } = streamOf("x".repeat(size));
      const response = await app.fetch(post(stream, headers));
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await ask(LIMIT), 200);
    assertEquals(await ask(LIMIT + 1), 413);
  });
}

Deno.test("A body that the handler ignores isn't read", async () => {
  const { app } = appOf(() => new Response("ignored"));
  const { taken, stream } = streamOf("x".repeat(LIMIT * 2));
  const request = post(stream);
  const response = await app.fetch(request);
  assertEquals([response.status, await response.text()], [200, "ignored"]);
  assertEquals([taken.bytes, request.bodyUsed], [0, false]);
});

Deno.test("Requests without a body, and GET and HEAD, reach the handler unchanged", async () => {
  const seen: Request[] = [];
  const { app } = appOf((request) => {
    seen.push(request);
    return new Response();
  });
  const requests = [
    new Request("http://localhost/"),
    new Request("http://localhost/", { method: "HEAD" }),
    post(null),
    post("short", { "content-length": "5" }),
  ];
  for (const request of requests) {
    assertEquals((await app.fetch(request)).status, 200);
  }
  assert(requests.every((request, index) => seen[index] === request));
});

Deno.test("Counting a request's body changes nothing else about the request", async () => {
  const aborter = new AbortController();
  const { app } = appOf(async (request) => {
    const copy = request.clone();
    const { url, method, headers, bodyUsed } = request;
    aborter.abort("over");
    assert(request.signal.aborted && copy.signal.aborted);
    assertEquals(request.signal.reason, "over");
    assert(request instanceof Request && copy instanceof Request);
    return Response.json({
      url,
      method,
      header: headers.get("x-a"),
      bodyUsed,
      text: await copy.text(),
    });
  });
  for (const method of ["POST", "PUT", "DELETE", "PROPFIND"]) {
    const url = "http://localhost/?a=%2F";
    const response = await app.fetch(
      new Request(url, {
        method,
        body: streamOf("hello").stream,
        headers: { "x-a": "b" },
        signal: aborter.signal,
      }),
    );
    assertEquals(await response.json(), {
      url,
      method,
      header: "b",
      bodyUsed: false,
      text: "hello",
    });
  }
});

Deno.test("A body that was read before the handler stays used", async () => {
  const { app, errors } = appOf(async (request) =>
    Response.json(await request.text())
  );
  app.use(async (request, _context, next) => {
    await request.text();
    return await next();
  });
  const response = await app.fetch(post(streamOf("hello").stream));
  assertEquals(response.status, 500);
  assertEquals(errors.length, 1);
  await response.body?.cancel();
});

Deno.test("A handler can answer a body over the limit itself", async () => {
  const answers: Record<string, NonNullable<Route["handler"]>> = {
    thrown: async (request) => {
      await request.text().catch(() => {
        throw new Response("mine", { status: 418 });
      });
      return new Response();
    },
    returned: async (request) => {
      await assertRejects(() => request.text(), Error, "at most 1000 bytes");
      return new Response("mine", { status: 418 });
    },
  };
  for (const handler of Object.values(answers)) {
    const { app, errors } = appOf(handler);
    const response = await app.fetch(
      post(streamOf("x".repeat(LIMIT + 1)).stream),
    );
    assertEquals([response.status, await response.text()], [418, "mine"]);
    assertEquals(errors, []);
  }
});

Deno.test("An error caused by the body's error is a 413, another error is a 500", async () => {
  const { app, errors } = appOf(async (request) => {
    try {
      await request.text();
    } catch (cause) {
      throw new Error("Cannot save the photo", { cause });
    }
    throw new Error("The disk is full");
  });
  const over = await app.fetch(post(streamOf("x".repeat(LIMIT + 1)).stream));
  assertEquals([over.status, await over.json()], [413, TOO_LARGE(LIMIT)]);
  assertEquals(errors, []);
  const full = await app.fetch(post(streamOf("x").stream));
  assertEquals(full.status, 500);
  await full.body?.cancel();
  assertEquals(errors.map(String), ["Error: The disk is full"]);
});

Deno.test("A route's limit overrides the app's, and Infinity disables it", async () => {
  const read = async (request: Request) =>
    Response.json((await request.text()).length);
  const routes: Route[] = [
    { path: "/app", method: "POST", handler: read },
    { path: "/less", method: "POST", handler: read, maxBodySize: 10 },
    { path: "/more", method: "POST", handler: read, maxBodySize: 2_000 },
    { path: "/any", method: "POST", handler: read, maxBodySize: Infinity },
    { path: "/none", method: "POST", handler: read, maxBodySize: 0 },
  ];
  await using app = createApp({ routes, maxBodySize: LIMIT });
  await using open = createApp({ routes, maxBodySize: Infinity });
  const statuses = async (at: typeof app, path: string, sizes: number[]) => {
    const answers = [];
    for (const size of sizes) {
      const text = "x".repeat(size);
      for (
        const request of [
          post(streamOf(text).stream, {}, path),
          post(text, { "content-length": `${size}` }, path),
        ]
      ) {
        const response = await at.fetch(request);
        await response.body?.cancel();
        answers.push(response.status);
      }
    }
    return answers;
  };
  const edge = [200, 200, 413, 413];
  assertEquals(await statuses(app, "/app", [LIMIT, LIMIT + 1]), edge);
  assertEquals(await statuses(app, "/less", [10, 11]), edge);
  assertEquals(await statuses(app, "/more", [2_000, 2_001]), edge);
  assertEquals(await statuses(app, "/any", [MIB * 2]), [200, 200]);
  assertEquals(await statuses(app, "/none", [0, 1]), edge);
  assertEquals(await statuses(open, "/app", [MIB * 2]), [200, 200]);
  assertEquals(await statuses(open, "/less", [10, 11]), edge);
});

Deno.test("An invalid maxBodySize is rejected by createApp() and route()", () => {
  const route = { path: "/a", handler: () => new Response() };
  for (const maxBodySize of [-1, 1.5, NaN, -Infinity, "1", null, 1n, {}]) {
    const wrong = { maxBodySize: maxBodySize as number };
    const rule =
      "maxBodySize must be a number of bytes, 0 or more, or Infinity";
    assertThrows(() => createApp(wrong), TypeError, `create app: ${rule}`);
    assertThrows(
      () => createApp().route({ ...route, ...wrong }),
      TypeError,
      `Cannot add route /a: route.${rule}`,
    );
    assertThrows(
      () => withPlugins([], () => new Response(), wrong),
      TypeError,
      rule,
    );
  }
});

Deno.test("A nested app's own limit applies within its route's limit", async () => {
  const read = async (request: Request) =>
    Response.json((await request.text()).length);
  const inner = createApp({
    maxBodySize: LIMIT,
    routes: [
      { path: "/a", method: "POST", handler: read },
      { path: "/b", method: "POST", handler: read, maxBodySize: 5_000 },
      {
        path: "/wrap",
        method: "POST",
        // Like `fetch` with a body that it forwards.
        handler: (request) =>
          read(request).catch((cause) => {
            throw new TypeError("fetch failed", { cause });
          }),
        maxBodySize: 5_000,
      },
    ],
  });
  const mount = (maxBodySize: number) =>
    createApp({
      routes: [{
        path: "/*",
        method: "*",
        handler: (request, { info }) => inner.fetch(request, info),
        maxBodySize,
      }],
    });
  const status = async (app: typeof inner, path: string, size: number) => {
    const { stream } = streamOf("x".repeat(size));
    const response = await app.fetch(post(stream, {}, path));
    const body = await response.json();
    return [response.status, body.error?.message ?? body];
  };
  const atMost = (limit: number) => TOO_LARGE(limit).error.message;
  assertEquals(await status(mount(Infinity), "/a", LIMIT), [200, LIMIT]);
  assertEquals(await status(mount(Infinity), "/a", 1_001), [
    413,
    atMost(LIMIT),
  ]);
  assertEquals(await status(mount(Infinity), "/b", 5_000), [200, 5_000]);
  assertEquals(await status(mount(3_000), "/b", 3_001), [413, atMost(3_000)]);
  assertEquals(await status(mount(3_000), "/a", 1_001), [413, atMost(LIMIT)]);
  assertEquals(await status(mount(3_000), "/wrap", 3_001), [
    413,
    atMost(3_000),
  ]);
});

Deno.test("An anonymous request gets the guard's 401 before the limit's 413", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [mock()],
  });
  await using app = createApp({ plugins: [auth], maxBodySize: LIMIT });
  app.route({
    path: "/in",
    loader: ({ context }) => getAuth(context).signIn("mock", {}),
  });
  app.route({
    path: "/",
    config: { ...requireAuth() },
    action: async ({ request }) => (await request.text()).length,
  });
  const signedIn = await app.fetch(new Request("http://localhost/in"));
  await signedIn.body?.cancel();
  const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
  for (
    const length of [{}, { "content-length": `${LIMIT + 1}` }] as Record<
      string,
      string
    >[]
  ) {
    const ask = async (headers: Record<string, string>) => {
      const { stream } = streamOf("x".repeat(LIMIT + 1));
      const response = await app.fetch(post(stream, { ...length, ...headers }));
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await ask({}), 401);
    assertEquals(await ask({ cookie }), 413);
  }
});

Deno.test("A guard that reads the body is limited too", async () => {
  const signed = createGuard({
    required: false,
    async check(request) {
      const text = await request.clone().text();
      return text.startsWith("ok") ? undefined : new Response("unsigned");
    },
  });
  const { app, errors } = appOf(
    async (request) => new Response(`${(await request.text()).length}`),
    { maxBodySize: LIMIT },
    { config: { ...signed } },
  );
  const ask = async (text: string, headers = {}) => {
    const { stream, taken } = streamOf(text);
    const response = await app.fetch(post(stream, headers));
    assert(taken.bytes <= LIMIT + 300);
    return [response.status, await response.text()];
  };
  const over = "ok" + "x".repeat(LIMIT * 20);
  assertEquals(await ask("ok"), [200, "2"]);
  assertEquals(await ask("no"), [200, "unsigned"]);
  assertEquals((await ask(over))[0], 413);
  assertEquals((await ask(over, { "content-length": "9999" }))[0], 413);
  assertEquals(errors, []);
});

Deno.test("withPlugins() always limits plugin routes, and its handler only with maxBodySize", async () => {
  const read = async (request: Request) =>
    Response.json((await request.text()).length);
  const plugin = {
    name: "upload",
    routes: [{ path: "/plugin", method: "POST", handler: read }],
  };
  const open = withPlugins([plugin], read);
  const limited = withPlugins([plugin], read, { maxBodySize: LIMIT });
  const status = async (
    { fetch }: typeof open,
    path: string,
    size: number,
  ) => {
    const { stream } = streamOf("x".repeat(size), 65_536);
    const response = await fetch(post(stream, {}, path));
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await status(open, "/", MIB * 2), 200);
  assertEquals(await status(open, "/plugin", MIB + 1), 413);
  assertEquals(await status(limited, "/", LIMIT), 200);
  assertEquals(await status(limited, "/", LIMIT + 1), 413);
  assertEquals(await status(limited, "/plugin", LIMIT + 1), 413);
});

Deno.test("RPC and revalidation apply their own limits, and on a route also the route's limit", async () => {
  const router = createRouter({
    size: procedure.mutation(z.string(), ({ input }) => input.length),
  }, { maxBodySize: 2 * MIB });
  await using cache = createCache();
  await using app = createApp({
    maxBodySize: LIMIT,
    plugins: [rpcPlugin({ router })],
    routes: [
      { path: "/rpc", method: "POST", handler: (r) => router.handler(r) },
      {
        path: "/revalidate",
        method: "POST",
        handler: cache.createRevalidationHandler("a secret"),
      },
    ],
  });
  const call = (size: number) =>
    JSON.stringify({
      path: ["size"],
      type: "mutation",
      input: "x".repeat(size),
    });
  const ask = async (path: string, text: string) => {
    const headers = {
      "content-type": "application/json",
      authorization: "Bearer a secret",
    };
    const { stream } = streamOf(text, 65_536);
    const response = await app.fetch(post(stream, headers, path));
    const { data, error } = await response.json();
    return [response.status, data ?? error?.code];
  };
  assertEquals(await ask("/api/rpc", call(MIB)), [200, MIB]);
  assertEquals(await ask("/api/rpc", call(2 * MIB)), [
    413,
    "PAYLOAD_TOO_LARGE",
  ]);
  assertEquals(await ask("/rpc", call(10)), [200, 10]);
  assertEquals(await ask("/rpc", call(LIMIT)), [413, "PAYLOAD_TOO_LARGE"]);
  assertEquals(await ask("/revalidate", "x".repeat(LIMIT + 1)), [
    413,
    "PAYLOAD_TOO_LARGE",
  ]);
});
