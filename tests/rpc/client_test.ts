import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createRouter, errors, procedure, RPCError } from "@quartet/kit/rpc";
import {
  batching,
  createClient,
  createHTTPClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import { z } from "zod";
import { serveRouter } from "./helpers.ts";

const api = createRouter({
  math: {
    double: procedure.query(z.number(), ({ input }) => input * 2),
    nothing: procedure.query(() => undefined),
  },
  notes: {
    add: procedure.mutation(
      z.object({ text: z.string(), done: z.boolean().default(false) }),
      ({ input }) => input,
    ),
  },
  length: procedure.query(z.string(), ({ input, request }) => ({
    length: input.length,
    method: request.method,
  })),
  echo: procedure.query(z.any(), ({ input, request }) => ({
    input: input as unknown,
    method: request.method,
  })),
  header: procedure.query(
    z.string(),
    ({ input, request }) => request.headers.get(input),
  ),
  refuse: procedure.query(() => {
    throw new RPCError("OUT_OF_STOCK", "None left", 409, {
      details: { left: 0 },
    });
  }),
  secret: procedure.mutation(() => {
    throw errors.unauthorized();
  }),
  wait: procedure.query(({ signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    )
  ),
});

async function failureOf(call: Promise<unknown>): Promise<RPCClientError> {
  return await assertRejects(() => call, RPCClientError);
}

Deno.test("createClient() calls queries and mutations over HTTP", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  assertEquals(await rpc.math.double.query(21), 42);
  assertEquals(await rpc.math.nothing.query(), undefined);
  assertEquals(await rpc.notes.add.mutate({ text: "ä & ?#+%" }), {
    text: "ä & ?#+%",
    done: false,
  });
});

Deno.test("createClient() sends any text in the URL of a query", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });
  for (
    const input of [
      "a b+c&input=d%20e#f?g;h",
      "ä 😀 \u2028 \0 \x1b \ud800",
      "\"\\/[]{}<>|^`~!*()'",
      { "a&b": ["=", null, { "c+d": 1e21 }] },
      null,
      "",
      0,
      false,
    ]
  ) assertEquals(await rpc.echo.query(input), { input, method: "GET" });
});

Deno.test("createClient() sends a long query by POST", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: new URL(server.url) });

  assertEquals(await rpc.length.query("short"), { length: 5, method: "GET" });
  const long = "x".repeat(100_000);
  assertEquals(await rpc.length.query(long), {
    length: 100_000,
    method: "POST",
  });
});

Deno.test("A failed call rejects with code, status, path, url and details", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });

  const refused = await failureOf(rpc.refuse.query());
  assertEquals(
    { ...refused, message: refused.message },
    {
      name: "RPCClientError",
      code: "OUT_OF_STOCK",
      message: "None left",
      status: 409,
      path: "refuse",
      url: server.url,
      details: { left: 0 },
    },
  );

  const invalid = await failureOf(rpc.math.double.query("x" as never));
  assertEquals(invalid.code, "VALIDATION_ERROR");
  assertEquals(invalid.path, "math.double");
  assertEquals((await failureOf(rpc.secret.mutate())).status, 401);
});

Deno.test("A call rejects with BAD_RESPONSE or NETWORK_ERROR if no router answers", async () => {
  await using server = await serveRouter(api);
  const port = server.port;
  const elsewhere = createClient<typeof api>({
    httpEndpoint: `http://127.0.0.1:${port}/elsewhere`,
  });
  const notFound = await failureOf(elsewhere.refuse.query());
  assertEquals(notFound.code, "BAD_RESPONSE");
  assertEquals(notFound.status, 404);

  for (const body of ["<html>", "null", '{"data":1}', ""]) {
    const rpc = createClient<typeof api>({
      httpEndpoint: "http://localhost/api/rpc",
      fetch: () => new Response(body, { status: 502 }),
    });
    const failure = await failureOf(rpc.refuse.query());
    assertEquals([failure.code, failure.status], ["BAD_RESPONSE", 502]);
  }

  const cause = new TypeError("connection refused");
  const offline = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: () => Promise.reject(cause),
  });
  const failure = await failureOf(offline.math.double.query(1));
  assertEquals([failure.code, failure.status], ["NETWORK_ERROR", 0]);
  assertStrictEquals(failure.cause, cause);
});

Deno.test("An aborted call rejects with the signal's reason", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });
  const controller = new AbortController();
  const call = rpc.wait.query(undefined, { signal: controller.signal });
  const reason = new Error("not needed any more");
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => call), reason);
  assertEquals(await rpc.math.double.query(4), 8);
});

Deno.test("A call of a batch can be aborted without effect on the others", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    batch: batching,
  });
  const controller = new AbortController();
  const { signal } = controller;
  const given = rpc.math.double.query(3, { signal });
  const kept = rpc.math.double.query(4);
  const reason = new Error("not needed any more");
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => given), reason);
  assertEquals(await kept, 8);
});

