import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRouter, errors, procedure, RPCError } from "@quartet/kit/rpc";
import { z } from "zod";
import {
  type Answer,
  ask,
  connect,
  errorLog,
  postOf,
  queryOf,
  serveRouter,
  subscribe,
  type TestServer,
} from "./helpers.ts";

const log = errorLog();

async function* nothing() {}

const failures = {
  UNAUTHORIZED: () => errors.unauthorized(),
  FORBIDDEN: () => errors.forbidden(),
  NOT_FOUND: () => errors.notFound(),
  BAD_REQUEST: () => errors.badRequest("No such month"),
  RATE_LIMITED: () => new RPCError("RATE_LIMITED", "Too many requests", 429),
  PAYMENT_REQUIRED: () => new RPCError("PAYMENT_REQUIRED", "Pay first", 402),
  CONFLICT: () => new RPCError("CONFLICT", "Changed by somebody", 409),
  UNPROCESSABLE: () => new RPCError("UNPROCESSABLE", "No such pair", 422),
  BUSY: () => new RPCError("BUSY", "Come back later", 503),
  plain: () => new RPCError("plain_code", "Status left out"),
};
const failing = z.enum(Object.keys(failures) as (keyof typeof failures)[]);

const router = createRouter({
  ping: procedure.query(() => "pong"),
  write: procedure.mutation(() => "written"),
  sized: procedure.query(z.object({ size: z.number() }), () => "sized"),
  broken: procedure.query(() => {
    throw new Error("inside");
  }),
  fail: procedure.query(failing, ({ input }) => {
    throw failures[input]();
  }),
  stream: procedure.subscription(nothing),
  streams: {
    sized: procedure.subscription(z.object({ size: z.number() }), nothing),
    fail: procedure.subscription(failing, async function* ({ input }) {
      yield "first";
      throw failures[input]();
    }),
    broken: procedure.subscription(async function* () {
      yield "first";
      throw new Error("inside");
    }),
    wait: procedure.subscription(async function* ({ signal }) {
      yield "waiting";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
  },
}, { ...log, maxSubscriptions: 1 });

/** The request, the status, and the error in the response. */
type Row = [
  what: string,
  send: (server: TestServer) => Promise<Answer>,
  status: number,
  error: Record<string, unknown>,
];

const SIZED = { path: ["sized"], type: "query", input: { size: "big" } };

const rows: Row[] = [
  [
    "A body that isn't JSON",
    (server) => server.post("{"),
    400,
    { code: "PARSE_ERROR", message: "The body is not valid JSON" },
  ],
  [
    "An input that isn't JSON",
    (server) => server.request({}, "?path=sized&input={"),
    400,
    {
      code: "PARSE_ERROR",
      message: "The query parameter input is not valid JSON",
    },
  ],
  [
    "An unknown path",
    (server) => server.get("no.such"),
    404,
    { code: "NOT_FOUND", message: "Procedure not found: no.such" },
  ],
  [
    "An unknown path, by POST",
    (server) => server.post({ path: ["no", "such"], type: "query" }),
    404,
    { code: "NOT_FOUND", message: "Procedure not found: no.such" },
  ],
  [
    "A subscription by GET",
    (server) => server.get("stream"),
    400,
    {
      code: "METHOD_NOT_ALLOWED",
      message:
        "Cannot call stream over HTTP: it is a subscription, use subscribe() and a WebSocket",
    },
  ],
  ...["query", "mutation", "subscription"].map((type): Row => [
    `A subscription by POST as a ${type}`,
    (server) => server.post({ path: ["stream"], type }),
    400,
    {
      code: "METHOD_NOT_ALLOWED",
      message:
        "Cannot call stream over HTTP: it is a subscription, use subscribe() and a WebSocket",
    },
  ]),
  [
    "A mutation by GET",
    (server) => server.get("write"),
    400,
    {
      code: "METHOD_MISMATCH",
      message: "Cannot call write as a query: it is a mutation, use mutate()",
    },
  ],
  [
    "A mutation sent as a query",
    (server) => server.post({ path: ["write"], type: "query" }),
    400,
    {
      code: "METHOD_MISMATCH",
      message: "Cannot call write as a query: it is a mutation, use mutate()",
    },
  ],
  [
    "A query sent as a mutation",
    (server) => server.post({ path: ["ping"], type: "mutation" }),
    400,
    {
      code: "METHOD_MISMATCH",
      message: "Cannot call ping as a mutation: it is a query, use query()",
    },
  ],
  [
    "An input that its schema rejects, by GET",
    (server) => server.get("sized", { size: "big" }),
    400,
    {
      code: "VALIDATION_ERROR",
      message:
        "Input validation failed for sized: size: Invalid input: expected number, received string",
      details: [{
        path: ["size"],
        message: "Invalid input: expected number, received string",
        code: "invalid_type",
      }],
    },
  ],
  [
    "An input that its schema rejects, by POST",
    (server) => server.post(SIZED),
    400,
    {
      code: "VALIDATION_ERROR",
      message:
        "Input validation failed for sized: size: Invalid input: expected number, received string",
      details: [{
        path: ["size"],
        message: "Invalid input: expected number, received string",
        code: "invalid_type",
      }],
    },
  ],
  [
    "An unexpected error",
    (server) => server.get("broken"),
    500,
    { code: "INTERNAL_ERROR", message: "Internal server error" },
  ],
  ...([
    ["UNAUTHORIZED", 401, "Unauthorized"],
    ["FORBIDDEN", 403, "Forbidden"],
    ["NOT_FOUND", 404, "Not found"],
    ["BAD_REQUEST", 400, "No such month"],
    ["RATE_LIMITED", 429, "Too many requests"],
    ["PAYMENT_REQUIRED", 402, "Pay first"],
    ["CONFLICT", 409, "Changed by somebody"],
    ["UNPROCESSABLE", 422, "No such pair"],
    ["BUSY", 503, "Come back later"],
  ] as const).map(([code, status, message]): Row => [
    `${code}, thrown by a procedure,`,
    (server) => server.get("fail", code),
    status,
    { code, message },
  ]),
  [
    "An RPCError without a status",
    (server) => server.get("fail", "plain"),
    400,
    { code: "plain_code", message: "Status left out" },
  ],
];

for (const [what, send, status, error] of rows) {
  Deno.test(`${what} is answered with ${error.code} and ${status}`, async () => {
    await using server = await serveRouter(router);
    const answer = await send(server);
    assertEquals(answer.body, { ok: false, error });
    assertEquals(answer.status, status);
    assertEquals(answer.headers.get("content-type"), "application/json");
  });
}

/** The message on a socket, and the error in the response. */
const socketRows: [what: string, message: unknown, error: object][] = [
  ["Text that isn't JSON", "{", {
    code: "PARSE_ERROR",
    message: "The message is not valid JSON",
  }],
  ["An unknown path", subscribe("a", "no.such"), {
    code: "NOT_FOUND",
    message: "Procedure not found: no.such",
  }],
  ["A query", subscribe("a", "ping"), {
    code: "METHOD_MISMATCH",
    message: "Cannot subscribe to ping: it is a query, use query()",
  }],
  ["A mutation", subscribe("a", "write"), {
    code: "METHOD_MISMATCH",
    message: "Cannot subscribe to write: it is a mutation, use mutate()",
  }],
  [
    "An input that its schema rejects",
    subscribe("a", "streams.sized", { size: null }),
    {
      code: "VALIDATION_ERROR",
      message:
        "Input validation failed for streams.sized: size: Invalid input: expected number, received null",
      details: [{
        path: ["size"],
        message: "Invalid input: expected number, received null",
        code: "invalid_type",
      }],
    },
  ],
];

for (const [what, message, error] of socketRows) {
  Deno.test(`${what} on a socket is answered with ${(error as { code: string }).code}`, async () => {
    await using server = await serveRouter(router);
    await using client = await connect(server);
    client.send(message);
    assertEquals(await client.next(), {
      type: "error",
      id: typeof message === "string" ? null : "a",
      error,
    } as never);
    assertEquals(await client.settle(), []);
  });
}

Deno.test("An RPCError thrown by a subscription ends it with code and message", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (const key of Object.keys(failures) as (keyof typeof failures)[]) {
    client.send(subscribe(key, "streams.fail", key));
    const { code, message } = failures[key]();
    assertEquals(await client.take(2), [
      { type: "data", id: key, data: "first" },
      { type: "error", id: key, error: { code, message } },
    ]);
  }
  assertEquals(await client.settle(), []);
});

Deno.test("An RPCError whose status no response can have is an unexpected error", async () => {
  const log = errorLog();
  const failure = Object.assign(errors.badRequest("x"), { status: 999 });
  const api = createRouter({
    fail: procedure.query(() => {
      throw failure;
    }),
  }, log);
  await using server = await serveRouter(api);
  const { status, body } = await server.get("fail");
  assertEquals([status, body.error!.code], [500, "INTERNAL_ERROR"]);
  assertEquals(log.logged, [failure]);
});

Deno.test("An unexpected error of a subscription ends it with INTERNAL_ERROR", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "streams.broken"));
  assertEquals(await client.take(2), [
    { type: "data", id: "a", data: "first" },
    {
      type: "error",
      id: "a",
      error: { code: "INTERNAL_ERROR", message: "Internal server error" },
    },
  ]);
});

