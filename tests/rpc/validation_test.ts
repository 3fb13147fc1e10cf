import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createCaller,
  createRouter,
  type ErrorReport,
  procedure,
  type Schema,
} from "@quartet/kit/rpc";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { ask, errorLog, postOf } from "./helpers.ts";

/** Calls a query with this schema. */
async function send(schema: Schema, input: unknown, onError?: ErrorReport) {
  const router = createRouter({
    echo: procedure.query(schema, ({ input }) => ({ input })),
  }, onError && { onError });
  const { body } = await ask(
    router,
    postOf({ path: ["echo"], type: "query", input }),
  );
  return body;
}

/** The first issue of some details, and how many more there are. */
function textOf(details: { path?: PropertyKey[]; message: string }[]): string {
  const [first = details as never, ...more] = Array.isArray(details)
    ? details
    : [];
  const text = first.path?.length
    ? `${first.path.join(".")}: ${first.message}`
    : first.message ?? "Validation failed";
  return more.length === 0 ? text : `${text} (and ${more.length} more)`;
}

/** Returns the details of a failed validation. */
async function detailsOf(schema: Schema, input: unknown): Promise<unknown> {
  const { ok, error, ...rest } = await send(schema, input);
  assertEquals([ok, rest], [false, {}]);
  const { code, message, details, ...more } = error;
  assertEquals([code, message, more], [
    "VALIDATION_ERROR",
    `Input validation failed for echo: ${textOf(details)}`,
    {},
  ]);
  return details;
}

function throwing(error: unknown): Schema {
  return {
    parse() {
      throw error;
    },
  };
}

Deno.test("Callers only see path, message and code of an error's issues", async () => {
  const error = Object.assign(new Error("secret"), {
    stack: "secret",
    input: "secret",
    issues: [{
      path: ["user", 0, "name"],
      message: "Too short",
      code: "too_small",
      input: "secret",
      received: "secret",
      minimum: 5,
      cause: new Error("secret"),
      stack: "secret",
      path2: "secret",
    }],
  });
  assertEquals(await detailsOf(throwing(error), 1), [
    { path: ["user", 0, "name"], message: "Too short", code: "too_small" },
  ]);
});

Deno.test("Callers only see the message of an ordinary Error", async () => {
  const error = Object.assign(new TypeError("Not a month"), {
    code: "secret",
    path: "secret",
    cause: new Error("secret"),
    details: "secret",
  });
  assertEquals(await detailsOf(throwing(error), 1), { message: "Not a month" });
});

Deno.test("Callers see nothing of other values that a schema throws", async () => {
  for (
    const thrown of [
      "secret",
      5,
      null,
      undefined,
      { message: "secret" },
      { issues: "secret" },
      Symbol("secret"),
      Object.create(null),
    ]
  ) {
    assertEquals(await detailsOf(throwing(thrown), 1), {
      message: "Validation failed",
    });
  }
});

Deno.test("Callers see the valid parts of malformed issues", async () => {
  const issues = [
    null,
    "secret",
    { message: 5, code: 6, path: "secret" },
    { message: "m", path: [Symbol("key"), { key: "k", secret: 1 }, 7n, null] },
    [],
  ];
  assertEquals(await detailsOf(throwing({ issues }), 1), [
    { message: "Validation failed" },
    { message: "Validation failed" },
    { message: "Validation failed" },
    { path: ["Symbol(key)", "k", "7", "null"], message: "m" },
    { message: "Validation failed" },
  ]);
});

Deno.test("Details have the first 100 issues, and the message counts the others", async () => {
  for (const count of [99, 100, 101, 20_000]) {
    const { error } = await send(z.array(z.string()), Array(count).fill(0));
    assertEquals(error.details.length, Math.min(count, 100));
    assertEquals(error.details.at(-1), {
      path: [Math.min(count, 100) - 1],
      message: "Invalid input: expected string, received number",
      code: "invalid_type",
    });
    assertEquals(
      error.message,
      `Input validation failed for echo: 0: Invalid input: expected string, received number (and ${
        count - 1
      } more)`,
    );
  }
});