Deno.test("createClient() sends the headers of the client and of the call", async () => {
  await using server = await serveRouter(api);
  let requestCount = 0;
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    headers: () =>
      Promise.resolve({ "x-token": `t${++requestCount}`, "x-app": "a" }),
  });

  assertEquals(await rpc.header.query("x-token"), "t1");
  assertEquals(await rpc.header.query("X-Token"), "t2");
  const headers = new Headers({ "X-Token": "mine" });
  assertEquals(await rpc.header.query("x-token", { headers }), "mine");
  assertEquals(await rpc.header.query("x-app", { headers }), "a");
});

Deno.test("A call sends its input as it was when called", async () => {
  await using server = await serveRouter(api);
  const httpEndpoint = server.url;
  for (
    const options of [
      {},
      { batch: batching },
      { headers: () => Promise.resolve({ "x-later": "yes" }) },
    ]
  ) {
    const rpc = createClient<typeof api>({ httpEndpoint, ...options });
    const note = { text: "sent" };
    const added = rpc.notes.add.mutate(note);
    note.text = "for the next call";
    assertEquals(await added, { text: "sent", done: false });
  }
});

Deno.test("batch sends the calls of a tick as one request", async () => {
  await using server = await serveRouter(api, {}, { onError() {} });
  const requests: unknown[] = [];
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    batch: batching,
    fetch(url, init) {
      requests.push(init.body && JSON.parse(init.body as string));
      return fetch(url, init);
    },
  });

  const results = await Promise.allSettled([
    rpc.math.double.query(1),
    rpc.refuse.query(),
    rpc.notes.add.mutate({ text: "a" }),
    rpc.math.double.query(4),
    rpc.header.query("x-alone", { headers: { "x-alone": "yes" } }),
  ]);
  assertEquals(requests.length, 2);
  assertEquals(results.map((r) => r.status === "fulfilled" ? r.value : null), [
    2,
    null,
    { text: "a", done: false },
    8,
    "yes",
  ]);
  const { reason } = results[1] as PromiseRejectedResult;
  assertEquals(
    [reason.code, reason.status, reason.path],
    ["OUT_OF_STOCK", 409, "refuse"],
  );

  // The next tick sends another request.
  assertEquals(await rpc.math.double.query(5), 10);
  assertEquals(requests.length, 3);
});

Deno.test("A batch that fails as a whole fails each of its calls", async () => {
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    batch: batching,
    fetch: () => new Response("bad gateway", { status: 502 }),
  });
  const results = await Promise.all([
    failureOf(rpc.math.double.query(1)),
    failureOf(rpc.refuse.query()),
  ]);
  assertEquals(results.map(({ code, path }) => [code, path]), [
    ["BAD_RESPONSE", "math.double"],
    ["BAD_RESPONSE", "refuse"],
  ]);
});

Deno.test("createHTTPClient() makes calls like createClient()", async () => {
  await using server = await serveRouter(api);
  const rpc = createHTTPClient<typeof api>({ httpEndpoint: server.url });
  assertEquals(await rpc.math.double.query(2), 4);
  assertEquals((await failureOf(rpc.refuse.query())).code, "OUT_OF_STOCK");
});

Deno.test("A client and its parts aren't thenable", async () => {
  await using server = await serveRouter(api);
  const rpc = createClient<typeof api>({ httpEndpoint: server.url });
  const math = await rpc.math;
  assertEquals(await math.double.query(3), 6);
});

Deno.test("A path that doesn't end in a call is rejected before it is sent", () => {
  // deno-lint-ignore no-explicit-any -- calls that the types forbid
  const rpc = createClient<typeof api>({ httpEndpoint: "/api/rpc" }) as any;
  for (const call of [rpc.math.double, rpc.math.double.run, rpc]) {
    assertThrows(() => call(1), TypeError, ": use query,mutate,subscribe");
  }
  // deno-lint-ignore no-explicit-any -- as above
  const http = createHTTPClient<typeof api>({ httpEndpoint: "/" }) as any;
  assertThrows(
    () => http.math.subscribe(),
    TypeError,
    "Cannot call math.subscribe: use query,mutate",
  );
});

Deno.test("Printing, comparing or serializing a client makes no call", async () => {
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: () => {
      throw new Error("a request was made");
    },
  });
  assertEquals(JSON.stringify({ rpc, math: rpc.math }), "{}");
  Deno.inspect(rpc);
  assertThrows(() => `${rpc}`, TypeError);
  await rpc;
});

Deno.test("A part of a client has a stable identity, whatever its name", async () => {
  const named = createRouter({
    name: procedure.query(() => "name"),
    length: { constructor: procedure.query(() => "constructor") },
    query: { query: procedure.query(() => "query") },
    ["__proto__"]: procedure.query(() => "proto"),
  });
  const rpc = createHTTPClient<typeof named>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: (url, init) => named.handler(new Request(url, init)),
  });
  assertStrictEquals(rpc.length.constructor, rpc.length.constructor);
  assertStrictEquals(rpc.name.query, rpc.name.query);
  // As a hook passes it to a component that compares props.
  const { query } = rpc.name;
  assertEquals(await query(), "name");
  assertEquals(await rpc.length.constructor.query(), "constructor");
  assertEquals(await rpc.query.query.query(), "query");
  assertEquals(await rpc.__proto__.query(), "proto");
});

