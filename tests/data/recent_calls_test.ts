/**
 * Remembered keys of recent calls must equal computed keys.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { createCache } from "@quartet/kit/data";

/** Creates a function that returns the key it was called with. */
function subject(
  name: string,
  cache = createCache({ maxEntries: 1e6, maxBytes: 1e9 }),
) {
  const fn = cache.unstable_cache(
    // deno-lint-ignore no-explicit-any -- any argument there is
    (arg: any): Promise<string> => Promise.resolve(fn.key(arg)),
    [name],
  );
  return fn;
}

const FLAT: readonly (() => unknown)[] = [
  () => ({}),
  () => ({ a: 0 }),
  () => ({ a: -0 }),
  () => ({ a: 1 }),
  () => ({ a: "1" }),
  () => ({ a: true }),
  () => ({ a: false }),
  () => ({ a: null }),
  () => ({ a: undefined }),
  () => ({ a: NaN }),
  () => ({ a: Infinity }),
  () => ({ a: -Infinity }),
  () => ({ a: 1n }),
  () => ({ a: 0.1 }),
  () => ({ a: 2 ** 32 + 1 }),
  () => ({ a: "" }),
  () => ({ a: "ab" }),
  () => ({ a: "xb", b: "" }),
  () => ({ a: "a".repeat(64) }),
  () => ({ a: "a".repeat(63) + "b" }),
  () => ({ a: "a".repeat(65) }),
  () => ({ b: 1 }),
  () => ({ a: 1, b: 2 }),
  () => ({ b: 2, a: 1 }),
  () => ({ a: 2, b: 1 }),
  () => ({ a: 1, b: 2, c: undefined }),
  () => ({ a: [1] }),
  () => ({ a: { a: 1 } }),
  () => ({ 1: "a", 0: "b" }),
  () => ({ __proto__: null, a: 1 }),
  () => JSON.parse('{"__proto__":1}'),
  () => [1],
  () => 1,
  () => "a",
  () => null,
  () => undefined,
];

Deno.test("Remembered calls stay distinct, however often they repeat", async () => {
  const fn = subject("apart");
  for (let round = 0; round < 50; round++) {
    for (const make of round % 2 === 0 ? FLAT : FLAT.toReversed()) {
      assertEquals(await fn(make()), fn.key(make()));
    }
  }
});

Deno.test("Equal calls of different functions are independent", async () => {
  const cache = createCache({ maxEntries: 1e6, maxBytes: 1e9 });
  // So many that some of them share a slot.
  const fns = Array.from(
    { length: 20_000 },
    (_, i) => subject(`fn${i}`, cache),
  );
  for (let round = 0; round < 3; round++) {
    for (const fn of fns) assert(await fn({ a: 1 }) === fn.key({ a: 1 }));
  }
});

Deno.test("A changed object is a different call", async () => {
  const fn = subject("changed");
  const arg: Record<string, unknown> = { a: 1 };
  for (let round = 0; round < 5; round++) {
    for (const value of [1, 2, "2", null]) {
      arg.a = value;
      assertEquals(await fn(arg), fn.key({ a: value }));
    }
    arg.b = 1;
    assertEquals(await fn(arg), fn.key({ a: null, b: 1 }));
    delete arg.b;
  }
});

Deno.test("A property with a changing value doesn't lead to a wrong key", async () => {
  const fn = subject("getter");
  let seed = 3;
  const changing = {
    get a() {
      return (seed = (seed * 48_271) % 2_147_483_647) >> 8 & 1;
    },
  };
  for (const a of [0, 1]) await fn({ a });
  for (let round = 0; round < 2_000; round++) {
    await fn(changing);
    for (const a of [0, 1]) assertEquals(await fn({ a }), fn.key({ a }));
  }
});

Deno.test("A property that is flat only at the first read has the key of its later value", async () => {
  const fn = subject("deepening");
  for (let round = 0; round < 5; round++) {
    let reads = 0;
    const deepening = {
      get a() {
        return reads++ === 0 ? 1 : [2];
      },
    };
    assertEquals(await fn(deepening), fn.key({ a: [2] }));
    assertEquals(await fn({ a: 1 }), fn.key({ a: 1 }));
  }
});

Deno.test("Invalid key parts are rejected, also after similar valid calls", async () => {
  const fn = subject("refused");
  class Like {
    a = 1;
  }
  for (let round = 0; round < 5; round++) {
    await fn({ a: 1 });
    await assertRejects(() => fn({ a: 1, [Symbol("s")]: 1 }), TypeError);
    await assertRejects(() => fn(new Like()), TypeError);
    await assertRejects(() => fn({ a: () => 1 }), TypeError);
    await assertRejects(() => fn({ a: Symbol("s") }), TypeError);
  }
});

Deno.test("An object with fewer properties isn't confused with one that has more", async () => {
  const fn = subject("less");
  const less = fn.key({ a: 1 });
  // Some of them share a slot.
  for (let b = 0; b < 60_000; b++) {
    await fn({ a: 1, b });
    for (let i = 0; i < 2; i++) assert(await fn({ a: 1 }) === less, `${b}`);
  }
});

Deno.test("Keys stay correct with many more calls than are remembered, and with few again", async () => {
  const fn = subject("many");
  let seed = 9;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  for (const many of [100_000, 50, 100_000]) {
    for (let i = 0; i < 40_000; i++) {
      const arg = { id: random(many), locale: random(2) ? "en" : "de" };
      const key = await fn(arg);
      assert(key === fn.key(arg), `${key} for ${JSON.stringify(arg)}`);
    }
  }
});