Deno.test("Long messages, keys and paths of issues are cut, and the details have at most 64 KiB", async () => {
  const long = "\u0001".repeat(3_000);
  const path = Array(65).fill(long);
  const issues = Array(50).fill({ path, message: long, code: "long" });
  const { error } = await send(throwing({ issues }), 1);
  assertEquals(error.details.length, 1);
  const [issue] = error.details;
  assertEquals(issue.path.length, 64);
  assertEquals(
    issue.path[0],
    `${"\u0001".repeat(128)}… (2872 more characters)`,
  );
  assertEquals(
    issue.message,
    `${"\u0001".repeat(2_000)}… (1000 more characters)`,
  );
  assert(JSON.stringify(error).length <= 65_536 + 2_000);
  assert(error.message.endsWith(" (and 49 more)"));

  const { error: one } = await send(throwing(new Error(long)), 1);
  assertEquals(one.details, { message: issue.message });
  const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [
    `key${i}`,
    1,
  ]));
  const { error: unknown } = await send(z.strictObject({}), keys);
  assert(JSON.stringify(unknown).length < 4_000);
});

Deno.test("A quoted value doesn't appear where a long message is cut", async () => {
  const secret = "secret ".repeat(500);
  const message = `${" ".repeat(1_980)}"${secret}" is wrong`;
  const { error } = await send(throwing({ issues: [{ message }] }), secret);
  assertEquals(error.details[0].message.trim(), "a string is wrong");
});

Deno.test("Many issues about one value read it once", async () => {
  let reads = 0;
  const input = {
    get name() {
      reads++;
      return "ada";
    },
  };
  const issues = Array(100).fill({ message: 'received "ada"' });
  const router = createRouter({
    add: procedure.query(throwing({ issues }), () => 1),
  });
  const error = await createCaller(router).add.query(input as never)
    .catch((error) => error);
  assertEquals(error.details.at(-1), { message: "received a string" });
  assertEquals(reads, 1);
});

Deno.test("The rejected value is never part of the response", async () => {
  const schema = z.object({
    card: z.string().length(16),
    kind: z.union([z.literal("a"), z.object({ b: z.number() })]),
    list: z.array(z.number()),
    size: z.number().max(5).refine(() => false, { params: { secret: 1 } }),
  });
  const details = await detailsOf(schema, {
    card: "secret",
    kind: { b: "secret" },
    list: ["secret"],
    size: 987654321,
  });
  const text = JSON.stringify(details);
  assert(!text.includes("secret") && !text.includes("987654321"), text);
  for (const issue of details as object[]) {
    assertEquals(Object.keys(issue).sort(), ["code", "message", "path"]);
  }
});

Deno.test("Messages that quote the rejected value get its type instead", async () => {
  const confirmed = type({ password: "string", pin: "number", kind: "'b'" })
    .narrow((_form, context) => context.mustBe("confirmed"));
  const strange = 'it\'s "se\\cret"\n';
  const parse = () => {
    throw new Error('"secret" and 1234 are in use, was 1234');
  };
  const cases: [unknown, unknown, string | RegExp][] = [
    [
      v.pipe(v.string(), v.digits()),
      "secret",
      "Invalid digits: Received a string",
    ],
    [
      v.pipe(v.string(), v.digits()),
      strange,
      "Invalid digits: Received a string",
    ],
    [
      v.pipe(v.string(), v.trim(), v.digits()),
      " secret ",
      "Invalid digits: Received a string",
    ],
    [
      v.pipe(v.number(), v.maxValue(5)),
      1234.5,
      "Invalid value: Expected <=5 but received a number",
    ],
    [
      v.pipe(v.string(), v.minLength(9)),
      "secret",
      "Invalid length: Expected >=9 but received 6",
    ],
    [
      v.strictObject({}),
      { secret: 1 },
      'Invalid key: Expected never but received "secret"',
    ],
    [type("string.email"), "secret", "must be an email address (was a string)"],
    [type("string.email"), strange, "must be an email address (was a string)"],
    [type("'a' | 'b'"), "secret", 'must be "a" or "b" (was a string)'],
    [type("number <= 4"), 1234, "must be at most 4 (was a number)"],
    // The name isn't the rejected value.
    [
      type({ kind: "'a'", on: "true" }).or({ kind: "'b'", no: "false" }),
      { kind: "secret", name: "a" },
      'kind must be "a" or "b" (was a string)',
    ],
    [
      confirmed,
      { password: "secret", pin: 1234, kind: "b" },
      'must be confirmed (was {"password":a string,"pin":a number,"kind":a string})',
    ],
    [
      z3.enum(["a"]),
      "secret",
      "Invalid enum value. Expected 'a', received a string",
    ],
    [z.number().positive(), 0, "Too small: expected number to be >0"],
    [z.email(), "email", "Invalid email address"],
    [{ parse }, ["secret", 1234], "a string and 1234 are in use, was a number"],
  ];
  for (const [schema, input, expected] of cases) {
    const details = await detailsOf(schema as Schema, input);
    const [{ message }] = [details].flat() as [{ message: string }];
    assertEquals(message, expected);
  }
});

