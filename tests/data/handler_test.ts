import { assert, assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRevalidationHandler } from "@quartet/kit/data";
import { exchange } from "../helpers.ts";
import { counter, timedCache } from "./helpers.ts";
import { Hub } from "./shared_store.ts";

const ADDRESS = "http://localhost/api/revalidate";
const SECRET = "s3cret of the webhook, é";
/** The secret as programs send it: UTF-8 bytes. */
const HEADER = String.fromCharCode(
  ...new TextEncoder().encode(`Bearer ${SECRET}`),
);

function subject() {
  const timed = timedCache();
  const fn = counter();
  return {
    ...timed,
    load: () =>
      timed.cache.cached("k", fn, {
        maxAge: 60,
        tags: ["p", "posts"],
        paths: ["/posts/1"],
      }),
    handler: timed.cache.createRevalidationHandler(SECRET),
  };
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request(ADDRESS, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "authorization": HEADER,
      ...headers,
    },
    body,
  });
}

Deno.test("createRevalidationHandler() invalidates what the body lists and confirms it", async () => {
  for (
    const body of [
      { tags: ["posts"] },
      { paths: ["/posts/*"] },
      { tags: ["x"], paths: ["/y", "/posts/1/"] },
      { all: true },
    ]
  ) {
    const { load, handler } = subject();
    await load();
    const response = await handler(post(JSON.stringify(body)));
    assertEquals(response.status, 200);
    assertEquals(await response.json(), {
      success: true,
      revalidated: { tags: body.tags ?? [], paths: body.paths ?? [] },
      timestamp: 1_700_000_000_000,
    });
    assertEquals(await load(), 2, JSON.stringify(body));
  }
});

Deno.test("createRevalidationHandler() refuses other requests and invalidates nothing", async () => {
  const { load, handler } = subject();
  await load();
  const ok = JSON.stringify({ all: true });
  const cases: readonly (readonly [Request, number, string, string])[] = [
    [
      new Request(ADDRESS, { method: "POST", body: ok }),
      401,
      "UNAUTHORIZED",
      "Bearer",
    ],
    [
      new Request(ADDRESS, {
        method: "POST",
        headers: { authorization: HEADER },
        body: new TextEncoder().encode(ok),
      }),
      400,
      "BAD_REQUEST",
      "application/json",
    ],
    [post(ok, { authorization: "" }), 401, "UNAUTHORIZED", "Bearer"],
    [post(ok, { authorization: "Bearer" }), 401, "UNAUTHORIZED", "Bearer"],
    [post(ok, { authorization: "Bearer " }), 401, "UNAUTHORIZED", ""],
    [post(ok, { authorization: "Bearer wrong" }), 401, "UNAUTHORIZED", ""],
    [post(ok, { authorization: `${HEADER}x` }), 401, "UNAUTHORIZED", ""],
    [post(ok, { authorization: HEADER.slice(7) }), 401, "UNAUTHORIZED", ""],
    [
      post(ok, { authorization: HEADER.replace("Bearer", "Basic") }),
      401,
      "UNAUTHORIZED",
      "",
    ],
    [
      post(ok, { authorization: `${HEADER}, ${HEADER}` }),
      401,
      "UNAUTHORIZED",
      "",
    ],
    [
      post("posts", { "content-type": "text/plain" }),
      400,
      "BAD_REQUEST",
      "application/json",
    ],
    [
      post(ok, { "content-type": "application/x-www-form-urlencoded" }),
      400,
      "BAD_REQUEST",
      "application/json",
    ],
    [
      post(ok, { "content-type": "application/jsonp" }),
      400,
      "BAD_REQUEST",
      "application/json",
    ],
    [post(""), 400, "BAD_REQUEST", "must be JSON"],
    [post("{"), 400, "BAD_REQUEST", "must be JSON"],
    [post(new Uint8Array([0x22, 0xff, 0x22])), 400, "BAD_REQUEST", "UTF-8"],
    [post("null"), 400, "BAD_REQUEST", "received null"],
    [post("[]"), 400, "BAD_REQUEST", "received an array"],
    [post("1"), 400, "BAD_REQUEST", "received 1"],
    [post('"all"'), 400, "BAD_REQUEST", 'received "all"'],
    [
      post('{"tags":"posts"}'),
      400,
      "BAD_REQUEST",
      "tags must be an array of strings",
    ],
    [post('{"tags":[["p"]]}'), 400, "BAD_REQUEST", "tags[0] must be"],
    [post('{"tags":[null]}'), 400, "BAD_REQUEST", "received null"],
    [post('{"tags":null}'), 400, "BAD_REQUEST", "received null"],
    [post('{"tags":[""]}'), 400, "BAD_REQUEST", "a non-empty string"],
    [post('{"paths":["posts"]}'), 400, "BAD_REQUEST", 'must begin with "/"'],
    [post('{"paths":["*"]}'), 400, "BAD_REQUEST", 'must begin with "/"'],
    [post('{"all":"false"}'), 400, "BAD_REQUEST", 'received "false"'],
    [post('{"all":1}'), 400, "BAD_REQUEST", "received 1"],
    [post('{"All":true}'), 400, "BAD_REQUEST", 'unknown option "All"'],
    [post('{"__proto__":{"all":true}}'), 400, "BAD_REQUEST", "__proto__"],
    [
      post(`{"tags":["${"x".repeat(64 * 1024)}"]}`),
      413,
      "PAYLOAD_TOO_LARGE",
      "65536",
    ],
  ];
  for (const [request, status, code, part] of cases) {
    const response = await handler(request);
    const { error } = await response.json();
    assertEquals([response.status, error.code], [status, code], error.message);
    assert(error.message.includes(part), error.message);
    assert(!JSON.stringify(error).includes(SECRET));
    assert(!/\bat .*\.ts|Error:/.test(error.message), error.message);
    if (status === 401) {
      assertEquals(response.headers.get("www-authenticate"), "Bearer");
    }
  }
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const response = await handler(
      new Request("http://localhost/", {
        method,
        headers: { authorization: HEADER },
      }),
    );
    assertEquals([response.status, response.headers.get("allow")], [
      405,
      "POST",
    ]);
  }
  const used = post(ok);
  await used.text();
  assertEquals((await handler(used)).status, 400);
  assertEquals(await load(), 1);
});