Deno.test("A duplicate id is rejected with DUPLICATE_ID, and one subscription too many with SUBSCRIPTION_ERROR", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "streams.wait"));
  client.send(subscribe("a", "stream"));
  client.send(subscribe("b", "stream"));
  const messages = await client.settle();
  const errors = messages.filter(({ type }) => type === "error");
  assertEquals(errors, [
    {
      type: "error",
      id: "a",
      error: {
        code: "DUPLICATE_ID",
        message: "Another running subscription has this id",
      },
    },
    {
      type: "error",
      id: "b",
      error: {
        code: "SUBSCRIPTION_ERROR",
        message: "A connection holds at most 1 subscriptions",
      },
    },
  ]);
});

Deno.test("errors.* have their documented status and message, or a custom message", () => {
  const table = [
    [errors.unauthorized(), "UNAUTHORIZED", 401, "Unauthorized"],
    [errors.forbidden(), "FORBIDDEN", 403, "Forbidden"],
    [errors.notFound(), "NOT_FOUND", 404, "Not found"],
    [errors.badRequest("bad"), "BAD_REQUEST", 400, "bad"],
    [errors.unauthorized("who?"), "UNAUTHORIZED", 401, "who?"],
    [errors.forbidden("no"), "FORBIDDEN", 403, "no"],
    [errors.notFound("gone"), "NOT_FOUND", 404, "gone"],
  ] as const;
  for (const [error, code, status, message] of table) {
    assert(error instanceof RPCError);
    assert(error instanceof Error);
    assertEquals(
      [error.code, error.status, error.message],
      [code, status, message],
    );
  }
  assertEquals(new RPCError("X", "x").status, 400);
});

