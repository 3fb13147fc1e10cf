import { assertEquals } from "@std/assert";
import {
  createCaller,
  createRouter,
  errors,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
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

const log = errorLog();
const visits = procedure.use(async ({ responseHeaders, next }) => {
  responseHeaders.append("set-cookie", "seen=yes");
  return await next();
});
const router = createRouter({
  signIn: procedure.mutation(z.string(), ({ input, responseHeaders }) => {
    responseHeaders.append("set-cookie", `user=${input}`);
    responseHeaders.append("set-cookie", `kind=human`);
    responseHeaders.set("x-user", input);
  }),
  later: visits.query(async ({ responseHeaders }) => {
    await Promise.resolve();
    responseHeaders.set("cache-control", "max-age=60");
    return "later";
  }),
  refused: visits.query(({ responseHeaders }) => {
    responseHeaders.set("retry-after", "1");
    throw new RPCError("BUSY", "Later", 503, {
      headers: { "retry-after": "9", "set-cookie": "gone=yes" },
    });
  }),
  plain: procedure.query(() => "plain"),
  named: procedure.query(
    z.string(),
    ({ input, responseHeaders }) => responseHeaders.set(input, "text/html"),
  ),
  wrong: procedure.query(({ responseHeaders }) => {
    responseHeaders.set("content-type", "text/html");
    throw errors.unauthorized();
  }),
  stream: visits.subscription(async function* ({ responseHeaders }) {
    responseHeaders.set("x-user", "nobody");
    yield "streamed";
  }),
}, log);

Deno.test("A procedure can set response headers, including cookies", async () => {
  await using server = await serveRouter(router);
  const { headers, body } = await server.post({
    path: ["signIn"],
    type: "mutation",
    input: "ada",
  });
  assertEquals(body, { ok: true });
  assertEquals(headers.getSetCookie(), ["user=ada", "kind=human"]);
  assertEquals(headers.get("x-user"), "ada");
  assertEquals(headers.get("content-type"), "application/json");

  const later = await server.get("later");
  assertEquals(later.headers.get("cache-control"), "max-age=60");
  assertEquals(later.headers.getSetCookie(), ["seen=yes"]);
  const head = await server.request({ method: "HEAD" }, queryOf("later"));
  assertEquals(head.headers.get("cache-control"), "max-age=60");
  // The next response has none of them.
  const plain = await server.get("plain");
  assertEquals(plain.headers.getSetCookie(), []);
  assertEquals(plain.headers.get("cache-control"), "no-store");
});

Deno.test("A failure has the headers set before it, and its own ones take precedence", async () => {
  await using server = await serveRouter(router);
  const { status, headers } = await server.get("refused");
  assertEquals(status, 503);
  assertEquals(headers.getSetCookie(), ["seen=yes", "gone=yes"]);
  assertEquals(headers.get("retry-after"), "9");
  assertEquals(headers.get("cache-control"), "no-store");
});

Deno.test("The response of a batch has the headers of all its calls, in order", async () => {
  await using server = await serveRouter(router);
  const signIn = (input: string) => ({
    path: ["signIn"],
    type: "mutation",
    input,
  });
  const { headers, body } = await server.post({
    batch: [
      { path: ["later"], type: "query" },
      signIn("ada"),
      signIn("grace"),
      { path: ["no"], type: "query" },
      { path: ["refused"], type: "query" },
    ],
  });
  assertEquals(body.data.map(({ ok }: { ok: boolean }) => ok), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assertEquals(headers.getSetCookie(), [
    "seen=yes",
    "user=ada",
    "kind=human",
    "user=grace",
    "kind=human",
    "seen=yes",
    "gone=yes",
  ]);
  assertEquals(headers.get("x-user"), "grace");
  assertEquals(headers.get("retry-after"), "9");
});

Deno.test("Procedures can't set headers that the response sets itself", async () => {
  log.logged.length = 0;
  for (
    const name of [
      "Content-Type",
      "content-length",
      "Transfer-Encoding",
      "connection",
    ]
  ) {
    const { status, headers, body } = await ask(
      router,
      {},
      queryOf("named", name),
    );
    assertEquals([status, body.error.code], [500, "INTERNAL_ERROR"]);
    assertEquals(headers.get("content-type"), "application/json");
    const { message } = log.logged.pop() as TypeError;
    assertEquals(
      message,
      `Cannot answer named: responseHeaders must not contain ${name.toLowerCase()}, which the response sets itself`,
    );
  }
  const failed = await ask(router, {}, queryOf("wrong"));
  assertEquals(failed.status, 401);
  assertEquals(failed.headers.get("content-type"), "application/json");
  // In a batch, it fails only its own call.
  const { body } = await ask(
    router,
    postOf({
      batch: [
        { path: ["named"], type: "query", input: "content-type" },
        { path: ["plain"], type: "query" },
      ],
    }),
  );
  assertEquals(body.data.map(({ ok }: { ok: boolean }) => ok), [false, true]);
});

Deno.test("On a socket, response headers are ignored and the stream continues", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "stream"));
  const [value, end] = await client.take(2);
  assertEquals([value!.data, end!.type], ["streamed", "complete"]);
});

Deno.test("createCaller() passes on the headers that its procedures set", async () => {
  const responseHeaders = new Headers();
  const caller = createCaller(router, undefined, { responseHeaders });
  await caller.signIn.mutate("ada");
  assertEquals(responseHeaders.getSetCookie(), ["user=ada", "kind=human"]);
  await createCaller(router).signIn.mutate("grace");
  assertEquals(responseHeaders.get("x-user"), "ada");
});
