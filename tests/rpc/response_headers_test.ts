import { assert, assertEquals } from "@std/assert";
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

const FOR_CDNS = [
  "cdn-cache-control",
  "surrogate-control",
  "cloudflare-cdn-cache-control",
];
/** Sets headers that let every cache store the response. */
const shared = procedure.use(async ({ responseHeaders, next }) => {
  responseHeaders.set("cache-control", "public, max-age=300");
  for (const name of FOR_CDNS) responseHeaders.set(name, "max-age=300");
  responseHeaders.set("x-user", "ada");
  responseHeaders.append("set-cookie", "seen=yes");
  return await next();
});
const cached = createRouter({
  works: shared.query(() => 1),
  invalid: shared.query(z.number(), () => 1),
  breaks: shared.query(() => {
    throw new Error("The database is down");
  }),
  refuses: shared.query(() => {
    throw errors.unauthorized();
  }),
  answers: shared.query(() => {
    throw new Response(null, { status: 403 });
  }),
  wrong: shared.query(({ responseHeaders }) => {
    responseHeaders.set("content-length", "5");
  }),
  gone: shared.query(() => {
    throw new RPCError("GONE", "Gone", 410, {
      headers: {
        "Cache-Control": "public, max-age=60",
        "CDN-Cache-Control": "max-age=90",
      },
    });
  }),
}, log);
const cacheHeaders = (headers: Headers) =>
  ["cache-control", ...FOR_CDNS].map((name) => headers.get(name));

Deno.test("A failure isn't stored by caches, although its procedure has set headers for a success", async () => {
  const works = await ask(cached, {}, queryOf("works"));
  assertEquals(works.status, 200);
  assertEquals(cacheHeaders(works.headers), [
    "public, max-age=300",
    ...FOR_CDNS.map(() => "max-age=300"),
  ]);
  for (const path of ["invalid", "breaks", "refuses", "answers", "wrong"]) {
    for (
      const [init, query] of [
        [{}, queryOf(path)],
        [{ method: "HEAD" }, queryOf(path)],
        [postOf({ path: [path], type: "query" }), ""],
      ] as const
    ) {
      const { status, headers } = await ask(cached, init, query);
      assert(status >= 400);
      assertEquals(
        cacheHeaders(headers),
        ["no-store", ...FOR_CDNS.map(() => null)],
        path,
      );
      // Other headers apply, unless one of them is reserved.
      assertEquals(headers.get("x-user"), path === "wrong" ? null : "ada");
    }
  }
  const gone = await ask(cached, {}, queryOf("gone"));
  assertEquals(cacheHeaders(gone.headers), [
    "public, max-age=60",
    "max-age=90",
    null,
    null,
  ]);
});

Deno.test("A batch with a failure isn't stored by caches", async () => {
  const batch = async (...paths: string[]) =>
    cacheHeaders(
      (await ask(
        cached,
        postOf({
          batch: paths.map((path) => ({ path: [path], type: "query" })),
        }),
      )).headers,
    );
  const stored = ["public, max-age=300", ...FOR_CDNS.map(() => "max-age=300")];
  const unstored = ["no-store", ...FOR_CDNS.map(() => null)];
  assertEquals(await batch("works", "works"), stored);
  assertEquals(await batch("works", "refuses"), unstored);
  assertEquals(await batch("refuses", "works"), unstored);
  assertEquals(await batch("works", "missing"), unstored);
  assertEquals(await batch("gone"), unstored);
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