Deno.test("RPCError sends details and headers, but not its cause and stack", async () => {
  const router = createRouter({
    fail: procedure.query(() => {
      throw new RPCError("OUT_OF_STOCK", "None left", 409, {
        details: { left: 0, until: new Date(0) },
        headers: { "retry-after": "5" },
        cause: new Error("secret"),
      });
    }),
    huge: procedure.query(() => {
      throw new RPCError("HUGE", "Details that JSON can't carry", 409, {
        details: 1n,
      });
    }),
  });
  await using server = await serveRouter(router);
  const { status, headers, text } = await server.get("fail");
  assertEquals(status, 409);
  assertEquals(headers.get("retry-after"), "5");
  assertEquals(
    text,
    '{"ok":false,"error":{"code":"OUT_OF_STOCK","message":"None left","details":{"left":0,"until":"1970-01-01T00:00:00.000Z"}}}',
  );
  assertEquals(
    (await server.get("huge")).text,
    '{"ok":false,"error":{"code":"HUGE","message":"Details that JSON can\'t carry"}}',
  );
});

Deno.test("RPCError rejects a status, code or header that isn't valid in HTTP", () => {
  for (const status of [0, 200, 302, 399, 600, 404.5, NaN, "404"]) {
    assertThrows(() => new RPCError("X", "x", status as number), TypeError);
  }
  for (const code of ["", 5, undefined, null]) {
    assertThrows(() => new RPCError(code as string, "x"), TypeError);
  }
  for (
    const headers of [
      { "a b": "c" },
      { a: "b\r\nc: d" },
      { a: "\u{1f600}" },
      { "Content-Type": "text/html" },
      { "content-length": "5" },
      { "transfer-encoding": "chunked" },
      { connection: "close" },
      [["set-cookie", "a=1"], ["set-cookie", "b=2"]],
    ] as HeadersInit[]
  ) {
    assertThrows(() => new RPCError("X", "x", 400, { headers }), TypeError);
  }
});

