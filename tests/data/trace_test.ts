import { assert, assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  serializeTrace,
  type SpanData,
  tracePlugin,
} from "@quartet/kit/trace";
import { settle, timedCache } from "./helpers.ts";

Deno.test("Each look-up is a cache.get span of the data layer with its result", async () => {
  const { cache, pass } = timedCache();
  const tracer = createTracer();
  const load = () =>
    tracer.withSpan(
      "request",
      "request",
      () =>
        cache.cached("posts", () =>
          tracer.withSpan("db.query", "database", () => Promise.resolve(1)), {
          maxAge: 60,
          staleWhileRevalidate: 60,
        }),
    );
  const spans = (): SpanData[][] =>
    tracer.getTraces().map(({ spans }) => [...spans.values()]);
  const last = (name: string) =>
    spans().flat().filter((span) => span.name === name);

  await load();
  let [get] = last("cache.get");
  assertEquals(get!.layer, "data");
  assertEquals(get!.attributes, { "app.cache.result": "miss" });
  assertEquals(
    last("db.query")[0]!.parentId,
    get!.id,
    "the work is a child span",
  );

  await load();
  assertEquals(
    last("cache.get").map((span) => span.attributes["app.cache.result"])
      .sort(),
    ["hit", "miss"],
  );
  pass(60);
  await load();
  await settle();
  get = last("cache.get").find((span) =>
    span.attributes["app.cache.result"] === "stale"
  );
  assert(get !== undefined);
  const [refresh] = last("cache.refresh");
  assertEquals(refresh?.layer, "data");
  assertEquals(
    last("db.query").map(({ parentId }) => parentId).includes(refresh!.id),
    true,
  );
});

Deno.test("Spans of a wrapped function show its error", async () => {
  const { cache } = timedCache();
  const tracer = createTracer();
  const fn = cache.unstable_cache(
    (_id: number) => Promise.reject(new Error("down")),
    ["post"],
  );
  await tracer.withSpan("request", "request", () => fn(7).catch(() => {}));
  const [get] = [...tracer.getTraces()[0]!.spans.values()]
    .filter(({ name }) => name === "cache.get");
  assertEquals(get!.attributes["app.cache.result"], "miss");
  assertEquals(get!.status, "error");
});

Deno.test("A look-up that never hits is a span with a miss", async () => {
  const { cache } = timedCache();
  const tracer = createTracer();
  for (let i = 0; i < 2; i++) {
    await tracer.withSpan(
      "request",
      "request",
      () => cache.cached("now", () => 1, { maxAge: 0 }),
    );
  }
  const found = tracer.getTraces().flatMap(({ spans }) =>
    [...spans.values()].filter(({ name }) => name === "cache.get")
  );
  const miss = { "app.cache.result": "miss" };
  assertEquals(found.map(({ attributes }) => attributes), [miss, miss]);
});

Deno.test("A request that goes past a response cache records no header and no cookie", async () => {
  const { cache } = timedCache();
  const tracer = createTracer();
  const app = createApp({ trace: tracePlugin(tracer) });
  app.use(cache.cacheResponse({ maxAge: 60 }))
    .route({ path: "/", handler: () => new Response("page") });
  for (const headers of [{ cookie: "theme=dark" }, { range: "bytes=0-1" }]) {
    const request = new Request("http://localhost/", { headers });
    await (await app.fetch(request)).text();
  }
  await app.close();
  const text = JSON.stringify(tracer.getTraces().map(serializeTrace));
  assert(text.includes('"routing"'));
  assertEquals(/theme|reason|bypass/.test(text), false);
});
