/**
 * A caller only learns that a call failed, whatever failed on the server. The
 * failure is logged once.
 */

import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import {
  createRouter,
  procedure,
  type RouterDef,
  RPCError,
} from "@quartet/kit/rpc";
import { z } from "zod";
import {
  type Answer,
  ask,
  connect,
  errorLog,
  queryOf,
  serveRouter,
  subscribe,
  until,
} from "./helpers.ts";

const SECRET = "postgres://root:hunter2@10.0.0.7";
const INTERNAL = { code: "INTERNAL_ERROR", message: "Internal server error" };

class DatabaseError extends Error {
  override name = "DatabaseError";
  query = SECRET;
  details = SECRET;
  status = 418;
  code = SECRET;
  toJSON() {
    return SECRET;
  }
}

function fail(): never {
  throw new DatabaseError(SECRET, { cause: new Error(SECRET) });
}

const cycle: Record<string, unknown> = { secret: SECRET };
cycle.self = cycle;

const thrown: Record<string, unknown> = {
  "an Error": new DatabaseError(SECRET),
  "an AggregateError": new AggregateError([new Error(SECRET)], SECRET),
  "an AbortError": new DOMException(SECRET, "AbortError"),
  "a string": SECRET,
  "an object": { code: "FORBIDDEN", message: SECRET, status: 403 },
  "undefined": undefined,
  "null": null,
  "an object without a prototype": Object.create(null),
  "an Error whose message throws": Object.defineProperty(
    new Error(),
    "message",
    { get: fail },
  ),
  "a redirection": Response.redirect(`http://localhost/${SECRET}`),
};

/** Failing procedures, by the kind of failure. */
const calls: Record<string, RouterDef[string]> = {
  ...Object.fromEntries(
    Object.entries(thrown).flatMap(([what, error]) => [
      [
        `throws ${what}`,
        procedure.query(() => {
          throw error;
        }),
      ],
      [`rejects with ${what}`, procedure.query(() => Promise.reject(error))],
    ]),
  ),
  "fails in a middleware": procedure.use(() => fail()).query(() => 1),
  "fails in a middleware after next()": procedure
    .use(async ({ next }) => {
      await next();
      return fail();
    })
    .query(() => 1),
  "returns a value that its output schema rejects": procedure
    .output(z.object({ name: z.string() }))
    .query(() => ({ name: { secret: SECRET } as unknown as string })),
  "has an output schema that throws": procedure
    .output({ parse: () => fail() })
    .query(() => 1 as never),
  "has an asynchronous output schema that fails": procedure
    .output(z.string().refine(() => Promise.reject(new Error(SECRET))))
    .query(() => SECRET),
  "gives a bigint": procedure.query(() => ({ secret: SECRET, size: 1n })),
  "gives a cycle": procedure.query(() => cycle),
  "returns an object whose toJSON throws": procedure.query(() => ({
    toJSON: fail,
  })),
  "returns an object with a getter that throws": procedure.query(() => ({
    get secret() {
      return fail();
    },
  })),
};

for (const [how, procedure] of Object.entries(calls)) {
  Deno.test(`A procedure that ${how} reveals nothing to its caller and is logged once`, async () => {
    const log = errorLog();
    const router = createRouter({ fail: procedure }, log);
    const single = await ask(router, {}, queryOf("fail"));
    assertEquals(single.status, 500);
    assertEquals(single.body, { ok: false, error: INTERNAL });
    assertEquals(log.logged.length, 1);

    const batch = await ask(router, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"batch":[{"path":["fail"],"type":"query"}]}',
    });
    assertEquals(batch.body.data, [
      { ok: false, status: 500, error: INTERNAL },
    ]);
    assertEquals(log.logged.length, 2);
    const names = ({ headers }: Answer) => [...headers.keys()];
    assertEquals(names(single), ["cache-control", "content-type"]);
    assertEquals(names(batch), ["content-type"]);
  });
}

const never = new Promise<void>(() => {});

/** Failing subscriptions, by the kind of failure. */
const streams: Record<string, () => AsyncIterable<unknown>> = {
  ...Object.fromEntries(
    Object.entries(thrown).map(([what, error]) => [
      `throws ${what}`,
      // deno-lint-ignore require-yield -- it throws first
      async function* () {
        throw error;
      },
    ]),
  ),
  "fails before its generator is made": fail,
  "fails in finally": async function* () {
    try {
      yield await Promise.resolve(1);
    } finally {
      fail();
    }
  },
  "yields a bigint": async function* () {
    yield await Promise.resolve(1n);
    await never;
  },
  "yields a cycle": async function* () {
    yield await Promise.resolve(cycle);
  },
  "yields an object whose toJSON throws": async function* () {
    yield await Promise.resolve({ toJSON: fail });
  },
  "gives no stream": () => SECRET as unknown as AsyncIterable<unknown>,
  "returns an iterator that throws": () => ({
    [Symbol.asyncIterator]: () => ({ next: fail }),
  }),
  "returns an iterator whose return() throws": () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: cycle }),
      return: fail,
    }),
  }),
};

