import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  createCaller,
  createChannel,
  createRouter,
  errors,
  procedure,
  RPCError,
  tracked,
} from "@quartet/kit/rpc";
import { z } from "zod";

const failure = new Error("inside");
const ends: string[] = [];
const router = createRouter({
  a: {
    b: {
      add: procedure.query(
        z.object({ x: z.number(), y: z.number().default(1) }),
        ({ input }) => input.x + input.y,
      ),
    },
  },
  who: procedure.context<string>().query(({ ctx, path, type }) => ({
    ctx,
    path,
    type,
  })),
  date: procedure.mutation(() => new Date(5)),
  request: procedure.query(({ request }) => request.url),
  signal: procedure.query(({ signal }) => signal),
  fails: procedure.query(() => Promise.reject(failure)),
  secret: procedure.query(() => {
    throw errors.forbidden("no");
  }),
  guarded: procedure
    .use(({ next }) => next({ user: "ada" }))
    .query(({ user }) => user),
  count: procedure.subscription(
    z.number(),
    async function* ({ input, lastEventId }) {
      try {
        const from = lastEventId === undefined ? 0 : Number(lastEventId) + 1;
        for (let n = from; n < input; n++) {
          yield await Promise.resolve(tracked(`${n}`, n));
        }
      } finally {
        ends.push("count");
      }
    },
  ),
});

Deno.test("createCaller() runs schemas and middlewares, and returns values unserialized", async () => {
  const caller = createCaller(router, "context");
  assertEquals(await caller.a.b.add.query({ x: 1 }), 2);
  assertEquals(await caller.who.query(), {
    ctx: "context",
    path: "who",
    type: "query",
  });
  const date: Date = await caller.date.mutate();
  assert(date instanceof Date);
  assertEquals(await caller.guarded.query(), "ada");
});

Deno.test("createCaller() rethrows a procedure's error unchanged", async () => {
  const caller = createCaller(router);
  assertEquals(
    await assertRejects(() => caller.fails.query(), Error),
    failure,
  );
  const refused = await assertRejects(() => caller.secret.query(), RPCError);
  assertEquals([refused.code, refused.status], ["FORBIDDEN", 403]);
  const invalid = await assertRejects(
    () => caller.a.b.add.query({ x: "1" as never }),
    RPCError,
  );
  assertEquals([invalid.code, invalid.message], [
    "VALIDATION_ERROR",
    "Input validation failed for a.b.add: x: Invalid input: expected number, received string",
  ]);
});

Deno.test("createCaller() iterates over a subscription, and leaving the loop ends it", async () => {
  const caller = createCaller(router);
  ends.length = 0;
  assertEquals(await Array.fromAsync(caller.count.subscribe(3)), [0, 1, 2]);
  assertEquals(ends, ["count"]);
  const rest = caller.count.subscribe(5, { lastEventId: "2" });
  assertEquals(await Array.fromAsync(rest), [3, 4]);
  for await (const n of caller.count.subscribe(1e9)) if (n === 5) break;
  assertEquals(ends, ["count", "count", "count"]);
});

Deno.test("createCaller() passes on its request and signal", async () => {
  const controller = new AbortController();
  const request = new Request("http://localhost/x");
  const caller = createCaller(router, undefined, {
    request,
    signal: controller.signal,
  });
  assertEquals(await caller.request.query(), request.url);
  const own = new AbortController();
  own.abort();
  assertEquals((await caller.signal.query()).aborted, false);
  assertEquals(
    (await caller.signal.query(undefined, { signal: own.signal })).aborted,
    true,
  );
  const none = { signal: undefined };
  assertEquals((await caller.signal.query(undefined, none)).aborted, false);
  const error = await assertRejects(
    () => createCaller(router).request.query(),
    TypeError,
  );
  assertEquals(
    error.message,
    "Cannot read request: createCaller() got none, use createCaller(router, ctx, { request })",
  );
});

Deno.test("Leaving a caller's subscription aborts its signal, even while it waits for a value", async () => {
  const reasons: string[] = [];
  const router = createRouter({
    stream: procedure.subscription(async function* ({ signal }) {
      signal.addEventListener("abort", () => reasons.push(signal.reason.name));
      yield 1;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
  });
  const caller = createCaller(router);
  for await (const _ of caller.stream.subscribe()) break;
  assertEquals(reasons, ["AbortError"]);
  const iterator = caller.stream.subscribe()[Symbol.asyncIterator]();
  assertEquals(await iterator.next(), { done: false, value: 1 });
  const waiting = iterator.next();
  await new Promise((resolve) => setTimeout(resolve));
  await iterator.return!();
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals(reasons, ["AbortError", "AbortError"]);
});

Deno.test("A stream is ended if its middleware fails after next()", async () => {
  const channel = createChannel<number>();
  const router = createRouter({
    late: procedure
      .use(async ({ next }) => {
        await next();
        throw new Error("after");
      })
      .subscription(({ signal }) => channel.subscribe(signal)),
  });
  const caller = createCaller(router);
  await assertRejects(
    () => Array.fromAsync(caller.late.subscribe()),
    Error,
    "after",
  );
  assertEquals(channel.subscribers, 0);
});

Deno.test("A stream created after its middleware has failed is ended, and the middleware's error is thrown", async () => {
  const begun = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const router = createRouter({
    late: procedure
      .use(async ({ next }) => {
        next();
        await begun.promise;
        throw new Error("first");
      })
      .subscription(async (): Promise<AsyncIterable<number>> => {
        begun.resolve();
        await late.promise;
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.reject(new Error("read")),
            return() {
              ended.resolve();
              return Promise.reject(new Error("second"));
            },
          }),
        };
      }),
  });
  const reading = Array.fromAsync(createCaller(router).late.subscribe());
  await assertRejects(() => reading, Error, "first");
  late.resolve();
  await ended.promise;
});

