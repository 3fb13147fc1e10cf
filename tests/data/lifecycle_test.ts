import { assertEquals, assertRejects } from "@std/assert";
import {
  cached,
  CacheError,
  cacheStats,
  type CacheStore,
  configureCache,
  createCache,
  createMemoryStore,
} from "@quartet/kit/data";
import { Hub } from "./shared_store.ts";

/** Creates a store that counts how often it was closed. */
function closable(): CacheStore & { closed: number } {
  return Object.assign(createMemoryStore(), {
    closed: 0,
    close() {
      this.closed++;
    },
  });
}

Deno.test("configureCache() returns the shared cache, so that the app can close it", async () => {
  const first = closable();
  const second = closable();
  try {
    const cache = configureCache({ store: first });
    await cached("key", () => 1, { maxAge: 60 });
    assertEquals(cache.stats(), cacheStats());
    assertEquals(cache.stats().misses, 1);
    const next = configureCache({ store: second });
    assertEquals([cache.stats().entries, cacheStats().entries], [1, 0]);
    // Its store may be in use elsewhere, so its owner closes it.
    assertEquals(first.closed, 0);
    await cache.close();
    assertEquals([first.closed, second.closed], [1, 0]);
    await next.close();
    assertEquals([first.closed, second.closed], [1, 1]);
  } finally {
    configureCache();
  }
});

Deno.test("await using closes a cache at the end of its block", async () => {
  const store = closable();
  {
    await using cache = createCache({ store });
    assertEquals(await cache.cached("key", () => 1, { maxAge: 60 }), 1);
    assertEquals(store.closed, 0);
  }
  assertEquals(store.closed, 1);
});

Deno.test("A store doesn't need a delete method", async () => {
  const store = new Hub().open();
  assertEquals("delete" in store, false);
  await using cache = createCache({ store });
  assertEquals(await cache.cached("key", () => 1, { maxAge: 60 }), 1);
});

Deno.test("timeout also ends the wait for values that aren't cached", async () => {
  await using cache = createCache();
  const { promise, resolve } = Promise.withResolvers<number>();
  const load = cache.unstable_cache(() => promise, ["load"], {
    revalidate: 0,
    timeout: 0.005,
  });
  for (
    const call of [
      () => cache.cached("key", () => promise, { maxAge: 0, timeout: 0.005 }),
      () => load(),
    ]
  ) {
    const error = await assertRejects(call, CacheError, "longer than 5 ms");
    assertEquals(error.code, "TIMEOUT");
  }
  resolve(7);
  assertEquals(await load(), 7);
});