Deno.test("A failing subscription reveals nothing to its caller and is logged once, however it fails", async (t) => {
  const log = errorLog();
  const names = Object.keys(streams);
  const router = createRouter({
    ...Object.fromEntries(
      names.map((name, i) => [`s${i}`, procedure.subscription(streams[name]!)]),
    ),
    refused: procedure
      .output(z.string())
      .subscription(async function* () {
        yield await Promise.resolve(5 as unknown as string);
      }),
    guarded: procedure.use(() => fail()).subscription(async function* () {}),
  }, log);
  await using server = await serveRouter(router);
  await using client = await connect(server);
  const paths = [...names.map((_, i) => `s${i}`), "refused", "guarded"];
  for (const [i, path] of paths.entries()) {
    await t.step(names[i] ?? path, async () => {
      log.logged.length = 0;
      client.send(subscribe("a", path));
      const messages = await client.settle();
      while (messages.at(-1)?.type !== "error") {
        messages.push(await client.next());
      }
      assertEquals(messages.at(-1), {
        type: "error",
        id: "a",
        error: INTERNAL,
      });
      assertFalse(JSON.stringify(messages).includes("hunter2"));
      assertEquals(log.logged.length, 1);
    });
  }
});

Deno.test("An error in finally after an unsubscribe is logged once and not sent to the client", async () => {
  const log = errorLog();
  const router = createRouter({
    waits: procedure.subscription(async function* ({ signal }) {
      try {
        yield "ready";
        await new Promise((resolve) =>
          signal.addEventListener("abort", resolve)
        );
      } finally {
        fail();
      }
    }),
    stands: procedure.subscription(async function* () {
      try {
        for (;;) yield await new Promise((resolve) => setTimeout(resolve));
      } finally {
        fail();
      }
    }),
  }, log);
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (const path of ["waits", "stands"]) {
    log.logged.length = 0;
    client.send(subscribe(path, path));
    await client.next();
    client.send({ type: "unsubscribe", id: path });
    await until(() => log.logged.length > 0);
    const after = await client.settle();
    assert(after.every(({ type }) => type === "data"));
    assertEquals(log.logged.length, 1);
  }
});

Deno.test("A subscription that ends because its client left isn't an error", async () => {
  const log = errorLog();
  let ended = 0;
  const router = createRouter({
    waits: procedure.subscription(async function* ({ signal }) {
      try {
        yield "ready";
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason))
        );
      } finally {
        ended++;
      }
    }),
  }, log);
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "waits"));
  await client.next();
  client.send({ type: "unsubscribe", id: "a" });
  await until(() => ended > 0);
  assertEquals(await client.settle(), []);
  assertEquals(log.logged, []);
});

Deno.test("A failing logger doesn't prevent responses", async () => {
  let rejects = false;
  const printed: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => printed.push(args);
  try {
    const router = createRouter({
      fail: procedure.query(fail),
      // deno-lint-ignore require-yield -- it throws first
      stream: procedure.subscription(async function* () {
        fail();
      }),
    }, { onError: (error) => rejects ? Promise.reject(error) : fail() });
    await using server = await serveRouter(router);
    assertEquals((await server.get("fail")).body.error, INTERNAL);
    await using client = await connect(server);
    client.send(subscribe("a", "stream"));
    assertEquals(await client.settle(), [
      { type: "error", id: "a", error: INTERNAL },
    ]);
    rejects = true;
    assertEquals((await server.get("fail")).body.error, INTERNAL);
    await until(() => printed.length === 3);
  } finally {
    console.error = error;
  }
  assertEquals(printed.map(([text]) => text), [
    "onError failed:",
    "onError failed:",
    "onError failed:",
  ]);
});

Deno.test("A thrown value that throws when inspected is an INTERNAL_ERROR", async () => {
  const router = createRouter({
    fail: procedure.query(() => {
      throw new Proxy({}, { getPrototypeOf: fail });
    }),
  }, { onError() {} });
  const { status, body } = await ask(router, {}, queryOf("fail"));
  assertEquals([status, body.error], [500, INTERNAL]);
});