const user = { name: "ada", size: "big" };

Deno.test("zod, Valibot, ArkType and a parse function check inputs and report issues", async () => {
  assertEquals(
    await detailsOf(z.object({ name: z.string(), size: z.number() }), user),
    [{
      path: ["size"],
      message: "Invalid input: expected number, received string",
      code: "invalid_type",
    }],
  );
  assertEquals(
    await detailsOf(v.object({ name: v.string(), size: v.number() }), user),
    [{
      path: ["size"],
      message: "Invalid type: Expected number but received a string",
    }],
  );
  assertEquals(
    await detailsOf(type({ name: "string", size: "number" }) as never, user),
    [{
      path: ["size"],
      message: "size must be a number (was a string)",
      code: "domain",
    }],
  );
  // The path of the value itself is empty.
  assertEquals(await detailsOf(type({ name: "string" }) as never, "ada"), [{
    path: [],
    message: "must be an object (was a string)",
    code: "domain",
  }]);
  const parse = (value: unknown) => {
    if (typeof value === "string") return value;
    throw new Error("Not a text");
  };
  assertEquals(await detailsOf({ parse }, 5), { message: "Not a text" });
});

Deno.test("Handlers receive the schema's output: defaults, transforms, no unknown fields", async () => {
  const cases: [Schema, unknown, unknown][] = [
    [
      z.object({ size: z.number().default(20) }),
      { extra: 1 },
      { size: 20 },
    ],
    [z.string().transform((text) => text.length), "abc", 3],
    [z.number().default(5), undefined, 5],
    [z.string().optional(), undefined, undefined],
    [v.object({ size: v.optional(v.number(), 20) }), {}, { size: 20 }],
    [type({ size: "number = 20" }) as never, {}, { size: 20 }],
    [{ parse: (value: unknown) => [value] }, 1, [1]],
    [{ parse: (value: unknown) => Promise.resolve([value]) }, 1, [1]],
    [z.string().refine((text) => Promise.resolve(text !== "")), "a", "a"],
    [
      v.pipeAsync(v.string(), v.transformAsync((t) => Promise.resolve(t + 1))),
      "a",
      "a1",
    ],
  ];
  for (const [schema, input, expected] of cases) {
    const { data } = await send(schema, input);
    assertEquals(data.input, expected);
  }
});

Deno.test("Asynchronous schemas reject inputs like synchronous ones", async () => {
  assertEquals(
    await detailsOf(z.string().refine(() => Promise.resolve(false)), "a"),
    [{ path: [], message: "Invalid input", code: "custom" }],
  );
  assertEquals(
    await detailsOf(
      v.pipeAsync(v.string(), v.checkAsync(() => Promise.resolve(false), "no")),
      "a",
    ),
    [{ message: "no" }],
  );
  assertEquals(
    await detailsOf({ parse: () => Promise.reject(new Error("no")) }, "a"),
    { message: "no" },
  );
  assertEquals(
    await detailsOf({ parse: () => Promise.reject("secret") }, "a"),
    { message: "Validation failed" },
  );
});

