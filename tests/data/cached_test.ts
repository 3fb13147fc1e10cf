import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { counter, settle, timedCache } from "./helpers.ts";

Deno.test("cached() calls the function once per lifetime", async () => {
  const { cache, pass } = timedCache();
  const fn = counter();
  const load = () => cache.cached("k", fn, { maxAge: 60 });
  assertEquals(await load(), 1);
  pass(59.999);
  assertEquals(await load(), 1);
  pass(0.001);
  assertEquals(await load(), 2);
  const { hits, misses, staleHits } = cache.stats();
  assertEquals([hits, misses, staleHits], [1, 2, 0]);
});

Deno.test("undefined and null are cached as values", async () => {
  const { cache } = timedCache();
  for (const value of [undefined, null, 0, "", false, NaN]) {
    let calls = 0;
    const load = () =>
      cache.cached(`k${value}`, () => (calls++, value), { maxAge: 60 });
    assertStrictEquals(await load(), value);
    assertStrictEquals(await load(), value);
    assertEquals(calls, 1, String(value));
  }
});

Deno.test("negativeMaxAge sets the lifetime of negative results", async () => {
  const { cache, pass } = timedCache();
  let found: string | null = null;
  let calls = 0;
  const load = () =>
    cache.cached("k", () => (calls++, found), {
      maxAge: 60,
      negativeMaxAge: 5,
    });
  await load();
  pass(4);
  assertEquals([await load(), calls], [null, 1]);
  pass(1);
  found = "found";
  assertEquals([await load(), calls], ["found", 2]);
  pass(59);
  assertEquals([await load(), calls], ["found", 2]);
});

Deno.test("maxAge false caches indefinitely, and 0 neither hits nor caches", async () => {
  const { cache, pass } = timedCache();
  const forever = counter();
  const never = counter();
  for (let i = 0; i < 3; i++) {
    assertEquals(await cache.cached("a", forever, { maxAge: false }), 1);
    assertEquals(await cache.cached("b", never, { maxAge: 0 }), i + 1);
    pass(1e9);
  }
  assertEquals(cache.stats().entries, 1);
  // It also doesn't hit a value that was cached with another lifetime.
  await cache.cached("b", never, { maxAge: 60 });
  assertEquals(await cache.cached("b", never, { maxAge: 0 }), 5);
  await Promise.all(
    [1, 2, 3].map(() => cache.cached("c", never, { maxAge: 0 })),
  );
  assertEquals(never.calls, 8);
});

Deno.test("1,000 concurrent callers run the function once", async () => {
  const { cache } = timedCache();
  const gate = Promise.withResolvers<number>();
  let calls = 0;
  const load = () =>
    cache.cached("k", () => (calls++, gate.promise), { maxAge: 60 });
  const all = Promise.all(Array.from({ length: 1_000 }, load));
  await settle();
  gate.resolve(7);
  assertEquals(new Set(await all), new Set([7]));
  assertEquals(calls, 1);
  assertEquals(cache.stats().misses, 1_000);
});

Deno.test("An error rejects 1,000 concurrent callers and isn't cached", async () => {
  const { cache } = timedCache();
  let calls = 0;
  const load = () =>
    cache.cached("k", async () => {
      calls++;
      await undefined;
      if (calls === 1) throw new Error("no database");
      return calls;
    }, { maxAge: 60 });
  const all = await Promise.allSettled(Array.from({ length: 1_000 }, load));
  assertEquals(calls, 1);
  assert(
    all.every((one) =>
      one.status === "rejected" && one.reason.message === "no database"
    ),
  );
  assertEquals(await load(), 2);
});

Deno.test("A function that throws synchronously doesn't block its key", async () => {
  const { cache } = timedCache();
  const load = (fn: () => number) => cache.cached("k", fn, { maxAge: 60 });
  for (let i = 0; i < 3; i++) {
    await assertRejects(
      () =>
        load(() => {
          throw new RangeError("at once");
        }),
      RangeError,
    );
  }
  assertEquals(await load(() => 1), 1);
});

