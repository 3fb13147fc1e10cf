import { assertEquals } from "@std/assert";
import {
  createCaller,
  createRouter,
  errors,
  procedure,
  rateLimit,
} from "@quartet/kit/rpc";
import { createTracer } from "@quartet/kit/trace";
import { z } from "zod";
import { noteDevCommand } from "../../core/runtime/environment.ts";

const router = createRouter({
  rename: procedure.mutation(
    z.object({
      id: z.number(),
      title: z.string().refine((text) => text.startsWith("A"), {
        error: ({ input }) => `${input} must start with A`,
      }),
      tag: z.string().refine((tag) => tag !== "x", "x isn't a tag"),
    }),
    () => "done",
  ),
  parsed: procedure.query({
    parse(value: unknown): string {
      throw new Error(`${value} is wrong`);
    },
  }, () => "done"),
  hidden: procedure.query(() => {
    throw errors.forbidden("Only for members, see /?token=abc");
  }),
  page: procedure.query(() => {
    throw new Response(null, { status: 403 });
  }),
  limited: procedure.use(
    rateLimit({ limit: 1, windowMs: 60_000, now: () => 0 }),
  )
    .query(() => "done"),
});

/** Calls a procedure and returns the reason on its span. */
async function reasonOf(
  call: (
    caller: ReturnType<typeof createCaller<typeof router>>,
  ) => Promise<unknown>,
): Promise<unknown> {
  const tracer = createTracer();
  await tracer.withSpan(
    "job",
    "custom",
    () => call(createCaller(router)).catch(() => {}),
  );
  const spans = [...tracer.getTraces()[0]!.spans.values()];
  return spans.find(({ layer }) => layer === "rpc")!.attributes["app.reason"];
}

const rename = (input: { id: number; title: string; tag: string }) =>
  reasonOf((caller) => caller.rename.mutate(input));

Deno.test("The span of a refused call names the field or the limit, and under the dev command the message without values", async () => {
  const wrong = { id: 1, title: "Secret plan", tag: "x" };
  assertEquals(await rename(wrong), "refused: title is invalid");
  assertEquals(
    await reasonOf((caller) => caller.hidden.query()),
    "refused: FORBIDDEN",
  );

  noteDevCommand();
  assertEquals(
    await rename(wrong),
    "refused: title: … must start with A (and 1 more)",
  );
  assertEquals(
    await rename({ ...wrong, id: 7, title: "A" }),
    "refused: tag: … isn't a tag",
  );
  // Too many values to remove them from the message.
  const large = { ...wrong, rest: Array.from({ length: 300 }, String) };
  assertEquals(await rename(large), "refused: title is invalid");
  assertEquals(await rename({ ...wrong, title: "A", tag: "y" }), undefined);
  assertEquals(
    await reasonOf((caller) => caller.parsed.query("secret")),
    "refused: the input is invalid",
  );
  assertEquals(
    await reasonOf((caller) => caller.hidden.query()),
    "refused: Only for members, see /?token=REDACTED",
  );
  assertEquals(
    await reasonOf((caller) => caller.page.query()),
    "refused: status 403",
  );
  await reasonOf((caller) => caller.limited.query());
  assertEquals(
    await reasonOf((caller) => caller.limited.query()),
    "refused: too many calls, the next is allowed in 60 s",
  );
});
