import { assert, assertEquals } from "@std/assert";
import { type App, createApp } from "@quartet/kit/app";
import { createAuthPlugin, getUser } from "@quartet/kit/auth";
import type { Cache, CacheOptions } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { createTracer, type SpanData, tracePlugin } from "@quartet/kit/trace";
import { startCaches } from "../../dev/cache/start.ts";
import { settle, timedCache } from "../data/helpers.ts";

interface Subject {
  readonly app: App;
  readonly cache: Cache;
  pass(seconds: number): void;
  /** Sends a request. */
  send(target: string, init?: RequestInit): Promise<Response>;
  /** Returns the spans of a name, oldest first. */
  spans(name: string): SpanData[];
  /** Returns the reason of the last look-up. */
  reason(name?: string): unknown;
}

/** Creates a traced app with a cache, observed as by the dev command. */
function subject(options: CacheOptions = {}): Subject {
  const { cache, pass } = timedCache(options);
  const tracer = createTracer();
  const trace = tracePlugin(tracer, { authorize: () => false });
  const app = createApp({
    trace,
    plugins: [createAuthPlugin({ session: { secret: "s".repeat(32) } })],
    onError() {},
  });
  const spans = (name: string) =>
    tracer.getTraces().flatMap((trace) => [...trace.spans.values()])
      .filter((span) => span.name === name);
  return {
    app,
    cache,
    pass,
    spans,
    async send(target, init = {}) {
      const [method = "", path] = target.split(" ");
      const url = `http://localhost${path}`;
      const response = await app.fetch(new Request(url, { method, ...init }));
      await response.clone().text();
      await settle();
      return response;
    },
    reason: (name = "cache.get") =>
      spans(name).at(-1)?.attributes["app.reason"],
  };
}

/** Observes all caches until the end of the test. */
function observing(): Disposable {
  return { [Symbol.dispose]: startCaches(createTracer()).close };
}

Deno.test("A look-up says that it hit, or that the value was never computed or has expired", async () => {
  using _ = observing();
  const it = subject();
  it.app.route({
    path: "/posts",
    loader: () =>
      it.cache.cached("posts", () => 1, {
        maxAge: 60,
        staleWhileRevalidate: 10,
      }),
  });
  await it.send("GET /posts");
  assertEquals(it.reason(), "miss: it was never computed");
  it.pass(3);
  await it.send("GET /posts");
  assertEquals(it.reason(), "hit");
  it.pass(60);
  await it.send("GET /posts");
  assertEquals(
    it.reason(),
    "stale: it expired 3 s ago, and a refresh has begun",
  );
  it.pass(200);
  await it.send("GET /posts");
  assertEquals(it.reason(), "miss: it expired 2 min ago");
});

Deno.test("A stale value says whether computing a new one failed or takes long", async () => {
  using _ = observing();
  const it = subject({ maxEntries: 1 });
  let load = () => Promise.resolve(1);
  let staleAfter = Infinity;
  it.app.route({
    path: "/",
    loader: () =>
      it.cache.cached("posts", () => load(), {
        maxAge: 60,
        staleIfError: 100,
        staleAfter,
      }),
  });
  await it.send("GET /");
  it.pass(63);
  load = () => Promise.reject(new Error("down"));
  await it.send("GET /");
  assertEquals(
    it.reason(),
    "stale: it expired 3 s ago, and computing it failed",
  );
  const { promise, resolve } = Promise.withResolvers<number>();
  load = async () => {
    // It evicts the stale value.
    await it.cache.cached("other", () => 1, { maxAge: 60 });
    return await promise;
  };
  staleAfter = 0.001;
  await it.send("GET /");
  assertEquals(
    it.spans("cache.get").at(-2)!.attributes["app.reason"],
    "stale: it expired 3 s ago, and computing it takes longer than staleAfter",
  );
  resolve(2);
});

Deno.test("Processes that share a store know a value of another one, and that another one invalidated it", async () => {
  using _ = observing();
  using kv = await Deno.openKv(":memory:");
  const open = () =>
    subject({
      store: createKvStore({ kv, name: "reasons", strict: true }),
      now: Date.now,
    });
  const [here, there] = [open(), open()];
  for (const { app, cache } of [here, there]) {
    app.route({
      path: "/",
      loader: () =>
        cache.cached("posts", () => 1, { maxAge: 60, tags: ["posts"] }),
    });
  }
  await here.send("GET /");
  assertEquals(here.reason(), "miss: the store doesn't have it");
  await there.send("GET /");
  assertEquals(there.reason(), "hit: the shared store had it");
  await there.cache.revalidateTag("posts");
  await here.send("GET /");
  assertEquals(
    here.reason(),
    "miss: another process invalidated it, or the store can't be reached",
  );
  await here.cache.close();
  await there.cache.close();
});

