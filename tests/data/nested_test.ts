/**
 * Cached functions that call other cached functions.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { type Cache, CacheError, createCache } from "@quartet/kit/data";
import { settle, timedCache } from "./helpers.ts";

/** Creates a page made of posts with their own tags. */
function pages(cache: Cache) {
  const calls = { page: 0, post: 0 };
  const post = cache.unstable_cache(
    (id: number) => Promise.resolve(`post ${id}: ${++calls.post}`),
    ["post"],
    { tags: ["post"], paths: ["/posts/1"] },
  );
  const page = cache.unstable_cache(
    async (...ids: number[]) => {
      calls.page++;
      return (await Promise.all(ids.map((id) => post(id)))).join();
    },
    ["page"],
    { tags: ["page"] },
  );
  return { calls, post, page };
}

Deno.test("A cached function is invalidated with the functions it calls", async () => {
  const invalidations: Record<string, (it: Subject) => Promise<unknown>> = {
    "the part's tag": ({ cache }) => cache.revalidateTag("post"),
    "the part's path": ({ cache }) => cache.revalidatePath("/posts/1"),
    "a prefix of the part's path": ({ cache }) =>
      cache.revalidatePath("/posts/*"),
    "the part itself": ({ post }) => post.invalidate(2),
    "its own tag": ({ cache }) => cache.revalidateTag("page"),
  };
  type Subject = ReturnType<typeof pages> & { cache: Cache };
  for (const [name, invalidate] of Object.entries(invalidations)) {
    for (const first of ["no part", "a part"]) {
      const cache = createCache();
      const it = { cache, ...pages(cache) };
      // A part from the cache counts as much as a computed one.
      if (first === "a part") await it.post(2);
      await it.page(1, 2);
      await it.page(1, 2);
      assertEquals(it.calls, { page: 1, post: 2 });
      await invalidate(it);
      await it.page(1, 2);
      assertEquals(it.calls.page, 2, `${name}, ${first}`);
    }
  }
});

Deno.test("Values made of other parts stay valid", async () => {
  const cache = createCache();
  const { calls, post, page } = pages(cache);
  await page(1, 2);
  await post(3);
  await post.invalidate(3);
  await cache.revalidateTag("other", "Post");
  await cache.revalidatePath("/posts", "/page");
  await page(1, 2);
  assertEquals(calls.page, 1);
});

Deno.test("Nested parts count, also if another caller is computing them", async () => {
  const { cache } = timedCache();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const cached = (key: string, fn: () => unknown, tags: string[] = []) =>
    cache.cached(key, fn, { maxAge: 60, tags });
  const inner = () => cached("inner", () => gate.promise, ["inner"]);
  const middle = () => cached("middle", inner);
  const outer = () => cached("outer", async () => (await middle(), ++calls));
  // Each joins the computation that is already running.
  const all = [inner(), middle(), outer()];
  gate.resolve();
  await Promise.all(all);
  await cache.revalidateTag("inner");
  assertEquals(await outer(), 2);
});

Deno.test("A part invalidated during the whole's computation invalidates it, and nobody joins it", async () => {
  const { cache } = timedCache();
  const gate = Promise.withResolvers<void>();
  const partRead = Promise.withResolvers<void>();
  let calls = 0;
  const whole = () =>
    cache.cached("whole", async () => {
      const call = ++calls;
      await cache.cached("part", () => 1, { maxAge: 60, tags: ["part"] });
      if (call > 1) return call;
      partRead.resolve();
      await gate.promise;
      return call;
    }, { maxAge: 60 });
  const first = whole();
  await partRead.promise;
  await cache.revalidateTag("part");
  assertEquals(await whole(), 2);
  gate.resolve();
  assertEquals([await first, await whole()], [1, 2]);
});

