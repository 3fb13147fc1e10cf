/**
 * Errors thrown by a schema's code are failures of the server, unlike reported
 * issues. Callers don't see them, over any transport.
 */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import {
  createCaller,
  createOpenAPIDocument,
  createRouter,
  errors,
  procedure,
  type RouterDef,
  type Schema,
} from "@quartet/kit/rpc";
import * as v from "valibot";
import { z } from "zod";
import {
  ask,
  connect,
  errorLog,
  postOf,
  queryOf,
  serveRouter,
  subscribe,
} from "./helpers.ts";

const SECRET = "postgres://root:hunter2@10.0.0.7/app";
const INTERNAL = { code: "INTERNAL_ERROR", message: "Internal server error" };

class DatabaseError extends Error {
  override name = "DatabaseError";
  issues = [{ path: ["row"], message: SECRET, code: SECRET }];
}

const failure = new Error(SECRET);
const inner = v.object({ row: v.literal(SECRET) });

function fail(error: unknown = failure): never {
  throw error;
}

function standard(validate: (value: unknown) => unknown): Schema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

/** Returns a schema in the style of zod 3, with `safeParse`. */
function safe(
  safeParse: (value: unknown) => unknown,
  name: "safeParse" | "safeParseAsync" = "safeParse",
): Schema {
  return { parse: () => fail("parse() is called"), [name]: safeParse } as never;
}

/** Schemas whose code throws when they check a string. */
const failing: Record<string, Schema> = {
  "zod's transform that throws": z.string().transform(() => fail()),
  "zod's transform that rejects": z.string()
    .transform(() => Promise.reject(failure)),
  "zod's refinement that throws": z.string().refine(() => fail()),
  "zod's refinement that rejects": z.string()
    .refine(() => Promise.reject(failure)),
  "zod's transform that throws an error with issues": z.string()
    .transform(() => fail(new DatabaseError(SECRET))),
  "zod's transform that rejects with an error with issues": z.string()
    .transform(() => Promise.reject(new DatabaseError(SECRET))),
  "zod's transform in which another schema rejects a row": z.string()
    .transform(() => v.parse(inner, { row: SECRET + "?" })),
  "zod's preprocess that throws": z.preprocess(() => fail(), z.string()),
  "zod's message that throws": z.number({ error: () => fail() }),
  "zod's catch that throws": z.number().catch(() => fail()),
  "zod's lazy schema that throws": z.lazy(() => fail()),
  "zod's nested transform that throws a string": z.string()
    .pipe(z.string().transform(() => fail(SECRET))),
  "Valibot's check that throws": v.pipe(v.string(), v.check(() => fail())),
  "Valibot's check that rejects": v.pipeAsync(
    v.string(),
    v.checkAsync(() => Promise.reject(failure)),
  ),
  "a validate() that throws": standard(() => fail()),
  "a validate() that rejects": standard(() => Promise.reject(failure)),
  "a validate() that throws an error with issues": standard(() =>
    fail(new DatabaseError(SECRET))
  ),
  "a validate() that rejects with an error with issues": standard(() =>
    Promise.reject(new DatabaseError(SECRET))
  ),
  "a validate() that throws issues": standard(() =>
    fail({ issues: [{ message: SECRET }] })
  ),
  "issues that throw when they are read": standard(() => ({
    get issues() {
      return fail();
    },
  })),
  "an issue that throws when it is read": standard(() => ({
    issues: [{
      get message() {
        return fail();
      },
    }],
  })),
  "a safeParse() that throws": safe(() => fail()),
  "a safeParse() without a result": safe(() => ({ error: failure })),
  "a safeParseAsync() that rejects": safe(
    () => Promise.reject(failure),
    "safeParseAsync",
  ),
};

const stream = async function* () {
  yield await Promise.resolve("value" as never);
};

