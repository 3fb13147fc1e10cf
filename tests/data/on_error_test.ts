import { assertEquals, assertRejects } from "@std/assert";
import { createCache } from "@quartet/kit/data";
import { captureErrors } from "../helpers.ts";
import { settle, timedCache } from "./helpers.ts";
import { Hub } from "./shared_store.ts";

/** Returns what is printed while `run` runs. */
async function printed(run: () => Promise<unknown>): Promise<unknown[][]> {
  using captured = captureErrors();
  await run();
  await settle();
  return captured.calls;
}

const failure = new Error("The log is full");
const logs: Record<string, () => unknown> = {
  throws() {
    throw failure;
  },
  rejects: () => Promise.reject(failure),
};

for (const [how, onError] of Object.entries(logs)) {
  Deno.test(`An onError that ${how} doesn't affect callers during an outage`, async () => {
    const hub = new Hub();
    hub.failure = new Error("down");
    const { cache } = timedCache({ store: hub.open(), onError });
    const lines = await printed(async () => {
      const options = { maxAge: 60 };
      assertEquals(await cache.cached("key", () => 1, options), 1);
      assertEquals(await cache.cached("key", () => 2, options), 1);
    });
    assertEquals(lines, [["onError failed:", failure]]);
  });

  Deno.test(`An onError that ${how} doesn't affect callers of a store that throws`, async () => {
    const store = {
      ...new Hub().open(),
      get: undefined!,
      claim: undefined!,
      peek() {
        throw new Error("broken");
      },
    };
    const cache = createCache({ store, onError });
    const lines = await printed(async () => {
      assertEquals(await cache.cached("key", () => 1, { maxAge: 60 }), 1);
      const load = cache.unstable_cache(() => Promise.resolve(2), ["load"]);
      assertEquals(await load(), 2);
    });
    assertEquals(lines[0], ["onError failed:", failure]);
  });

  Deno.test(`An onError that ${how} doesn't end the process when a refresh fails`, async () => {
    const { cache, pass } = timedCache({ onError });
    const options = { maxAge: 1, staleWhileRevalidate: 60 };
    await cache.cached("key", () => "old", options);
    pass(2);
    const lines = await printed(async () => {
      const refused = () => Promise.reject(new Error("no new one"));
      assertEquals(await cache.cached("key", refused, options), "old");
    });
    assertEquals(lines, [["onError failed:", failure]]);
  });
}

Deno.test("A clock that throws is a rejection, also if a value is cached", async () => {
  let now = Date.now;
  const cache = createCache({ now: () => now() });
  const load = cache.unstable_cache(() => Promise.resolve(1), ["load"]);
  const call = () => cache.cached("key", () => 1, { maxAge: 60 });
  assertEquals([await load(), await call()], [1, 1]);
  now = () => {
    throw new Error("no time");
  };
  await assertRejects(() => load(), Error, "no time");
  const called = call();
  await assertRejects(() => called, Error, "no time");
});