Deno.test("Nobody joins a computation that waits for a part invalidated meanwhile", async () => {
  for (const staleAfter of [Infinity, 1_000]) {
    const { cache, pass } = timedCache();
    const options = { maxAge: 60, staleIfError: 3_600, staleAfter };
    let data = "first";
    let gate: Promise<void> | undefined;
    const part = () =>
      cache.cached("part", async () => {
        const read = data;
        await gate;
        return read;
      }, { ...options, tags: ["part"] });
    const middle = () => cache.cached("middle", part, options);
    const app = createApp()
      .use(cache.cacheResponse({ maxAge: 60 }))
      .route({ path: "/", handler: async () => new Response(await middle()) });
    const get = async () =>
      await (await app.fetch(new Request("http://localhost/"))).text();
    assertEquals(await get(), "first");
    pass(61);
    const { promise, resolve } = Promise.withResolvers<void>();
    data = "old";
    gate = promise;
    const all = [get(), middle(), part()];
    await settle();
    data = "new";
    gate = undefined;
    await cache.revalidateTag("part");
    all.push(get(), middle(), part());
    await settle();
    resolve();
    const old = ["old", "old", "old"];
    assertEquals(await Promise.all(all), [...old, "new", "new", "new"]);
    assertEquals([await get(), await middle()], ["new", "new"]);
  }
});

Deno.test("Stale parts and uncached parts count too", async () => {
  const { cache, pass } = timedCache();
  let calls = 0;
  const part = () =>
    cache.cached("part", () => 1, {
      maxAge: 1,
      staleWhileRevalidate: 600,
      tags: ["stale"],
    });
  const passing = cache.unstable_cache(
    () => Promise.resolve(1),
    ["passing"],
    { revalidate: 0, tags: ["passing"] },
  );
  const whole = () =>
    cache.cached("whole", async () => {
      await part();
      await passing();
      return ++calls;
    }, { maxAge: 60 });
  await part();
  pass(2);
  assertEquals([await whole(), await whole()], [1, 1]);
  await cache.revalidateTag("stale");
  assertEquals(await whole(), 2);
  await cache.revalidateTag("passing");
  assertEquals(await whole(), 3);
});

Deno.test("A page is invalidated with the data it was made of", async () => {
  const cache = createCache();
  const { calls, page } = pages(cache);
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60 }))
    .route({ path: "/", handler: async () => new Response(await page(1)) });
  const get = async () =>
    await (await app.fetch(new Request("http://localhost/"))).text();
  assertEquals([await get(), await get()], ["post 1: 1", "post 1: 1"]);
  await cache.revalidateTag("post");
  assertEquals(await get(), "post 1: 2");
  assertEquals(calls, { page: 2, post: 2 });
});

Deno.test("Values of another cache, and those requested after the result, aren't parts", async () => {
  const [cache, other] = [createCache(), createCache()];
  const later = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const whole = () =>
    cache.cached("whole", async () => {
      await other.cached("x", () => 1, { maxAge: 60, tags: ["other"] });
      await cache.cached("x", () => 1, { maxAge: 60, tags: ["part"] });
      // Continues after the result was returned.
      later.promise.then(async () => {
        await cache.cached("y", () => 1, { maxAge: 60, tags: ["later"] });
        done.resolve();
      });
      return {};
    }, { maxAge: 60 });
  const value = await whole();
  later.resolve();
  await done.promise;
  await cache.revalidateTag("later", "other");
  assert(await whole() === value);
});

Deno.test("Thousands of parts are remembered and counted as bytes", async () => {
  const cache = createCache();
  let calls = 0;
  const part = cache.unstable_cache(
    (i: number) => Promise.resolve(i),
    ["part"],
  );
  const whole = () =>
    cache.cached("whole", async () => {
      for (let i = 0; i < 5_000; i++) await part(i);
      return ++calls;
    }, { maxAge: 60 });
  await whole();
  const before = cache.stats().bytes;
  await part.invalidate(4_321);
  assertEquals(await whole(), 2);
  assert(before > 5_000 * (200 + 20), `${before}`);
});

async function refusesRecursion(call: () => Promise<unknown>, key: string) {
  const error = await assertRejects(call, CacheError);
  assertEquals(error.code, "RECURSION");
  assertEquals(
    error.message,
    `Cannot compute ${
      JSON.stringify(key)
    }: the function waits for its own result`,
  );
}

Deno.test("A function that waits for its own result is an error and doesn't block its key", async () => {
  const { cache } = timedCache();
  const options = { maxAge: 60 };
  let again = true;
  const direct = (): Promise<unknown> =>
    cache.cached("a", async () => again ? await direct() : 1, options);
  await refusesRecursion(direct, "a");
  const there = (): Promise<unknown> => cache.cached("b", back, options);
  const back = (): Promise<unknown> =>
    cache.cached("c", async () => again ? await there() : 1, options);
  // The error is thrown where the first cyclic wait would begin.
  await refusesRecursion(there, "c");
  again = false;
  assertEquals([await direct(), await there()], [1, 1]);
});

