import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createCache } from "@quartet/kit/data";
import { timedCache } from "./helpers.ts";

/** Work that takes longer than a timer of a few milliseconds. */
function slow<T>(value: T): () => Promise<T> {
  return () => new Promise((resolve) => setTimeout(() => resolve(value), 20));
}

Deno.test("timeout Infinity means no timeout", async () => {
  const { cache } = timedCache();
  const options = { maxAge: 60, timeout: Infinity };
  assertEquals(await cache.cached("key", slow(1), options), 1);
  const load = cache.unstable_cache(slow(2), ["load"], { timeout: Infinity });
  assertEquals(await load(), 2);
});

Deno.test("staleAfter Infinity waits for the new value", async () => {
  const { cache, pass } = timedCache();
  const options = { maxAge: 1, staleIfError: 60, staleAfter: Infinity };
  await cache.cached("key", () => "old", options);
  pass(2);
  assertEquals(await cache.cached("key", slow("new"), options), "new");
});

Deno.test("A time longer than any timer can wait is rejected", async () => {
  const cache = createCache();
  for (const name of ["timeout", "staleAfter"]) {
    await assertRejects(
      () => cache.cached("key", slow(1), { maxAge: 1, [name]: 3e6 }),
      TypeError,
      `Cannot call cached(): ${name} must be a number of seconds above 0, or Infinity, and at most 2147483, as long as a timer can wait, received 3000000`,
    );
    const most = { maxAge: 1, [name]: 2_147_483 };
    assertEquals(await cache.cached(`most ${name}`, slow(1), most), 1);
  }
  assertThrows(
    () => createCache({ storeTimeout: 3e6 }),
    TypeError,
    "Cannot create cache: storeTimeout must be a number of seconds above 0, or Infinity, and at most 2147483, as long as a timer can wait, received 3000000",
  );
  assertThrows(
    () => createCache({ storeTimeout: 0 }),
    TypeError,
    "storeTimeout must be a number of seconds above 0, or Infinity, and at most 2147483, as long as a timer can wait, received 0",
  );
  await createCache({ storeTimeout: Infinity }).close();
});