Deno.test("A body in memory is read only up to the limit and must be UTF-8", async () => {
  const { handler } = subject();
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1_024).fill(32));
    },
    cancel() {
      cancelled = true;
    },
  });
  const response = await handler(post(endless));
  assertEquals([response.status, cancelled], [413, true]);
  assert(pulled < 70, `${pulled}`);
  const long = post(" ".repeat(70_000), { "content-length": "2" });
  assertEquals((await handler(long)).status, 413);
  const bytes = new TextEncoder().encode('{"tags":["é"]}');
  assertEquals((await handler(post(bytes))).status, 200);
  assertEquals((await handler(post(bytes.subarray(0, 10)))).status, 400);
});

Deno.test("createRevalidationHandler() rejects an empty or non-string secret", () => {
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  for (const secret of ["", null, 1, {}] as any[]) {
    assertThrows(
      () => createRevalidationHandler(secret),
      TypeError,
      "secret must be a non-empty string",
    );
  }
});

Deno.test("createRevalidationHandler() rejects a secret from an unset variable", () => {
  const secret = Deno.env.get("A_VARIABLE_THAT_NOBODY_SETS");
  const { cache } = timedCache();
  for (
    const create of [createRevalidationHandler, cache.createRevalidationHandler]
  ) {
    assertThrows(
      () => create(secret),
      TypeError,
      "Cannot create revalidation handler: secret must be a non-empty string, received undefined; set the environment variable",
    );
  }
});

Deno.test("Without a secret, the handler accepts all requests and warns once", async () => {
  const { cache } = timedCache();
  const warnings: unknown[] = [];
  const { warn } = console;
  console.warn = (text) => warnings.push(text);
  try {
    for (const handlers of [cache, { createRevalidationHandler }]) {
      const handler = handlers.createRevalidationHandler();
      for (let i = 0; i < 3; i++) {
        const response = await handler(post("{}", { authorization: "" }));
        assertEquals(response.status, 200);
        await response.body?.cancel();
      }
    }
  } finally {
    console.warn = warn;
  }
  assertEquals(warnings.length, 2);
});

Deno.test("The handler answers 503 without details if other processes weren't notified", async () => {
  const hub = new Hub();
  const { cache, errors } = timedCache({ store: hub.open() });
  hub.failure = new Error("redis://user:password@host is down");
  const handler = cache.createRevalidationHandler(SECRET);
  const response = await handler(post('{"all":true}'));
  assertEquals(response.status, 503);
  assertEquals(response.headers.get("retry-after"), "2");
  assertEquals(await response.json(), {
    error: {
      code: "REVALIDATION_FAILED",
      message: "The cache's store can't be reached; retry later",
    },
  });
  assertEquals(errors.length, 1);
});

Deno.test("An endless body over a socket is cut off at 64 KiB", async () => {
  const { cache } = timedCache();
  const handler = cache.createRevalidationHandler(SECRET);
  const app = createApp({
    routes: [{ path: "/api/revalidate", method: "*", handler }],
  });
  const server = await app.serve({ port: 0, onListen() {}, signals: false });
  const { port } = server.address;
  const head = (more: string) =>
    `POST /api/revalidate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\nAuthorization: Bearer ${SECRET}\r\n${more}\r\n`;
  const chunk = `1000\r\n${" ".repeat(4096)}\r\n`;
  const long = await exchange(
    port,
    head("Transfer-Encoding: chunked\r\n") + chunk.repeat(17) + "0\r\n\r\n",
  );
  assert(long.startsWith("HTTP/1.1 413"), long);
  const good = await exchange(
    port,
    head("Transfer-Encoding: chunked\r\n") + chunk.repeat(15) +
      `c\r\n{"all":true}\r\n0\r\n\r\n`,
  );
  assert(good.startsWith("HTTP/1.1 200"), good);
  await server.shutdown();
});