Deno.test("RPCError accepts headers of any kind and copies them", async () => {
  const given = new Headers({ "Retry-After": "5" });
  const error = new RPCError("BUSY", "Later", 503, { headers: given });
  given.set("retry-after", "a\tb");
  const router = createRouter({
    fail: procedure.query(() => {
      throw error;
    }),
  });
  assertEquals(error.headers, { "retry-after": "5" });
  assertThrows(() => Object.assign(error.headers!, { "a b": "c" }), TypeError);
  const { status, headers } = await ask(router, {}, queryOf("fail"));
  assertEquals([status, headers.get("retry-after")], [503, "5"]);
});

Deno.test("Responses are not cached, unless their error or the host allows it", async () => {
  await using server = await serveRouter(router);
  for (const path of ["ping", "broken", "no"]) {
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await server.request({ method }, queryOf(path));
      assertEquals(headers.get("cache-control"), "no-store");
    }
  }
  const cached = createRouter({
    fail: procedure.query(() => {
      throw new RPCError("GONE", "Gone", 410, {
        headers: { "Cache-Control": "max-age=60" },
      });
    }),
  });
  const { headers } = await ask(cached, {}, queryOf("fail"));
  assertEquals(headers.get("cache-control"), "max-age=60");
});

Deno.test("A batch returns failures and successes together, each with its own code", async () => {
  await using server = await serveRouter(router);
  const { status, body } = await server.post({
    batch: [
      { path: ["ping"], type: "query" },
      SIZED,
      { path: ["broken"], type: "query" },
      { path: ["no"], type: "query" },
      { path: ["fail"], type: "query", input: "CONFLICT" },
    ],
  });
  assertEquals(status, 200);
  assertEquals(body.ok, true);
  assertEquals(body.data[0], { ok: true, data: "pong" });
  assertEquals(
    body.data.slice(1).map(({ ok, error }: { ok: boolean; error: RPCError }) =>
      ok || error.code
    ),
    ["VALIDATION_ERROR", "INTERNAL_ERROR", "NOT_FOUND", "CONFLICT"],
  );
});

Deno.test("HEAD is answered like GET, without the body", async () => {
  await using server = await serveRouter(router);
  for (const query of [queryOf("ping"), queryOf("write"), queryOf("no")]) {
    const get = await server.request({}, query);
    const head = await server.request({ method: "HEAD" }, query);
    assertEquals([head.status, head.text], [get.status, ""]);
    assertEquals(head.headers.get("content-type"), "application/json");
  }
});

Deno.test("Other methods are answered with METHOD_NOT_ALLOWED, 405 and Allow", async () => {
  await using server = await serveRouter(router);
  for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"]) {
    const { status, headers, body } = await server.request({
      ...postOf({ path: ["write"], type: "mutation" }),
      method,
    });
    assertEquals([status, body.error.code], [405, "METHOD_NOT_ALLOWED"]);
    assertEquals(headers.get("allow"), "GET, HEAD, POST");
  }
});
