import { assert, assertEquals } from "@std/assert";
import { type CallInfo, createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { ask, errorLog, postOf, serveRouter, writeAll } from "./helpers.ts";

Deno.test("Queries accept GET and POST, mutations accept POST, and both answer with the envelope", async () => {
  const router = createRouter({
    v1: {
      user: {
        get: procedure.query(z.object({ id: z.number() }), ({ input }) => ({
          id: input.id,
          name: "ada",
        })),
        rename: procedure.mutation(z.string(), ({ input }) => `now ${input}`),
      },
    },
    nothing: procedure.query(() => {}),
    nil: procedure.query(() => null),
  });
  await using server = await serveRouter(router);
  const answers = [
    await server.get("v1.user.get", { id: 7 }),
    await server.post({
      path: ["v1", "user", "get"],
      type: "query",
      input: { id: 7 },
    }),
    await server.post({
      path: ["v1", "user", "rename"],
      type: "mutation",
      input: "bob",
    }),
    await server.get("nothing"),
    await server.get("nil"),
  ];
  for (const { status, headers } of answers) {
    assertEquals(status, 200);
    assertEquals(headers.get("content-type"), "application/json");
  }
  assertEquals(answers.map(({ text }) => text), [
    '{"ok":true,"data":{"id":7,"name":"ada"}}',
    '{"ok":true,"data":{"id":7,"name":"ada"}}',
    '{"ok":true,"data":"now bob"}',
    '{"ok":true}',
    '{"ok":true,"data":null}',
  ]);
});

Deno.test("The URL may name the procedure, and the body of a POST is then its input", async () => {
  const router = createRouter({
    user: {
      rename: procedure.mutation(z.string(), ({ input }) => `now ${input}`),
      get: procedure.query(z.number(), ({ input }) => input),
      ping: procedure.mutation(() => "pong"),
    },
  });
  await using server = await serveRouter(router);
  assertEquals(
    (await server.request(postOf('"bob"'), "/user.rename")).body.data,
    "now bob",
  );
  assertEquals(
    (await server.request({}, "/user.get?input=5")).body.data,
    5,
  );
  assertEquals((await server.request(postOf("5"), "/user.get")).body.data, 5);
  assertEquals(
    (await server.request(postOf(""), "/user.ping")).body.data,
    "pong",
  );
  for (
    const [init, path, code] of [
      [{}, "/user.rename", "METHOD_MISMATCH"],
      [{}, "/", "PARSE_ERROR"],
      [{}, "/user", "NOT_FOUND"],
      [{}, "/user/get", "NOT_FOUND"],
      [{}, "/__proto__", "NOT_FOUND"],
      [{}, "/%", "NOT_FOUND"],
      [postOf("{"), "/user.rename", "PARSE_ERROR"],
    ] as const
  ) {
    const { body } = await server.request(init, path);
    assertEquals(body.error.code, code, path);
  }
});

Deno.test("A handler receives input, ctx, request, signal, path, type and fields of middlewares", async () => {
  let seen: Record<string, unknown> = {};
  const router = createRouter({
    a: {
      b: procedure
        .context<{ tenant: string }>()
        .use(({ next }) => next({ user: "ada" }))
        .mutation(
          z.number(),
          ({ input, ctx, request, signal, path, type, user }) => {
            seen = { input, ctx, request, signal, path, type, user };
          },
        ),
    },
  });
  const request = new Request(
    "http://localhost/",
    postOf({ path: ["a", "b"], type: "mutation", input: 5 }),
  );
  const ctx = { tenant: "acme" };
  const response = await router.handler(request, ctx);
  assertEquals(response.status, 200);
  const { signal, request: own, ctx: ownCtx, ...rest } = seen;
  assertEquals(rest, { input: 5, path: "a.b", type: "mutation", user: "ada" });
  assert(signal instanceof AbortSignal && !signal.aborted);
  assert(own === request && ownCtx === ctx);
});

Deno.test("A procedure without a schema receives no input", async () => {
  let args: Record<string, unknown> = {};
  const router = createRouter({
    none: procedure.mutation((given) => {
      args = given as unknown as Record<string, unknown>;
    }),
  });
  await ask(
    router,
    postOf({
      path: ["none"],
      type: "mutation",
      input: { admin: true },
      ctx: "mine",
      user: "root",
    }),
  );
  assertEquals(args.input, undefined);
  assertEquals([args.ctx, args.user], [undefined, undefined]);
});

Deno.test("Middlewares run from the outside in and back, and add fields for inner ones", async () => {
  const order: string[] = [];
  const outer = procedure.use(async ({ next, path, type }) => {
    order.push(`outer ${path} ${type}`);
    const result = await next({ user: "ada", level: 1 });
    order.push(`outer got ${result.output}`);
    return result;
  });
  const inner = outer.use(async ({ next, user, level }) => {
    order.push(`inner ${user} ${level}`);
    const result = await next({ level: 2 });
    order.push("inner back");
    return result;
  });
  const router = createRouter({
    plain: outer.query(({ user, level }) => `${user} ${level}`),
    both: inner.query(({ user, level }) => `${user} ${level}`),
  });
  assertEquals((await ask(router, {}, "?path=both")).body.data, "ada 2");
  assertEquals(order, [
    "outer both query",
    "inner ada 1",
    "inner back",
    "outer got ada 2",
  ]);
  // A builder stays unchanged when others are derived from it.
  assertEquals((await ask(router, {}, "?path=plain")).body.data, "ada 1");
});

Deno.test("A middleware sees errors from inside, may throw others, and runs before validation", async () => {
  const seen: unknown[] = [];
  const watched = procedure.use(async ({ next }) => {
    try {
      return await next();
    } catch (error) {
      seen.push((error as { code?: string }).code ?? error);
      throw error;
    }
  });
  const failure = new Error("x");
  const log = errorLog();
  const router = createRouter({
    sized: watched.query(z.number(), () => 1),
    fails: watched.query(() => Promise.reject(failure)),
  }, log);
  const refused = await ask(router, {}, '?path=sized&input="x"');
  assertEquals(refused.body.error.code, "VALIDATION_ERROR");
  await ask(router, {}, "?path=fails");
  assertEquals(seen, ["VALIDATION_ERROR", failure]);
  assertEquals(log.logged, [failure]);
});

Deno.test("Calling next() twice, or not returning its result, is an error that says so", async () => {
  const log = errorLog();
  let handled = 0;
  const router = createRouter({
    twice: procedure
      .use(async ({ next }) => {
        await next();
        return await next();
      })
      .query(() => ++handled),
    forgets: procedure.use((async () => {}) as never).query(() => ++handled),
    invents: procedure
      .use((() => Promise.resolve({ output: "mine" })) as never)
      .query(() => ++handled),
    drops: procedure
      .use((({ next }: { next(): unknown }) => void next()) as never)
      .query(() => {
        handled++;
        throw new Error("nobody waits for this");
      }),
    ...Object.fromEntries(
      [
        ...["input", "ctx", "request", "signal", "path", "type", "next"],
        "lastEventId",
      ].map((name) => [
        name,
        procedure
          .use(({ next }) => next({ [name]: "mine" } as never))
          .query(() => ++handled),
      ]),
    ),
  }, log);
  for (const path of Object.keys(router._def)) {
    const { body } = await ask(router, {}, `?path=${path}`);
    assertEquals(body.error.code, "INTERNAL_ERROR", path);
  }
  assertEquals(log.logged.map((error) => (error as Error).message), [
    "Cannot call next() twice: a middleware of twice did",
    "Cannot answer forgets: a middleware must return the result of next()",
    "Cannot answer invents: a middleware must return the result of next()",
    "Cannot answer drops: a middleware must return the result of next()",
    ...["input", "ctx", "request", "signal", "path", "type", "next"].map((
      name,
    ) => `Cannot add ${name} with next(): every handler has that field`),
    "Cannot add lastEventId with next(): every handler has that field",
  ]);
  assertEquals(handled, 2);
});

Deno.test("A disconnecting client aborts the signal of its call, and no error is logged", async () => {
  const log = errorLog();
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<CallInfo<unknown>>();
  const router = createRouter({
    slow: procedure.mutation(async (call) => {
      started.resolve();
      await new Promise((_, reject) =>
        call.signal.addEventListener("abort", () => reject(call.signal.reason))
      ).finally(() => aborted.resolve(call as CallInfo<unknown>));
    }),
  }, log);
  await using server = await serveRouter(router);
  const connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  const body = '{"path":["slow"],"type":"mutation"}';
  await writeAll(
    connection,
    new TextEncoder().encode(
      `POST /api/rpc HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  await started.promise;
  connection.close();
  const { signal } = await aborted.promise;
  assertEquals(signal.aborted, true);
  assertEquals(log.logged, []);
});

Deno.test("The signal of an answered call never aborts", async () => {
  const signals: AbortSignal[] = [];
  const router = createRouter({
    quick: procedure.query(({ signal }) => {
      signals.push(signal);
    }),
    slow: procedure.query(async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve));
      signals.push(signal);
    }),
    fails: procedure.query(({ signal }) => {
      signals.push(signal);
      throw new Error("x");
    }),
  }, errorLog());
  {
    await using server = await serveRouter(router);
    for (const path of ["quick", "slow", "fails"]) await server.get(path);
    await server.post({
      batch: [
        { path: ["quick"], type: "query" },
        { path: ["slow"], type: "query" },
      ],
    });
  }
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(signals.map(({ aborted }) => aborted), Array(5).fill(false));
});