Deno.test("A refinement that queries a database runs once, wherever it is, and its failure ends nothing else", async () => {
  let calls = 0;
  const check = z.string().refine(() => {
    calls++;
    return Promise.reject(new Error("No connection"));
  });
  interface Tree {
    name: string;
    left?: Tree | undefined;
  }
  const tree: z.ZodType<Tree> = z.lazy(() =>
    z.object({ name: check, left: tree.optional() })
  );
  const cases: [Schema, unknown][] = [
    [check, "a"],
    [z.object({ deep: z.array(check) }), { deep: ["a"] }],
    [z.union([z.number(), check]), "a"],
    [z.record(z.string(), check), { a: "a" }],
    [z.tuple([check]), ["a"]],
    [z.map(z.string(), check), undefined],
    [tree, { name: "a" }],
    [check.optional(), "a"],
    [check.readonly().nullable(), "a"],
    [z.object({ a: z.string() }).check(z.property("a", check)), { a: "a" }],
    [z.string().pipe(check), "a"],
    [z.preprocess((value) => value, check), "a"],
    [z.discriminatedUnion("k", [z.object({ k: z.literal("a"), check })]), {
      k: "a",
      check: "a",
    }],
    [z.intersection(z.object({ check }), z.object({})), { check: "a" }],
    [z.string().transform(() => check.parseAsync("a")), "a"],
    [z.string().superRefine(async () => void await check.parseAsync("a")), "a"],
    [
      z.codec(z.string(), z.string(), {
        decode: () => check.parseAsync("a"),
        encode: (text) => text,
      }),
      "a",
    ],
  ];
  for (const [i, [schema, input]] of cases.entries()) {
    calls = 0;
    if (input === undefined) {
      await detailsOf(schema, input);
      continue;
    }
    const { error } = await send(schema, input, () => {});
    assertEquals(error, {
      code: "INTERNAL_ERROR",
      message: "Internal server error",
    }, `${i}`);
    assertEquals(calls, 1, `${i}`);
  }
});

Deno.test("Callers receive the output of an output schema, also for each value of a stream", async () => {
  const out = z.object({ id: z.number() });
  const value = { id: 1, password: "secret" };
  const router = createRouter({
    query: procedure.output(out).query(() => value),
    mutation: procedure.output(out).mutation(() => Promise.resolve(value)),
    stream: procedure.output(out).subscription(async function* () {
      yield value;
      yield await Promise.resolve({ ...value, id: 2 });
    }),
    defaulted: procedure
      .output(z.object({ at: z.date().transform((at) => at.getTime()) }))
      .query(() => ({ at: new Date(5) })),
  });
  const caller = createCaller(router);
  assertEquals(await caller.query.query(), { id: 1 });
  assertEquals(await caller.mutation.mutate(), { id: 1 });
  assertEquals(await Array.fromAsync(caller.stream.subscribe()), [
    { id: 1 },
    { id: 2 },
  ]);
  assertEquals(await caller.defaulted.query(), { at: 5 });
  const { text } = await ask(router, {}, "?path=query");
  assertEquals(text, '{"ok":true,"data":{"id":1}}');
});

Deno.test("A rejected output is logged with its issues, without the value", async () => {
  const log = errorLog();
  const router = createRouter({
    query: procedure
      .output(z.object({ name: z.string() }))
      .query(() => ({ name: 5 as never })),
  }, log);
  await ask(router, {}, "?path=query");
  const { message } = log.logged[0] as Error;
  assertEquals(
    message,
    'Cannot answer query: its output doesn\'t match its schema: [{"path":["name"],"message":"Invalid input: expected string, received number","code":"invalid_type"}]',
  );
});

Deno.test("Recursive zod schemas are checked, even if created anew at each level", async () => {
  const lazy = (): z.ZodType =>
    z.object({ n: z.number(), children: z.array(z.lazy(lazy)) });
  // deno-lint-ignore no-explicit-any -- a recursive type
  const shape = (): any =>
    z.object({
      n: z.number(),
      get children() {
        return z.array(shape());
      },
    });
  const value = { n: 1, children: [{ n: 2, children: [] }] };
  const wrong = { n: 1, children: [{ n: "2", children: [] }] };
  for (const schema of [lazy(), shape()]) {
    assertEquals((await send(schema, value)).data, { input: value });
    assertEquals(await detailsOf(schema, wrong), [{
      path: ["children", 0, "n"],
      message: "Invalid input: expected number, received string",
      code: "invalid_type",
    }]);
  }
});