for (const [what, schema] of Object.entries(failing)) {
  Deno.test(`Callers learn nothing of ${what}, in an input or an output`, async () => {
    const log = errorLog();
    const def: RouterDef = {
      input: {
        query: procedure.query(schema, () => 1),
        mutation: procedure.mutation(schema, () => 1),
        stream: procedure.subscription(schema, stream),
      },
      output: {
        query: procedure.output(schema).query(() => "value" as never),
        mutation: procedure.output(schema).mutation(() => "value" as never),
        stream: procedure.output(schema).subscription(stream),
      },
    };
    const router = createRouter(def, log);
    let expected = 0;
    const check = (text: string, error: unknown) => {
      assertFalse(/hunter2|postgres|DatabaseError|row/.test(text), text);
      assertEquals(error, INTERNAL);
      assertEquals(log.logged.length, ++expected);
    };

    await using server = await serveRouter(router);
    await using socket = await connect(server);
    for (const side of ["input", "output"]) {
      const get = await ask(router, {}, queryOf(`${side}.query`, "value"));
      assertEquals(get.status, 500);
      check(get.text, get.body.error);

      const path = [side, "mutation"];
      const call = { path, type: "mutation", input: "value" };
      const post = await ask(router, postOf(call));
      assertEquals(post.status, 500);
      check(post.text, post.body.error);

      const batch = await ask(router, postOf({ batch: [call] }));
      const [{ status, error }] = batch.body.data;
      assertEquals(status, 500);
      check(batch.text, error);

      const rest = await fetch(`${server.url}/${side}.mutation`, postOf('"v"'));
      assertEquals(rest.status, 500);
      const text = await rest.text();
      check(text, JSON.parse(text).error);

      socket.send(subscribe("a", `${side}.stream`, "value"));
      const message = await socket.next();
      check(JSON.stringify(message), message.error);
    }
  });
}

Deno.test("createCaller() rethrows errors of a schema's code unchanged", async () => {
  const schema = z.string().transform(() => fail());
  const caller = createCaller(createRouter({
    input: procedure.query(schema, () => 1),
    output: procedure.output(schema).query(() => "value" as never),
    stream: procedure.subscription(schema, stream),
  }));
  for (
    const call of [
      () => caller.input.query("value"),
      () => caller.output.query(),
      () => Array.fromAsync(caller.stream.subscribe("value")),
    ]
  ) {
    const error = await assertRejects(call);
    assert(error === failure);
  }
});

Deno.test("An RPCError thrown by a schema's code reaches the caller", async () => {
  const log = errorLog();
  const router = createRouter({
    find: procedure.query(
      z.string().transform(() => fail(errors.notFound("No such note"))),
      () => 1,
    ),
  }, log);
  const { status, body } = await ask(router, {}, queryOf("find", "7"));
  assertEquals([status, body.error], [404, {
    code: "NOT_FOUND",
    message: "No such note",
  }]);
  assertEquals(log.logged, []);
});

Deno.test("A schema with safeParse() reports issues in its result, synchronously or later", async () => {
  const issues = [{ path: ["a"], message: "no", code: "c", input: SECRET }];
  const error = Object.assign(new Error(SECRET), { issues });
  for (const name of ["safeParse", "safeParseAsync"] as const) {
    for (
      const wrap of [(x: unknown) => x, (x: unknown) => Promise.resolve(x)]
    ) {
      const router = createRouter({
        echo: procedure.query(
          safe((value) =>
            wrap(
              value === "good"
                ? { success: true, data: "better" }
                : { success: false, error },
            ), name),
          ({ input }) => input,
        ),
      });
      const good = await ask(router, {}, queryOf("echo", "good"));
      assertEquals(good.body, { ok: true, data: "better" });
      const bad = await ask(router, {}, queryOf("echo", "bad"));
      assertEquals([bad.status, bad.body.error.details], [400, [
        { path: ["a"], message: "no", code: "c" },
      ]]);
    }
  }
});

Deno.test("Describing a schema whose code throws doesn't reveal the failure", () => {
  const router = createRouter({
    input: procedure.query(z.string().refine(() => fail()), () => 1),
  });
  const info = { title: "A", version: "1" };
  const text = JSON.stringify(createOpenAPIDocument(router, info));
  assertFalse(text.includes("hunter2"));
});
