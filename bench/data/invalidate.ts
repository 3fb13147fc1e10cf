/**
 * Measures an invalidation of many entries, the memory of an entry, and whether
 * anything keeps a timer.
 *
 * Run it with `deno task bench data/invalidate`.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import { medianOf } from "../compare.ts";

/** Counts the timers set from here on. */
let timers = 0;
const { setTimeout: realSetTimeout } = globalThis;
globalThis.setTimeout = ((...args: Parameters<typeof realSetTimeout>) => {
  timers++;
  return realSetTimeout(...args);
}) as typeof realSetTimeout;

const room = { maxEntries: 1_000_000, maxBytes: 1e9 };

async function fill(entries: number) {
  const cache = createCache(room);
  for (let i = 0; i < entries; i++) {
    await cache.cached(`k${i}`, () => i, {
      maxAge: 60,
      tags: ["all", `tag${i % 100}`],
      paths: [`/posts/${i}/comments`],
    });
  }
  return cache;
}

async function time(what: string, run: () => Promise<unknown>): Promise<void> {
  const samples: number[] = [];
  for (let i = 0; i < 1_001; i++) {
    const begin = performance.now();
    const done = run();
    samples.push(performance.now() - begin);
    await done;
  }
  console.log(
    `  ${what.padEnd(42)} ${(medianOf(samples) * 1e3).toFixed(1)} µs`,
  );
}

console.log("\nAn invalidation, until it holds");
const small = await fill(10);
await time("a tag with 10 entries", () => small.revalidateTag("all"));
const tagged = await fill(50_000);
await time("a tag with 50,000 entries", () => tagged.revalidateTag("all"));
const paths = await fill(100_000);
await time(
  "a prefix with 100,000 paths",
  () => paths.revalidatePath("/posts/*"),
);
await time("everything, of 100,000", () => paths.revalidate({ all: true }));

/** Returns the memory in use, after a garbage collection with `--expose-gc`. */
function used(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return Deno.memoryUsage().heapUsed;
}

console.log("\nMemory of an entry beside its value, with three tags");
const COUNT = 100_000;
const values = Array.from({ length: COUNT }, (_, id) => ({ id }));
for (const kind of ["unstable_cache", "cached"]) {
  const cache = createCache(room);
  const fn = cache.unstable_cache(
    ({ id }: { id: number; locale: string }) => Promise.resolve(values[id]!),
    ["post"],
    { tags: ["post", "list", "user:7:post"] },
  );
  const before = used();
  for (let id = 0; id < COUNT; id++) {
    if (kind === "unstable_cache") await fn({ id, locale: "en" });
    else {
      await cache.cached(`post:${id}`, () => values[id]!, {
        maxAge: 60,
        tags: ["post", "list", "user:7:post"],
      });
    }
  }
  const bytes = (used() - before) / COUNT;
  console.log(`  ${kind.padEnd(42)} ${bytes.toFixed(0)} bytes`);
  if (cache.stats().entries !== COUNT) throw new Error("entries are missing");
}

console.log(`\nTimers that were set: ${timers}`);
