import { assertEquals } from "@std/assert";
import { createRouter, errors, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { ask, errorLog, postOf, serveRouter } from "./helpers.ts";

const router = createRouter({
  double: procedure.query(z.number(), ({ input }) => input * 2),
  nothing: procedure.mutation(() => {}),
  secret: procedure.query(() => {
    throw errors.unauthorized();
  }),
  broken: procedure.query(() => {
    throw new Error("inside");
  }),
  stream: procedure.subscription(async function* () {}),
}, errorLog());

const double = (input: number) => ({ path: ["double"], type: "query", input });

Deno.test("The calls of a batch are answered in order, each independently", async () => {
  await using server = await serveRouter(router);
  const { status, body } = await server.post({
    batch: [
      double(1),
      { path: ["nothing"], type: "mutation" },
      { path: ["secret"], type: "query" },
      { path: ["broken"], type: "query" },
      { path: ["stream"], type: "query" },
      { path: ["no"], type: "query" },
      double("2" as never),
      double(3),
    ],
  });
  assertEquals(status, 200);
  const outcome = body.data.map((
    { ok, data, error }: { ok: boolean; data: unknown; error: Error },
  ) => ok ? data : (error as unknown as { code: string }).code);
  assertEquals(outcome, [
    2,
    undefined,
    "UNAUTHORIZED",
    "INTERNAL_ERROR",
    "METHOD_NOT_ALLOWED",
    "NOT_FOUND",
    "VALIDATION_ERROR",
    6,
  ]);
});

Deno.test("The calls of a batch run concurrently", async () => {
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const router = createRouter({
    meet: procedure.query(async () => {
      if (++waiting === 3) all.resolve();
      await all.promise;
    }),
  });
  const meet = { path: ["meet"], type: "query" };
  const { body } = await ask(router, postOf({ batch: [meet, meet, meet] }));
  assertEquals(body.data, [{ ok: true }, { ok: true }, { ok: true }]);
});

Deno.test("An invalid, empty or oversized batch is rejected as a whole", async () => {
  const table: [batch: unknown, status: number, code: string, text: string][] =
    [
      [
        [],
        400,
        "PARSE_ERROR",
        "batch must be an array of calls, received an empty one",
      ],
      [
        {},
        400,
        "PARSE_ERROR",
        "batch must be an array of calls, received an object",
      ],
      [
        "double",
        400,
        "PARSE_ERROR",
        "batch must be an array of calls, received a string",
      ],
      [
        Array(51).fill(double(1)),
        413,
        "PAYLOAD_TOO_LARGE",
        "A batch holds at most 50 calls, received 51",
      ],
      [
        Array(10_000).fill(null),
        413,
        "PAYLOAD_TOO_LARGE",
        "A batch holds at most 50 calls, received 10000",
      ],
    ];
  for (const [batch, status, code, message] of table) {
    const answer = await ask(router, postOf({ batch }));
    assertEquals(answer.status, status);
    assertEquals(answer.body.error, { code, message });
  }
  const full = await ask(router, postOf({ batch: Array(50).fill(double(1)) }));
  assertEquals(full.body.data.length, 50);
  const small = createRouter(router._def, { maxBatchSize: 2 });
  const three = await ask(small, postOf({ batch: Array(3).fill(double(1)) }));
  assertEquals(three.status, 413);
});

Deno.test("An invalid call of a batch, such as a nested batch, fails alone", async () => {
  const { body } = await ask(
    router,
    postOf({
      batch: [null, [], 5, {}, { batch: [double(1)] }, double(2)],
    }),
  );
  const messages = body.data.map((
    { data, error }: { data: unknown; error?: Error },
  ) => error?.message ?? data);
  assertEquals(messages, [
    "A call of a batch must be an object, received null",
    "A call of a batch must be an object, received an array",
    "A call of a batch must be an object, received a number",
    "path must be an array of strings, received nothing",
    "path must be an array of strings, received nothing",
    4,
  ]);
});
