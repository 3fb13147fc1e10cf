import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as kit from "@quartet/kit";
import {
  cacheFunction,
  configureCache,
  createCache,
  revalidateTag,
  unstable_cache,
} from "@quartet/kit/data";
import { timedCache } from "./helpers.ts";

Deno.test("cacheFunction() is unstable_cache() under a stable name", () => {
  assert(cacheFunction === unstable_cache);
  assert(kit.cacheFunction === kit.unstable_cache);
  const cache = createCache();
  assert(cache.cacheFunction === cache.unstable_cache);
});

Deno.test("cacheFunction() caches synchronous functions, and returns promises", async () => {
  configureCache({});
  let calls = 0;
  const square = cacheFunction(
    (n: number) => {
      calls++;
      return n * n;
    },
    ["square"],
    { tags: ["numbers"] },
  );
  const first: Promise<number> = square(3);
  assert(first instanceof Promise);
  assertEquals([await first, await square(3), calls], [9, 9, 1]);
  await square.invalidate(3);
  assertEquals([await square(3), calls], [9, 2]);
  await revalidateTag("numbers");
  assertEquals([await square(3), calls], [9, 3]);
});

Deno.test("A synchronous function that throws rejects, and is called again", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const load = cache.cacheFunction((id: number): string => {
    if (++calls === 1) throw new RangeError(`no ${id}`);
    return `post ${id}`;
  }, ["post"]);
  await assertRejects(() => load(7), RangeError, "no 7");
  assertEquals(await load(7), "post 7");
});

Deno.test("A function that returns a value or a promise of one gets the type of the promise", async () => {
  const { cache } = timedCache();
  const names = new Map([[1, "Ada"]]);
  const find = cache.cacheFunction(
    (id: number) => names.get(id) ?? Promise.resolve(`user ${id}`),
    ["name"],
  );
  const found: Promise<string> = find(1);
  assertEquals([await found, await find(2)], ["Ada", "user 2"]);
  assertEquals(find.key(2), '["name",2]');
});

Deno.test("A synchronous function with type parameters gets the type of a promise", async () => {
  const { cache } = timedCache();
  const first = cache.cacheFunction(<T>(items: T[]): T => items[0]!, ["first"]);
  const found: Promise<unknown> = first([1, 2]);
  assertEquals(await found, 1);
  // An asynchronous one keeps its type parameters.
  const last = cache.cacheFunction(
    <T>(items: T[]): Promise<T> => Promise.resolve(items.at(-1)!),
    ["last"],
  );
  const number: Promise<number> = last([1, 2]);
  assertEquals(await number, 2);
});

Deno.test("A synchronous method gets its instance", async () => {
  const { cache } = timedCache();
  class Shop {
    constructor(readonly city: string) {}
    price = cache.cacheFunction(
      function (this: Shop, item: string) {
        return `${item} in ${this.city}`;
      },
      ["price"],
    );
  }
  assertEquals(await new Shop("Rome").price("tea"), "tea in Rome");
  assertEquals(await new Shop("Oslo").price("tea"), "tea in Oslo");
});

Deno.test("Without keyParts, a function shares its results with no other", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const one = cache.cacheFunction((n: number) => n + ++calls);
  const other = cache.cacheFunction((n: number) => n + ++calls);
  assertEquals([await one(10), await one(10), await other(10)], [11, 11, 12]);
});

Deno.test("revalidateTag() takes effect in this process without await", async () => {
  const { cache } = timedCache();
  let title = "Hello";
  const load = cache.cacheFunction(() => title, ["title"], { tags: ["post"] });
  await load();
  title = "Hello again";
  const done = cache.revalidateTag("post");
  assertEquals(await load(), "Hello again");
  await done;
});

Deno.test("Values that only one caller could read are rejected", async () => {
  const { cache } = timedCache();
  const values: readonly (readonly [() => unknown, string])[] = [
    [
      () => new Response("text"),
      "a Response; return what you read from it, such as await response.json()",
    ],
    [() => new Response("text").body, "a ReadableStream; return its content"],
    [() => [1].values(), "an iterator; return an array of its items"],
    [async function* () {}, "an iterator; return an array of its items"],
  ];
  for (const [create, received] of values) {
    const error = await assertRejects(
      () => cache.cached("page", create, { maxAge: 60 }),
      kit.CacheError,
      `Cannot cache the value of "page": all callers must be able to read it, received ${received}`,
    );
    assertEquals(error.code, "NOT_DATA");
    await cache.cached("page", create, { maxAge: 0 });
  }
  const gone = cache.cacheFunction(() => new Response(null, { status: 410 }));
  assertEquals([(await gone()).status, (await gone()).status], [410, 410]);
});

Deno.test("A value that clone can't copy is rejected", async () => {
  const { cache } = timedCache();
  const error = await assertRejects(
    () => cache.cached("a", () => () => 1, { maxAge: 60, clone: true }),
    kit.CacheError,
    'Cannot cache the value of "a": with clone, structuredClone() must be able to copy it: ',
  );
  assertEquals([error.code, cache.stats().entries], ["NOT_DATA", 0]);
});

Deno.test("Natural mistakes get errors that say how to fix them", async () => {
  const { cache } = timedCache();
  const load = (id: number) => Promise.resolve(id);
  const options = { maxAge: 60 };
  const rejections: readonly (readonly [() => Promise<unknown>, string])[] = [
    [
      () => cache.cached(load as never, ["post"] as never, options),
      "Cannot call cached(): key must be a string, received a function; to cache by arguments, use cacheFunction(fn, keyParts, options)",
    ],
    [
      () => cache.cached("post", load(1) as never, options),
      "Cannot call cached(): fn must be a function, received a promise; pass the function that creates it",
    ],
    [
      () => cache.cached("post", () => 1, { ...options, tags: "a" as never }),
      'Cannot call cached(): tags must be an array of strings, received "a"; write ["a"]',
    ],
    [
      () => cache.revalidateTag(["a", "b"] as never),
      "Cannot revalidate: tags[0] must be a non-empty string, received an array; pass its elements one by one",
    ],
    [
      () => cache.cacheFunction((_: Headers) => 1)(new Headers()),
      "Cannot make a cache key: argument 1 must be data (values as in JSON, undefined, bigint, Date, Map, Set, bytes), received an instance of Headers; pass what the function needs of it, such as an id",
    ],
  ];
  for (const [call, message] of rejections) {
    const error = await assertRejects(call, TypeError);
    assertEquals(error.message, message);
  }
  const error = assertThrows(
    () => cache.cacheFunction(load(1) as never),
    TypeError,
  );
  assertEquals(
    error.message,
    "Cannot create cached function: fn must be a function, received a promise; pass the function that creates it",
  );
});