Deno.test("A miss names the tag and the request that invalidated it, and links to its span", async () => {
  using _ = observing();
  const it = subject();
  const post = it.cache.cacheFunction((id: number) => ({ id }), ["post"], {
    tags: ["posts", "post:7"],
  });
  it.app.route({ path: "/posts/:id", loader: () => post(7) });
  it.app.route({
    path: "/posts/:id",
    method: "POST",
    handler: async () => {
      await it.cache.revalidateTag("post:7", "post:8");
      return new Response("done");
    },
  });
  await it.send("GET /posts/7");
  await it.send("POST /posts/7");
  it.pass(2);
  await it.send("GET /posts/7");
  assertEquals(
    it.reason(),
    "miss: tag post:7 was invalidated 2 s ago by POST /posts/7",
  );
  const [invalidation] = it.spans("cache.invalidate");
  assertEquals(invalidation!.layer, "data");
  assertEquals(invalidation!.attributes, {
    "app.cache.tags": "post:7,post:8",
    "app.cache.entries": 1,
    "app.reason": "tag post:7, tag post:8: 1 known entry",
  });
  const { attributes } = it.spans("cache.get").at(-1)!;
  assertEquals(
    attributes["app.cause"],
    `00-${invalidation!.traceId}-${invalidation!.id}-01`,
  );
  assertEquals(attributes["app.cache.key"], post.key(7));
  assertEquals(attributes["app.cache.tags"], "posts,post:7");
  assertEquals(attributes["app.cache.result"], "miss");
});

Deno.test("A miss names the path, the key, the part or the purge that invalidated it", async () => {
  using _ = observing();
  const it = subject();
  const part = it.cache.cacheFunction(() => 1, ["part"]);
  const whole = it.cache.cacheFunction(() => part(), ["whole"]);
  it.app.route({ path: "/a/b", loader: () => whole() });
  const invalidations: [() => Promise<unknown>, string][] = [
    [() => it.cache.revalidatePath("/a/b"), "path /a/b"],
    [() => it.cache.revalidatePath("/a/*"), "path /a/*"],
    [() => whole.invalidate(), "it"],
    [() => part.invalidate(), `its part ["part"]`],
    [() => it.cache.revalidate({ all: true }), "everything"],
  ];
  for (const [invalidate, what] of invalidations) {
    await it.send("GET /a/b");
    await invalidate();
    it.pass(1);
    await it.send("GET /a/b");
    const [outer] = it.spans("cache.get").slice(-2);
    assertEquals(outer!.attributes["app.cache.key"], `["whole"]`);
    assertEquals(
      outer!.attributes["app.reason"],
      `miss: ${what} was invalidated 1 s ago outside of a request`,
    );
    assertEquals("app.cause" in outer!.attributes, false);
  }
});

Deno.test("A miss says that its value was evicted, or wasn't stored and by which option", async () => {
  using _ = observing();
  const it = subject({ maxEntries: 1, maxEntryBytes: 1_000 });
  const call = (key: string, value: unknown, options: object) => () =>
    it.cache.cached(key, () => value, { maxAge: 60, ...options });
  const never = it.cache.cacheFunction(() => 1, ["f"], { revalidate: 0 });
  it.app.route({ path: "/a", loader: call("a", 1, {}) })
    .route({ path: "/b", loader: call("b", 1, {}) })
    .route({ path: "/null", loader: call("n", null, { negativeMaxAge: 0 }) })
    .route({ path: "/never", loader: call("never", 1, { maxAge: 0 }) })
    .route({
      path: "/personal",
      loader: ({ context }) =>
        it.cache.cached("personal", () => getUser(context), { maxAge: 60 }),
    })
    .route({ path: "/large", loader: call("large", "x".repeat(900), {}) })
    .route({ path: "/function", loader: () => never() })
    .route({
      path: "/fails",
      loader: () =>
        it.cache.cached("fails", () => Promise.reject(new Error("down")), {
          maxAge: 60,
        }),
    });
  for (
    const [path, reason] of [
      ["a", "it was never computed"],
      ["b", "it was never computed"],
      ["a", "it was evicted to make room"],
      ["null", "not stored: negativeMaxAge is 0"],
      ["never", "not cached: maxAge is 0"],
      ["function", "not cached: revalidate is 0"],
      ["large", "not stored: it may exceed maxEntryBytes"],
      ["fails", "it was never computed, and computing it failed"],
      [
        "personal",
        "it was never computed, and the function asked for the user",
      ],
    ]
  ) {
    await it.send(`GET /${path}`);
    assertEquals(it.reason(), `miss: ${reason}`, path);
  }
});