Deno.test("A key may contain any characters and never collides", async () => {
  const { cache } = timedCache();
  const fn = cache.unstable_cache((n: string) => Promise.resolve(n), ["a"]);
  await fn("b");
  const keys = [
    "a",
    "b",
    "a:b",
    "a::b",
    ":",
    "",
    "\0",
    "\0a",
    "\0\0a",
    "[",
    "{",
    "__proto__",
    fn.key("b"),
    `\0${fn.key("b")}`,
    "constructor",
    "\ud800",
    "💥",
  ];
  for (const key of keys) await cache.cached(key, () => key, { maxAge: 60 });
  for (const key of keys) {
    const value = await cache.cached(key, () => "another", { maxAge: 60 });
    assertEquals(value, key);
  }
  assertEquals(await fn("b"), "b");
});

Deno.test("All callers share one object, unless clone gives each its own", async () => {
  const { cache } = timedCache();
  for (const clone of [false, true]) {
    const load = () =>
      cache.cached(`k${clone}`, () => ({ list: [1], at: new Date(0) }), {
        maxAge: 60,
        clone,
      });
    const [first, second] = await Promise.all([load(), load()]);
    first.list.push(2);
    const third = await load();
    third.list.push(3);
    assertEquals(second.list.length, clone ? 1 : 3);
    assertEquals((await load()).list.length, clone ? 1 : 3);
    assertEquals((await load()).at, new Date(0));
  }
});

Deno.test("With clone, a value that can't be copied is an error and doesn't block its key", async () => {
  const { cache } = timedCache();
  const load = (value: unknown) =>
    cache.cached("k", () => value, { maxAge: 60, clone: true });
  await assertRejects(() => load(() => {}));
  assertEquals(await load(1), 1);
});

Deno.test("jitter subtracts a random share from the lifetime", async () => {
  for (const [random, lifetime] of [[0, 100], [0.5, 75], [0.999, 50.05]]) {
    const { cache, pass } = timedCache({ random: () => random! });
    const fn = counter();
    const load = () => cache.cached("k", fn, { maxAge: 100, jitter: 0.5 });
    await load();
    pass(lifetime! - 0.01);
    assertEquals(await load(), 1);
    pass(0.02);
    assertEquals(await load(), 2);
  }
});

Deno.test("cached() rejects invalid arguments with a rejected promise", async () => {
  const { cache } = timedCache();
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const call = (...args: any[]) => (cache.cached as any)(...args);
  const fn = () => 1;
  const cases: readonly (readonly [unknown[], string])[] = [
    [[1, fn, { maxAge: 1 }], "key must be a string, received 1"],
    [["k", 1, { maxAge: 1 }], "fn must be a function, received 1"],
    [["k", fn, {}], "maxAge must be a number of seconds, 0 or more, or false"],
    [["k", fn, { maxAge: -1 }], "received -1"],
    [["k", fn, { maxAge: NaN }], "received NaN"],
    [["k", fn, { maxAge: "60" }], 'received "60"'],
    [["k", fn, { maxAge: true }], "received true"],
    [
      ["k", fn, { maxAge: 1, tags: "posts" }],
      'tags must be an array of strings, received "posts"',
    ],
    [["k", fn, { maxAge: 1, tags: [1] }], "tags[0] must be"],
    [["k", fn, { maxAge: 1, tags: [""] }], "tags[0] must be"],
    [["k", fn, { maxAge: 1, paths: ["posts"] }], 'must begin with "/"'],
    [["k", fn, { maxAge: 1, paths: ["/posts/*"] }], 'must not end in "/*"'],
    [["k", fn, { maxAge: 1, jitter: 2 }], "jitter must be from 0 to 1"],
    [
      ["k", fn, { maxAge: 1, timeout: 0 }],
      "timeout must be a number of seconds above 0, or Infinity, and at most 2147483, as long as a timer can wait, received 0",
    ],
    [
      ["k", fn, { maxAge: 1, staleWhileRevalidate: false }],
      "staleWhileRevalidate must be",
    ],
    [
      ["k", fn],
      "options must be an object, as in { maxAge: 60 }, received undefined",
    ],
    [
      ["k", fn, 60],
      "options must be an object, as in { maxAge: 60 }, received 60",
    ],
  ];
  for (const [args, message] of cases) {
    await assertRejects(() => call(...args), TypeError, message);
  }
});