Deno.test("Functions for defaults are called only when a value is missing", async () => {
  let calls = 0;
  const next = () => ++calls;
  const schema = z.object({
    a: z.number().default(next),
    b: z.number().prefault(next),
    c: z.number().catch(next),
  });
  const given = { a: 10, b: 20, c: 30 };
  assertEquals((await send(schema, given)).data, { input: given });
  assertEquals(calls, 0);
  const { data } = await send(schema, {});
  assertEquals(data, { input: { a: 1, b: 2, c: 3 } });
});

/** Returns a Standard Schema with this function. */
function standard(validate: (value: unknown) => unknown): Schema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

Deno.test("The result of a schema is awaited, whatever kind of promise it is", async () => {
  const later = (result: unknown) => ({
    then: (resolve: (result: unknown) => void) => resolve(result),
  });
  const issues = [{ message: "no" }];
  assertEquals(await detailsOf(standard(() => later({ issues })), 1), issues);
  const good = standard((value) => later({ value }));
  assertEquals((await send(good, 1)).data, { input: 1 });
  const parse = () => ({
    then: (_: unknown, reject: (error: unknown) => void) =>
      reject(new Error("no")),
  });
  assertEquals(await detailsOf({ parse }, 1), { message: "no" });
});

Deno.test("An input schema without a result rejects everything, and is logged", async () => {
  for (const result of [undefined, null, true, "value", {}]) {
    const log = errorLog();
    for (const validate of [() => result, () => Promise.resolve(result)]) {
      let reached = false;
      const router = createRouter({
        query: procedure.query(standard(validate), () => {
          reached = true;
        }),
      }, log);
      const { status, body } = await ask(router, {}, "?path=query&input=1");
      assertEquals([status, body.error], [500, {
        code: "INTERNAL_ERROR",
        message: "Internal server error",
      }]);
      assert(!reached);
    }
    assertEquals(
      log.logged.map(String),
      Array(2).fill(
        "TypeError: Cannot check value: the schema returned neither a value nor issues",
      ),
    );
  }
});

Deno.test("An output schema without a result rejects everything, and is logged", async () => {
  const log = errorLog();
  const router = createRouter({
    query: procedure.output(standard(() => undefined)).query(() => "secret"),
  }, log);
  const { status, text } = await ask(router, {}, "?path=query");
  assertEquals(status, 500);
  assert(!text.includes("secret"));
  assertEquals(log.logged.map(String), [
    "TypeError: Cannot check value: the schema returned neither a value nor issues",
  ]);
});

Deno.test("Errors thrown by a schema's code are logged, and rejected inputs aren't", async () => {
  const failure = new Error("No connection");
  const fail = () => {
    throw failure;
  };
  const log = errorLog();
  const inner = z.number();
  const router = createRouter({
    sync: procedure.query(standard(fail), () => 1),
    async: procedure.query(
      z.string().refine(() => Promise.reject(failure)),
      () => 1,
    ),
    parse: procedure.query({ parse: fail }, () => 1),
    refuses: procedure.query(z.number(), () => 1),
    piped: procedure.query(z.string().transform(Number).pipe(inner), () => 1),
  }, log);
  const answerTo = async (path: string) => {
    const { status, body } = await ask(router, {}, `?path=${path}&input="a"`);
    return [status, body.error.code];
  };
  for (const path of ["parse", "refuses", "piped"]) {
    assertEquals(await answerTo(path), [400, "VALIDATION_ERROR"]);
  }
  assertEquals(log.logged, []);
  for (const path of ["sync", "async"]) {
    assertEquals(await answerTo(path), [500, "INTERNAL_ERROR"]);
  }
  assertEquals(log.logged, [failure, failure]);
});

Deno.test("An invalid schema is rejected when the procedure is defined", () => {
  for (const schema of [null, 5, {}, { validate() {} }, "string"]) {
    assertThrows(
      () => procedure.query(schema as never, () => 1),
      TypeError,
      "Cannot define a query: its input must be a schema",
    );
    assertThrows(() => procedure.output(schema as never), TypeError);
  }
});