Deno.test("Without onError, an error is logged with the procedure's name", async () => {
  const printed: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => printed.push(args);
  const failure = new Error(SECRET);
  try {
    const router = createRouter({
      "50%s": procedure.query(() => Promise.reject(failure)),
    });
    await ask(router, {}, queryOf("50%s"));
  } finally {
    console.error = error;
  }
  const [[format, type, path, text] = []] = printed;
  assertEquals([format, type, path], ["%s %s failed:", "query", "50%s"]);
  assertMatch(
    String(text),
    /^Error: postgres:\/\/REDACTED:REDACTED@10\.0\.0\.7/,
  );
  assertFalse(String(text).includes("hunter2"));
});

Deno.test("Without onError, an error that can't be printed is still logged as a failure", async () => {
  const printed: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => printed.push(args);
  try {
    const router = createRouter({
      fail: procedure.query(() => {
        throw { [Symbol.for("nodejs.util.inspect.custom")]: fail };
      }),
    });
    const { status, body } = await ask(router, {}, queryOf("fail"));
    assertEquals([status, body.error], [500, INTERNAL]);
  } finally {
    console.error = error;
  }
  assertEquals(printed, [
    ["%s %s failed:", "query", "fail", "an error that can't be printed"],
  ]);
});

Deno.test("Without onError, no control character of a caller reaches the console", async () => {
  const printed: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => printed.push(args);
  try {
    const router = createRouter({
      fail: procedure.query(z.string(), ({ input }) => {
        throw new Error(`No such name: ${input}`, { cause: input });
      }),
      text: procedure.query(z.string(), ({ input }) => {
        throw input;
      }),
    });
    const hostile = "\x1b[2J\x9b2J\u202e";
    await ask(router, {}, queryOf("fail", hostile));
    await ask(router, {}, queryOf("fail", "x\nGET / failed: forged"));
    await ask(router, {}, queryOf("text", hostile));
    await ask(router, {}, queryOf("fail", "ada"));
  } finally {
    console.error = error;
  }
  const [escapes, forged, text, plain] = printed.map((args) => args[3]);
  assert(typeof escapes === "string" && typeof forged === "string");
  assertMatch(escapes, /No such name: \\x1b\[2J\\x9b2J\\u202e\n {6}at /);
  assertMatch(forged, /No such name: x\n {2}GET \/ failed: forged\n {6}at /);
  assertEquals(text, "\\x1b[2J\\x9b2J\\u202e");
  assert(plain instanceof Error);
});

Deno.test("A thrown Response with status 429 needs no Retry-After", async () => {
  const router = createRouter({
    fail: procedure.query(() => {
      throw new Response(null, { status: 429 });
    }),
  });
  const { status, headers, body } = await ask(router, {}, queryOf("fail"));
  assertEquals([status, body.error.code], [429, "RATE_LIMITED"]);
  assertEquals(headers.has("retry-after"), false);
});

Deno.test("A thrown Response becomes the error of its status, without its text and headers", async () => {
  const log = errorLog();
  const table = [
    [401, 401, "UNAUTHORIZED", "Unauthorized"],
    [403, 403, "FORBIDDEN", "Forbidden"],
    [404, 404, "NOT_FOUND", "Not found"],
    [409, 409, "BAD_REQUEST", "The request was refused"],
    [429, 429, "RATE_LIMITED", "Too many requests"],
    [503, 503, "INTERNAL_ERROR", "Internal server error"],
  ] as const;
  for (const [thrown, status, code, message] of table) {
    const router = createRouter({
      fail: procedure.query(() => {
        throw new Response(SECRET, {
          status: thrown,
          headers: { "x-secret": SECRET, "retry-after": "7" },
        });
      }),
    }, log);
    const answer = await ask(router, {}, queryOf("fail"));
    assertEquals(answer.status, status);
    assertEquals(answer.body, { ok: false, error: { code, message } });
    assertEquals(answer.headers.get("x-secret"), null);
    assertEquals(
      answer.headers.get("retry-after"),
      thrown === 429 ? "7" : null,
    );
  }
  assertEquals(log.logged, []);
});

Deno.test("onError receives the error as it was thrown, and the call", async () => {
  const seen: unknown[] = [];
  const failure = new Error(SECRET);
  const router = createRouter({
    a: { b: procedure.query(() => Promise.reject(failure)) },
    expected: procedure.query(() => {
      throw new RPCError("MINE", "mine", 500);
    }),
  }, {
    onError: (error, { path, type, request, ctx }) =>
      seen.push([error, path, type, request.url, ctx]),
  });
  const url = "http://localhost/?path=a.b";
  await router.handler(new Request(url), "context");
  assertEquals(seen, [[failure, "a.b", "query", url, "context"]]);
  // An RPCError isn't unexpected, whatever its status.
  await ask(router, {}, queryOf("expected"));
  assertEquals(seen.length, 1);
});
