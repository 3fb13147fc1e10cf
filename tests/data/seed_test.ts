import { assert, assertEquals } from "@std/assert";
import {
  cached,
  cacheStats,
  configureCache,
  createRevalidationHandler,
  onDemandRevalidate,
  revalidate,
  revalidatePath,
  revalidateTag,
  tags,
  unstable_cache,
} from "@quartet/kit";

Deno.test("tags builds tags", () => {
  assertEquals(tags.resource("post", 1), "post:1");
  assertEquals(tags.resource("post", "a"), "post:a");
  assertEquals(tags.collection("post"), "post");
  assertEquals(tags.userScoped(7, "post"), "user:7:post");
});

Deno.test("Each revalidate function returns what it invalidated and when", async () => {
  const before = Date.now();
  const cases = [
    [await revalidateTag("a", "b"), ["a", "b"], []],
    [await revalidatePath("/a", "/posts/*"), [], ["/a", "/posts/*"]],
    [await revalidate({ tags: ["a"], paths: ["/"] }), ["a"], ["/"]],
    [await revalidate({ all: true }), [], []],
    [await revalidate({}), [], []],
    [await onDemandRevalidate("a", "/b", "c"), ["a", "c"], ["/b"]],
    [await revalidateTag(), [], []],
    [await onDemandRevalidate(), [], []],
  ] as const;
  for (const [result, tags, paths] of cases) {
    assertEquals(result.success, true);
    assertEquals(result.revalidated, { tags: [...tags], paths: [...paths] });
    assert(result.timestamp >= before && result.timestamp <= Date.now());
  }
});

Deno.test("The shared cache keeps results of cached() and unstable_cache() until they're revalidated", async () => {
  configureCache({});
  let calls = 0;
  const options = { maxAge: 60, tags: ["a"] };
  const one = () => cached("seed", () => ++calls, options);
  const other = unstable_cache(
    (n: number) => Promise.resolve(n + ++calls),
    ["seed"],
    { tags: ["b"], revalidate: 60 },
  );
  assertEquals([await one(), await one()], [1, 1]);
  assertEquals([await other(10), await other(10)], [12, 12]);
  await onDemandRevalidate("a");
  assertEquals([await one(), await other(10)], [3, 12]);
  const handler = createRevalidationHandler("secret");
  const response = await handler(
    new Request("http://localhost/", {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        authorization: "Bearer secret",
      },
      body: '{"tags":["b"]}',
    }),
  );
  assertEquals(response.status, 200);
  assertEquals([await one(), await other(10)], [3, 14]);
  const { hits, misses, entries } = cacheStats();
  assertEquals([hits, misses, entries], [4, 4, 2]);
});

Deno.test("configureCache() replaces the cache of functions that were wrapped before", async () => {
  let calls = 0;
  const fn = unstable_cache(() => Promise.resolve(++calls), ["configured"]);
  await fn();
  configureCache({ maxEntries: 10 });
  assertEquals(cacheStats().entries, 0);
  assertEquals([await fn(), await fn()], [2, 2]);
});