Deno.test("Two functions that wait for each other are an error, whichever started first", async () => {
  const { cache } = timedCache();
  const gate = Promise.withResolvers<void>();
  const load = (key: string, other: string): Promise<unknown> =>
    cache.cached(key, async () => {
      await gate.promise;
      return await load(other, key);
    }, { maxAge: 60 });
  const all = Promise.allSettled([load("a", "b"), load("b", "a")]);
  await settle();
  gate.resolve();
  for (const result of await all) {
    assert(result.status === "rejected");
    assertEquals((result.reason as CacheError).code, "RECURSION");
  }
});

Deno.test("A function may call itself with other arguments, and wait for shared parts", async () => {
  const cache = createCache();
  const factorial = cache.unstable_cache(
    async (n: number): Promise<number> =>
      n < 2 ? 1 : n * await factorial(n - 1),
    ["factorial"],
  );
  assertEquals(await factorial(10), 3_628_800);
  const part = () => cache.cached("part", () => settle(), { maxAge: 60 });
  const whole = (key: string) =>
    cache.cached(key, () => Promise.all([part(), part()]), { maxAge: 60 });
  await Promise.all([whole("x"), whole("y"), part()]);
});

Deno.test("A function that waits for itself gets the stale value if there is one", async () => {
  const { cache, pass } = timedCache();
  let again = false;
  const load = (): Promise<unknown> =>
    cache.cached("k", async () => again ? [await load()] : "old", {
      maxAge: 60,
      staleIfError: 60,
    });
  await load();
  again = true;
  pass(61);
  assertEquals(await load(), ["old"]);
});

Deno.test("A function that asks for a page which isn't stored is invalidated with the page", async () => {
  const requests: Record<string, RequestInit> = {
    "part of a page": { headers: { range: "bytes=0-3" } },
    "a page past the cache": { headers: { "cache-control": "no-store" } },
    "a page for a cookie": { headers: { cookie: "theme=dark" } },
    "the head of a page": { method: "HEAD" },
  };
  for (const [name, init] of Object.entries(requests)) {
    for (const scope of ["page", "/page"]) {
      const cache = createCache();
      let version = 1;
      const app = createApp()
        .use(cache.cacheResponse({ maxAge: 60, tags: ["page"] }))
        .route({
          path: "/page",
          handler: () => new Response("", { headers: { age: `${version}` } }),
        });
      const age = () =>
        cache.cached("age", async () => {
          const request = new Request("http://localhost/page", init);
          return (await app.fetch(request)).headers.get("age");
        }, { maxAge: 60 });
      // The cache now knows which cookies auth reads: none.
      await app.fetch(new Request("http://localhost/other", init));
      assertEquals(await age(), "1", name);
      version = 2;
      assertEquals(await age(), "1", name);
      await cache.onDemandRevalidate(scope);
      assertEquals(await age(), "2", `${name}, ${scope}`);
    }
  }
});

Deno.test("Tags of a nested cacheResponse() invalidate the page that the outer one stores", async () => {
  const cache = createCache();
  let made = 0;
  const inner = createApp()
    .use(cache.cacheResponse({ maxAge: 60, tags: ["inner"] }))
    .route({ path: "/", handler: () => new Response(`page ${++made}`) });
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60, tags: ["outer"] }))
    .use((request) => inner.fetch(request));
  const get = async () =>
    await (await app.fetch(new Request("http://localhost/"))).text();
  assertEquals([await get(), await get()], ["page 1", "page 1"]);
  await cache.revalidateTag("inner");
  assertEquals([await get(), await get()], ["page 2", "page 2"]);
  await cache.revalidateTag("outer");
  assertEquals(await get(), "page 3");
});

Deno.test("A function that asks for a cached page with HEAD is invalidated with the page", async () => {
  const cache = createCache();
  let version = 1;
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60, tags: ["page"] }))
    .route({
      path: "/",
      handler: () =>
        new Response("page", { headers: { etag: `"${version}"` } }),
    });
  const fetch = (method: string) =>
    app.fetch(new Request("http://localhost/", { method }));
  const etag = () =>
    cache.cached("etag", async () => {
      const { headers } = await fetch("HEAD");
      return headers.get("etag");
    }, { maxAge: 60 });
  await (await fetch("GET")).text();
  assertEquals(await etag(), '"1"');
  version = 2;
  await cache.revalidateTag("page");
  assertEquals(await etag(), '"2"');
});
