import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { postOf, queryOf } from "./helpers.ts";

Deno.test("The route of a request is the path of the called procedure", async () => {
  const tracer = createTracer();
  const router = createRouter({
    posts: {
      list: procedure.query(() => []),
      add: procedure.mutation(() => 1),
    },
  });
  const app = createApp({
    trace: tracePlugin(tracer),
    plugins: [rpcPlugin({ router })],
  });
  const call = (type: string, ...path: string[]) => ({ path, type });
  const add = call("mutation", "posts", "add");
  const requests: [string, RequestInit, string][] = [
    [queryOf("posts.list"), {}, "/api/rpc/posts.list"],
    ["/posts.list", {}, "/api/rpc/posts.list"],
    ["", postOf(add), "/api/rpc/posts.add"],
    ["", postOf({ batch: [add, add] }), "/api/rpc"],
    [queryOf("posts.nothing"), {}, "/api/rpc"],
    ["", postOf("{"), "/api/rpc"],
  ];
  for (const [target, init, route] of requests) {
    const request = new Request(`http://localhost/api/rpc${target}`, init);
    await (await app.fetch(request)).body?.cancel();
    const trace = tracer.getTraces().at(-1)!;
    assertEquals(trace.metadata.routePattern, route, target);
    assertEquals(
      trace.spans.get(trace.rootSpanId)!.attributes["http.route"],
      route,
    );
  }
  await app.close();
});

Deno.test("A router mounted in a route of the app keeps that route's pattern", async () => {
  const tracer = createTracer();
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [{ path: "/v1/*", handler: router.handler }],
  });
  const response = await app.fetch(
    new Request(`http://localhost/v1/rpc${queryOf("ping")}`),
  );
  assertEquals((await response.json()).data, "pong");
  assertEquals(tracer.getTraces()[0]!.metadata.routePattern, "/v1/*");
  await app.close();
});
