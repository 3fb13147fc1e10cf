import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createCache, unstable_cache } from "@quartet/kit/data";
import { timedCache } from "./helpers.ts";

Deno.test("unstable_cache() caches calls with different arguments separately", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const add = cache.unstable_cache(
    (a: number, b = 0) => (calls++, Promise.resolve(a + b)),
    ["add"],
  );
  assertEquals(await add(1, 2), 3);
  assertEquals(await add(1, 3), 4);
  assertEquals(await add(1), 1);
  assertEquals(await add(1, 2), 3);
  assertEquals(calls, 3);
});

Deno.test("unstable_cache() caches results for an hour by default", async () => {
  const { cache, pass } = timedCache();
  let calls = 0;
  const fn = () => Promise.resolve(++calls);
  const hour = cache.unstable_cache(fn, ["hour"]);
  await hour();
  pass(3_599);
  assertEquals(await hour(), 1);
  pass(1);
  assertEquals(await hour(), 2);
  const minute = cache.unstable_cache(fn, ["minute"], { revalidate: 60 });
  await minute();
  pass(60);
  assertEquals(await minute(), 4);
  const forever = cache.unstable_cache(fn, ["ever"], { revalidate: false });
  await forever();
  pass(1e9);
  assertEquals(await forever(), 5);
});

Deno.test("revalidate: 0 never hits", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const fn = cache.unstable_cache(
    () => Promise.resolve(++calls),
    ["never"],
    { revalidate: 0 },
  );
  assertEquals([await fn(), await fn()], [1, 2]);
  await Promise.all([fn(), fn()]);
  assertEquals(calls, 4);
  assertEquals(cache.stats(), {
    hits: 0,
    staleHits: 0,
    misses: 4,
    evictions: 0,
    entries: 0,
    bytes: 0,
  });
});

Deno.test("unstable_cache() keeps the function's type, name and length", async () => {
  const { cache } = timedCache();
  async function identity<T>(value: T, _more?: string): Promise<T> {
    return await value;
  }
  const same: typeof identity = cache.unstable_cache(identity, ["identity"]);
  const value: { a: number } = await same({ a: 1 });
  assertEquals(value, { a: 1 });
  assertEquals([same.name, same.length], ["identity", 2]);
});

Deno.test("invalidate() invalidates one call and keeps the others", async () => {
  const { cache } = timedCache();
  const calls: number[] = [];
  const fn = cache.unstable_cache(
    (options: { id: number; in?: string }) => {
      calls.push(options.id);
      return Promise.resolve();
    },
    ["x"],
  );
  await fn({ id: 1, in: "en" });
  await fn({ id: 2 });
  const { success } = await fn.invalidate({ in: "en", id: 1 });
  assertEquals(success, true);
  await fn({ id: 1, in: "en" });
  await fn({ id: 2 });
  assertEquals(calls, [1, 2, 1]);
});

Deno.test("invalidate() also applies to an in-flight call", async () => {
  const { cache } = timedCache();
  const gates: PromiseWithResolvers<string>[] = [];
  const fn = cache.unstable_cache((_id: number) => {
    gates.push(Promise.withResolvers());
    return gates.at(-1)!.promise;
  }, ["x"]);
  const first = fn(1);
  await fn.invalidate(1);
  const second = fn(1);
  gates[0]!.resolve("old");
  assertEquals(await first, "old");
  gates[1]!.resolve("new");
  assertEquals([await second, await fn(1)], ["new", "new"]);
  assertEquals(gates.length, 2);
});

class Shop {
  calls = 0;
  constructor(readonly name: string) {}

  price = cacheOf("price", async function (this: Shop, item: string) {
    this.calls++;
    return await `${item} at ${this.name}`;
  });
  arrow = cacheOf(
    "arrow",
    async (item: string) => await `${item} in ${this.name}`,
  );
}

const shared = createCache();

function cacheOf<F extends (item: string) => Promise<string>>(
  name: string,
  fn: F,
) {
  return shared.unstable_cache(fn, [name]);
}

Deno.test("Two instances of a class don't share values", async () => {
  const [one, other] = [new Shop("One"), new Shop("Other")];
  for (let i = 0; i < 2; i++) {
    assertEquals(await one.price("tea"), "tea at One");
    assertEquals(await other.price("tea"), "tea at Other");
    assertEquals(await one.arrow("tea"), "tea in One");
    assertEquals(await other.arrow("tea"), "tea in Other");
  }
  assertEquals([one.calls, other.calls], [1, 1]);
});

Deno.test("A method on the prototype keeps its this, and invalidate() applies to all instances", async () => {
  const { cache } = timedCache();
  let calls = 0;
  class Counter {
    constructor(readonly step: number) {}
    declare times: (n: number) => Promise<number>;
  }
  const times = cache.unstable_cache(
    function (this: Counter, n: number) {
      calls++;
      return Promise.resolve(n * this.step);
    },
    ["times"],
  );
  Counter.prototype.times = times;
  const [two, three] = [new Counter(2), new Counter(3)];
  assertEquals([await two.times(5), await three.times(5)], [10, 15]);
  assertEquals([await two.times(5), await three.times(5)], [10, 15]);
  assertEquals(calls, 2);
  await times.invalidate(5);
  assertEquals([await two.times(5), await three.times(5)], [10, 15]);
  assertEquals(calls, 4);
});