Deno.test("batch must be a function", () => {
  assertThrows(
    () =>
      createClient<typeof api>({
        httpEndpoint: "/",
        // @ts-expect-error -- not a function
        batch: true,
      }),
    TypeError,
    "batch is not a function",
  );
});

Deno.test("A batched call can be aborted in flight, and leaves no listener on its signal", async () => {
  const answer = Promise.withResolvers<Response>();
  const left = Promise.withResolvers<void>();
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    batch: batching,
    fetch() {
      left.resolve();
      return answer.promise;
    },
  });
  const { signal, ...controller } = controlled();
  const given = rpc.math.double.query(1, { signal });
  const other = controlled();
  const kept = rpc.math.double.query(2, { signal: other.signal });
  await left.promise;
  const reason = new Error("not needed any more");
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => given), reason);
  answer.resolve(
    Response.json({ ok: true, data: [null, { ok: true, data: 4 }] }),
  );
  assertEquals(await kept, 4);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(other.listeners(), 0);
  const late = rpc.math.double.query(1, { signal });
  assertStrictEquals(await assertRejects(() => late), reason);
});

Deno.test("Invalid responses to a batch, and failures without an error, are BAD_RESPONSE", async () => {
  for (
    const body of [
      { ok: true },
      { ok: true, data: null },
      { ok: true, data: [] },
      { ok: true, data: [null, 5] },
      { ok: true, data: [{ ok: false }, { ok: false, error: null }] },
      { ok: false },
    ]
  ) {
    const rpc = createClient<typeof api>({
      httpEndpoint: "http://localhost/api/rpc",
      batch: batching,
      fetch: () => Response.json(body),
    });
    const calls = [rpc.math.double.query(1), rpc.refuse.query()];
    for (const failure of await Promise.all(calls.map(failureOf))) {
      assertEquals([failure.code, failure.status], ["BAD_RESPONSE", 200]);
    }
  }
});

Deno.test("A call can be aborted while headers or fetch never resolve", async () => {
  for (
    const options of [
      { headers: () => new Promise<never>(() => {}) },
      { fetch: () => new Promise<never>(() => {}) },
    ]
  ) {
    const httpEndpoint = "http://localhost/api/rpc";
    const rpc = createHTTPClient<typeof api>({ httpEndpoint, ...options });
    const { signal, abort } = controlled();
    const call = rpc.math.double.query(1, { signal });
    const reason = new Error("enough");
    abort(reason);
    assertStrictEquals(await assertRejects(() => call), reason);
  }
});

Deno.test("An endpoint keeps its own query", async () => {
  const urls: string[] = [];
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc?tenant=1",
    fetch(url) {
      urls.push(url);
      return Response.json({ ok: true });
    },
  });
  await rpc.math.double.query(1);
  assertEquals(urls, [
    "http://localhost/api/rpc?tenant=1&path=math.double&input=1",
  ]);
});

Deno.test("A call rejects if JSON can't represent its input", async () => {
  const rpc = createClient<typeof api>({ httpEndpoint: "/" });
  await assertRejects(() => rpc.math.double.query(1n as never), TypeError);
});

Deno.test("A server can only set code, message and details of an error", async () => {
  const error = { code: "X", message: "m", stack: "s", path: "p", status: 1 };
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    fetch: () =>
      Response.json({ ok: false, error: { ...error, name: "n" } }, {
        status: 400,
      }),
  });
  const failure = await failureOf(rpc.refuse.query());
  const { name, path, status, stack } = failure;
  assertEquals([name, path, status], ["RPCClientError", "refuse", 400]);
  assert(stack !== "s");
});

/** Returns a controller and a count of its signal's listeners. */
function controlled() {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count--;
    remove(...args);
  };
  return {
    signal,
    abort: (reason: Error) => controller.abort(reason),
    listeners: () => count,
  };
}

Deno.test("A batch has at most as many calls as a router accepts, and the rest goes in the next one", async () => {
  const sizes: number[] = [];
  const rpc = createClient<typeof api>({
    httpEndpoint: "http://localhost/api/rpc",
    batch: batching,
    fetch(url, init) {
      sizes.push(JSON.parse(init.body as string).batch.length);
      return api.handler(new Request(url, init));
    },
  });
  const numbers = Array.from({ length: 120 }, (_, i) => i);
  const doubled = await Promise.all(
    numbers.map((n) => rpc.math.double.query(n)),
  );
  assertEquals(doubled, numbers.map((n) => n * 2));
  assertEquals(sizes, [50, 50, 20]);
});