Deno.test("The signal of a finished call never aborts, even if first read afterwards", async () => {
  let later: (() => AbortSignal) | undefined;
  const router = createRouter({
    late: procedure.query((args) => {
      later = () => args.signal;
      return 1;
    }),
  });
  const controller = new AbortController();
  const { signal } = controller;
  await createCaller(router, undefined, { signal }).late.query();
  const first = later!();
  controller.abort();
  assertEquals([first.aborted, later!().aborted], [false, false]);
});

Deno.test("Handlers and middlewares must be functions", () => {
  const values: [unknown, string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [{}, "an object"],
    ["handler", '"handler"'],
  ];
  for (const [wrong, what] of values) {
    assertThrows(
      () => procedure.query(z.string(), wrong as never),
      TypeError,
      `Cannot define a query: its handler must be a function, received ${what}`,
    );
    assertThrows(
      () => procedure.use(wrong as never),
      TypeError,
      `Cannot define a procedure: a middleware must be a function, received ${what}`,
    );
  }
});

Deno.test("tracked() accepts only ids that a client can send back", () => {
  assertEquals(tracked("x".repeat(256), 1).id.length, 256);
  const wrong: [unknown, string][] = [
    ["", "one of 0"],
    ["x".repeat(257), "one of 257"],
    [5, "a number"],
    [undefined, "undefined"],
  ];
  for (const [id, received] of wrong) {
    assertThrows(
      () => tracked(id as string, 1),
      TypeError,
      `Cannot track value: the id must be a string of 1 to 256 characters, received ${received}`,
    );
  }
});

Deno.test("Finished calls leave no listener on a long-lived signal", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  const caller = createCaller(router, undefined, { signal });
  for (let i = 0; i < 3; i++) await caller.signal.query();
  assertEquals(listeners, 0);
});

Deno.test("createCaller() rejects unknown paths and wrong kinds", async () => {
  // deno-lint-ignore no-explicit-any -- calls that the types forbid
  const caller = createCaller(router) as any;
  const call = async (fn: () => unknown) => await fn();
  const missing = await assertRejects(
    () => call(() => caller.a.c.query()),
    RPCError,
  );
  assertEquals([missing.code, missing.message], [
    "NOT_FOUND",
    "Procedure not found: a.c",
  ]);
  for (
    const wrong of [
      () => caller.date.query(),
      () => caller.who.mutate(),
      () => caller.who.subscribe(),
      () => caller.count.query(),
      () => caller.who.call(),
    ]
  ) await assertRejects(() => call(wrong), TypeError, "Cannot call ");
  // So that an async function can return a caller.
  assertEquals(caller.then, undefined);
  assertEquals(caller.a.then, undefined);
});

Deno.test("createRouter() rejects names that can't be in a path, and values that aren't procedures", () => {
  const fine = procedure.query(() => 1);
  for (
    const def of [
      { "a.b": fine },
      { "": fine },
      { then: fine },
      { a: { "b.c": fine } },
      { a: { then: { b: fine } } },
      { a: { _def: { b: fine }, c: fine } },
    ]
  ) {
    assertThrows(
      () => createRouter(def),
      TypeError,
      "can't be the name of a procedure",
    );
  }
  for (const value of [null, 5, "query", () => 1, [fine], undefined]) {
    assertThrows(
      () => createRouter({ a: value as never }),
      TypeError,
      "Cannot create router: a must be a procedure or an object of procedures",
    );
  }
  const loop: Record<string, unknown> = {};
  loop.again = { loop };
  assertThrows(
    () => createRouter(loop as never),
    TypeError,
    "Cannot create router: again.loop leads back to a router around it",
  );
  for (const name of ["maxBodySize", "maxSubscriptions"] as const) {
    for (const value of [0, -1, 1.5, NaN, Infinity, "5"]) {
      assertThrows(
        () => createRouter({}, { [name]: value as number }),
        TypeError,
        `Cannot create router: ${name} must be a positive integer`,
      );
    }
  }
});

Deno.test("A router can be nested in another, at any depth and more than once", async () => {
  const inner = createRouter({ ping: procedure.query(() => "pong") });
  let deep: Record<string, unknown> = { inner };
  for (let i = 0; i < 50; i++) deep = { [`l${i}`]: deep };
  const router = createRouter({ v1: inner, v2: { old: inner }, deep } as never);
  // deno-lint-ignore no-explicit-any -- its type would have fifty levels
  const caller = createCaller(router) as any;
  assertEquals(await caller.v1.ping.query(), "pong");
  assertEquals(await caller.v2.old.ping.query(), "pong");
  let at = caller.deep;
  for (let i = 49; i >= 0; i--) at = at[`l${i}`];
  assertEquals(await at.inner.ping.query(), "pong");
});
