import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRouter, procedure } from "@quartet/kit/rpc";
import {
  ask,
  connect,
  errorLog,
  queryOf,
  serveRouter,
  subscribe,
} from "./helpers.ts";

Deno.test("A subscription over the limit is rejected with the reason if earlier ones haven't stopped yet", async () => {
  const stuck = Promise.withResolvers<void>();
  const router = createRouter({
    // deno-lint-ignore require-yield -- it never yields
    stuck: procedure.subscription(async function* () {
      await stuck.promise;
    }),
  }, { maxSubscriptions: 1 });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (const id of ["a", "b"]) {
    client.send(subscribe(id, "stuck"));
    client.send({ type: "unsubscribe", id });
  }
  client.send(subscribe("c", "stuck"));
  const [refused] = await client.settle();
  assertEquals([refused!.id, refused!.error], ["c", {
    code: "SUBSCRIPTION_ERROR",
    message: "Too many subscriptions of this connection are still stopping",
  }]);
  stuck.resolve();
});

/** A `Response` class of a server for Node. */
class ForeignResponse {
  readonly status: number;
  readonly headers = new Headers();

  constructor(status: number) {
    this.status = status;
  }

  get [Symbol.toStringTag]() {
    return "Response";
  }
}

Deno.test("A procedure may throw a Response of another class", async () => {
  const log = errorLog();
  const router = createRouter({
    fail: procedure.query(() => {
      throw new ForeignResponse(403);
    }),
  }, log);
  const { status, body } = await ask(router, {}, queryOf("fail"));
  assertEquals([status, body.error.code], [403, "FORBIDDEN"]);
  assertEquals(log.logged, []);
});

Deno.test("Procedures and routes may throw values that throw when inspected", async () => {
  const refuse = () => {
    throw new Error("don't touch");
  };
  const proxy = new Proxy({}, { get: refuse, getPrototypeOf: refuse });
  const fail = (): never => {
    throw proxy;
  };
  const log = errorLog();
  const router = createRouter({ fail: procedure.query(fail) }, log);
  const { status, body } = await ask(router, {}, queryOf("fail"));
  assertEquals([status, body.error.code], [500, "INTERNAL_ERROR"]);
  assertEquals(log.logged.length, 1);

  const reports: boolean[] = [];
  const app = createApp({
    routes: [{ path: "/", handler: fail }],
    onError: (error) => void reports.push(error === proxy),
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals([response.status, reports], [500, [true]]);
  await response.body?.cancel();
  await app.close();
});