Deno.test("A call that waits for another request's computation names it", async () => {
  using _ = observing();
  const it = subject();
  const { promise, resolve } = Promise.withResolvers<number>();
  const load = () => it.cache.cached("slow", () => promise, { maxAge: 60 });
  it.app.route({ path: "/first", loader: load })
    .route({ path: "/second", loader: load })
    .route({ path: "/twice", loader: () => Promise.all([load(), load()]) });
  const responses = ["first", "second", "twice"]
    .map((path) => it.send(`GET /${path}`));
  await settle();
  resolve(1);
  await Promise.all(responses);
  const gets = it.spans("cache.get");
  const first = "miss: it waited for the computation of GET /first";
  assertEquals(gets.map(({ attributes }) => attributes["app.reason"]), [
    "miss: it was never computed",
    ...[first, first, first],
  ]);
  const [starter] = gets;
  assertEquals(
    gets.at(-1)!.attributes["app.cause"],
    `00-${starter!.traceId}-${starter!.id}-01`,
  );
});

Deno.test("A page says which header, cookie or question about the user keeps it from being shared", async () => {
  using _ = observing();
  const it = subject();
  const answer = (headers: HeadersInit) => () =>
    new Response("page", { headers });
  it.app.use(it.cache.cacheResponse({ maxAge: 60, vary: ["Accept-Language"] }))
    .route({ path: "/page", handler: answer({}) })
    .route({ path: "/cookie", handler: answer({ "set-cookie": "a=1" }) })
    .route({ path: "/no", handler: answer({ "cache-control": "private" }) })
    .route({ path: "/old", handler: answer({ "cache-control": "max-age=0" }) })
    .route({ path: "/vary", handler: answer({ vary: "X-Theme" }) })
    .route({ path: "/me", loader: ({ context }) => getUser(context) });
  const cookie = { cookie: "theme=dark" };
  for (
    const [path, headers, name, reason] of [
      ["page?token=xyz", {}, "cache.get", "miss: it was never computed"],
      ["page?token=xyz", {}, "cache.get", "hit"],
      [
        "cookie",
        {},
        "cache.get",
        "miss: not stored: the response sets a cookie",
      ],
      [
        "no",
        {},
        "cache.get",
        "miss: not stored: the response has Cache-Control: private",
      ],
      ["old", {}, "cache.get", "miss: not stored: its lifetime is 0"],
      [
        "vary",
        {},
        "cache.get",
        "miss: not stored: the response varies by x-theme, which isn't in vary",
      ],
      ["me", {}, "cache.get", "miss: not stored: the page asked for the user"],
      ["missing", {}, "cache.get", "miss: it was never computed"],
      [
        "page?2",
        { authorization: "Basic eA==" },
        "cache.get",
        "miss: not stored: the request has Authorization, and the response doesn't allow that",
      ],
      [
        "page",
        { "cache-control": "no-store" },
        "cache.bypass",
        "not cached: the request has Cache-Control: no-store",
      ],
      [
        "page",
        { range: "bytes=0-1" },
        "cache.bypass",
        "not cached: the request asks for a range",
      ],
      [
        "head",
        {},
        "cache.bypass",
        "not cached: HEAD only gets pages that are stored",
      ],
      [
        "page",
        cookie,
        "cache.bypass",
        "not cached: the request has the cookie theme, which isn't in ignoreCookies",
      ],
    ] as const
  ) {
    const method = path.endsWith("head") ? "HEAD" : "GET";
    await it.send(`${method} /${path}`, { headers });
    assertEquals(it.reason(name), reason, path);
  }
  const [get] = it.spans("cache.get");
  assertEquals(
    get!.attributes["app.cache.key"],
    "GET /page?token=REDACTED, accept-language: none",
  );
});

Deno.test("Secrets in keys and tags are redacted", async () => {
  using _ = observing();
  const it = subject();
  const url = "https://ada:pw@example.com/?token=xyz";
  it.app.route({
    path: "/",
    loader: () => it.cache.cached(url, () => 1, { maxAge: 60, tags: [url] }),
  }).route({
    path: "/",
    method: "POST",
    handler: async () => {
      await it.cache.revalidateTag(url);
      return new Response("done");
    },
  });
  await it.send("GET /");
  await it.send("POST /");
  await it.send("GET /");
  const text = JSON.stringify(
    [...it.spans("cache.get"), ...it.spans("cache.invalidate")]
      .map(({ attributes }) => attributes),
  );
  assert(text.includes("example.com"));
  assertEquals(/xyz|pw@/.test(text), false, text);
});
