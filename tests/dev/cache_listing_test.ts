import { assertEquals } from "@std/assert";
import { createApp, serve } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import type { CacheListing } from "../../trace/export/cache_listing.ts";
import { startCaches } from "../../dev/cache/start.ts";
import { timedCache } from "../data/helpers.ts";

/** Starts a traced app with two cached functions, one inside the other. */
function start() {
  const { cache, pass } = timedCache({ maxEntries: 2 });
  const tracer = createTracer();
  const caches = startCaches(tracer);
  const post = cache.cacheFunction((id: string) => id, ["post"], {
    tags: ["posts"],
    revalidate: 60,
  });
  const page = cache.cacheFunction((id: string) => post(id), ["page"], {
    revalidate: 600,
  });
  const none = cache.cacheFunction(() => null, ["?token=abc"], {
    negativeMaxAge: 0,
  });
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    routes: [
      { path: "/posts/:id", loader: ({ params }) => page(params["id"]!) },
      { path: "/post/:id", loader: ({ params }) => post(params["id"]!) },
      { path: "/none", loader: () => none() },
      {
        path: "/change",
        method: "POST",
        handler: async () => {
          await cache.revalidateTag("posts");
          return new Response("done");
        },
      },
    ],
  });
  const server = serve(app, { port: 0, signals: false, onListen() {} });
  const url = `http://127.0.0.1:${server.address.port}`;
  return {
    cache,
    pass,
    tracer,
    async send(target: string) {
      const [method = "", path] = target.split(" ");
      await (await fetch(url + path, { method })).text();
    },
    list: async () => await (await fetch(`${url}/__app/traces/cache`)).json(),
    async [Symbol.asyncDispose]() {
      caches.close();
      await server.shutdown();
    },
  };
}

Deno.test("/cache lists keys with their state, hit rates, sizes and dependants, and tags with their last invalidation", async () => {
  await using it = start();
  assertEquals(await it.list(), { keys: [], tags: [], more: 0 });
  for (let i = 0; i < 3; i++) await it.send("GET /posts/7");
  await it.send("GET /post/7");
  await it.send("GET /none");
  it.pass(10);
  const { keys, tags, more } = await it.list();
  assertEquals(more, 0);
  const { bytes } = it.cache.stats();
  const size = keys[0].bytes + keys[1].bytes;
  assertEquals(size, bytes);
  for (const key of keys) delete key.bytes;
  assertEquals(keys, [
    {
      key: `["page","7"]`,
      tags: ["posts"],
      state: "fresh for 10 min",
      ...{ hits: 2, stale: 0, misses: 1 },
      reason: "hit",
      dependants: [],
    },
    {
      key: `["post","7"]`,
      tags: ["posts"],
      state: "fresh for 50 s",
      ...{ hits: 1, stale: 0, misses: 1 },
      reason: "hit",
      dependants: [`["page","7"]`],
    },
    {
      key: `["?token=REDACTED"]`,
      tags: [],
      state: "not stored",
      ...{ hits: 0, stale: 0, misses: 1 },
      reason: "miss: not stored: negativeMaxAge is 0",
      dependants: [],
    },
  ]);
  assertEquals(tags, [{ tag: "posts", keys: 2 }]);

  const statesOf = (list: CacheListing) => list.keys.map(({ state }) => state);
  it.pass(55);
  assertEquals(
    statesOf(await it.list()),
    ["fresh for 9 min", "expired", "not stored"],
  );
  await it.send("POST /change");
  it.pass(5);
  const changed = await it.list();
  assertEquals(
    statesOf(changed),
    ["invalidated", "invalidated", "not stored"],
  );
  const span = it.tracer.getTraces()
    .flatMap(({ spans }) => [...spans.values()])
    .find(({ name }) => name === "cache.invalidate")!;
  assertEquals(changed.tags, [{
    tag: "posts",
    keys: 2,
    invalidated: "5 s ago by POST /change",
    cause: { traceId: span.traceId, spanId: span.id },
  }]);
  assertEquals(span.attributes["app.cache.entries"], 2);

  for (const id of [8, 9]) await it.send(`GET /post/${id}`);
  await it.send("GET /posts/9");
  assertEquals(statesOf(await it.list()).slice(2), [
    "fresh for 60 s",
    "not stored",
    "evicted",
    "fresh for 10 min",
  ]);
});