Deno.test("Each instance of a class has its own values, whether or not the function reads this", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const load = cache.unstable_cache(
    (id: number) => (calls++, Promise.resolve(id)),
    ["load"],
  );
  class Posts {
    load = load;
  }
  const [one, other] = [new Posts(), new Posts()];
  for (let i = 0; i < 2; i++) {
    await one.load(1);
    await other.load(1);
    await load(1);
  }
  assertEquals(calls, 3);
});

Deno.test("Plain objects, classes and plain calls share values, and the function's this is undefined", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const load = cache.unstable_cache(
    function (this: unknown, id: number) {
      calls++;
      return Promise.resolve(`${id} of ${this}`);
    },
    ["load"],
  );
  class Posts {
    static load = load;
  }
  const bare = Object.assign(Object.create(null), { load });
  for (const self of [{ load }, { load }, bare, Posts, null, undefined, 1]) {
    assertEquals(await load.call(self, 1), "1 of undefined");
  }
  assertEquals(calls, 1);
});

Deno.test("The word this in a function's source doesn't separate its values", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const load = cache.unstable_cache(
    (id: number) => Promise.resolve(`this is ${id}, call ${++calls}`),
    ["load"],
  );
  for (const holder of [{ load }, { load }]) {
    assertEquals(await holder.load(1), "this is 1, call 1");
  }
});

Deno.test("Functions with the same key parts share values, functions without key parts don't", async () => {
  const { cache } = timedCache();
  const make = (parts: string[], value: number) =>
    cache.unstable_cache(() => Promise.resolve(value), parts);
  assertEquals(await make(["a"], 1)(), 1);
  assertEquals(await make(["a"], 2)(), 1);
  assertEquals(await make([], 1)(), 1);
  assertEquals(await make([], 2)(), 2);
});

Deno.test("Two caches share nothing", async () => {
  const [one, other] = [timedCache().cache, timedCache().cache];
  let calls = 0;
  const fn = () => Promise.resolve(++calls);
  assertEquals(await one.unstable_cache(fn, ["a"])(), 1);
  assertEquals(await other.unstable_cache(fn, ["a"])(), 2);
  await one.revalidate({ all: true });
  assertEquals(await other.unstable_cache(fn, ["a"])(), 2);
});

Deno.test("A failed function is called again", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const fn = cache.unstable_cache((late: boolean) => {
    if (++calls % 2 === 0) return Promise.resolve(calls);
    if (late) return Promise.reject(new Error("later"));
    throw new Error("at once");
  }, ["x"]);
  await assertRejects(() => fn(false), Error, "at once");
  assertEquals(await fn(false), 2);
  await assertRejects(() => fn(true), Error, "later");
  assertEquals(await fn(true), 4);
});

Deno.test("unstable_cache() rejects invalid arguments", () => {
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const wrap = (...args: any[]) => (unstable_cache as any)(...args);
  const fn = () => Promise.resolve();
  const cases: readonly (readonly [unknown[], string])[] = [
    [[1, ["a"]], "fn must be a function, received 1"],
    [[fn, null], "keyParts must be an array of strings, received null"],
    [
      [fn, "a"],
      'keyParts must be an array of strings, received "a"; write ["a"]',
    ],
    [
      [fn, { revalidate: 60 }],
      "keyParts must be an array of strings, received an object; options are the third parameter",
    ],
    [[fn, ["a", 1]], "keyParts[1] must be a string, received 1"],
    [
      [fn, ["a"], { revalidate: -1 }],
      "revalidate must be a number of seconds, 0 or more, or false",
    ],
    [[fn, ["a"], { revalidate: "60" }], 'received "60"'],
    [[fn, ["a"], { tags: "posts" }], "tags must be an array of strings"],
    [[fn, ["a"], null], "options must be an object, received null"],
  ];
  for (const [args, message] of cases) {
    assertThrows(() => wrap(...args), TypeError, message);
  }
});

Deno.test("A lifetime under the other function's option name is an error, not ignored", async () => {
  const { cache } = timedCache();
  assertThrows(
    () =>
      cache.unstable_cache(
        () => Promise.resolve(1),
        ["a"],
        { maxAge: 60 } as never,
      ),
    TypeError,
    "Cannot create cached function: the lifetime is called revalidate here, received maxAge",
  );
  await assertRejects(
    () => cache.cached("a", () => 1, { revalidate: 60 } as never),
    TypeError,
    "Cannot call cached(): the lifetime is called maxAge here, received revalidate",
  );
  assertThrows(
    () => cache.cacheResponse({ revalidate: 60 } as never),
    TypeError,
    "Cannot create response cache: the lifetime is called maxAge here, received revalidate",
  );
});
