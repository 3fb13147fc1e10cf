import { assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
import { connect, errorLog, serveRouter, subscribe } from "./helpers.ts";

const FAILURE = {
  code: "UNAVAILABLE",
  message: "The service is temporarily unavailable",
};

const fail = () => {
  throw new UnavailableError("Cannot reach database at 10.0.0.7", {
    retryAfter: 7,
  });
};

const log = errorLog();
const router = createRouter({
  query: procedure.query(fail),
  later: procedure.query(() => Promise.resolve().then(fail)),
  middleware: procedure.use(fail).query(() => "never"),
  stream: procedure.subscription(async function* () {
    yield 1;
    await Promise.resolve();
    fail();
  }),
}, log);

Deno.test("A procedure's UnavailableError is a 503 with Retry-After, and isn't reported", async () => {
  await using server = await serveRouter(router);
  for (const path of ["query", "later", "middleware"]) {
    const { status, headers, body } = await server.get(path);
    assertEquals([status, headers.get("retry-after")], [503, "7"]);
    assertEquals(body, { ok: false, error: FAILURE });
  }
  const { body } = await server.post({
    batch: [{ path: ["query"], type: "query" }],
  });
  assertEquals(body.data, [{ ok: false, status: 503, error: FAILURE }]);
  assertEquals(log.logged, []);
});

Deno.test("A subscription's UnavailableError reaches the client as UNAVAILABLE", async () => {
  await using server = await serveRouter(router);
  await using socket = await connect(server);
  socket.send(subscribe("s", "stream"));
  assertEquals((await socket.next()).data, 1);
  const { type, error } = await socket.next();
  assertEquals([type, error], ["error", FAILURE]);
  assertEquals(log.logged, []);
});

Deno.test("createCaller() rejects with UNAVAILABLE for an UnavailableError", async () => {
  const { code, status } = await assertRejects(async () =>
    await createCaller(router).query.query()
  ) as Error & { code: string; status: number };
  assertEquals([code, status], ["UNAVAILABLE", 503]);
});
