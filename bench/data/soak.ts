/**
 * Runs ten million mixed operations on a full cache. Fails if its memory grows
 * or its counters disagree.
 *
 * Run it with `deno task bench data/soak`. It takes about a minute.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";

const OPERATIONS = 10_000_000;
let time = 0;
let seed = 11;
const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;

const cache = createCache({ now: () => time, onError() {} });
let calls = 0;
let computed = 0;
let failed = 0;
const heaps: number[] = [];

const compute = (i: number) => {
  computed++;
  if (i % 1_000 === 0) throw new Error("down");
  return { id: i, text: `value ${i}` };
};
const fn = cache.unstable_cache(
  async (i: number) => await compute(i),
  ["soak"],
  { tags: ["soak", "soaked"], revalidate: 30 },
);

const begin = performance.now();
for (let i = 0; i < OPERATIONS; i++) {
  // Most calls use few keys, as in programs. The rest use five times as many
  // keys as fit into the cache.
  const n = random(10) < 7 ? random(2_000) : random(50_000);
  switch (random(40)) {
    case 0:
      await cache.revalidateTag(`tag${random(200_000)}`);
      break;
    case 1:
      await cache.revalidatePath(`/p/${n % 500}/*`);
      break;
    case 2:
      time += 10;
      break;
    default:
      calls++;
      try {
        if (n % 2 === 0) await fn(n);
        else {
          await cache.cached(`k${n}`, () => compute(n), {
            maxAge: 30,
            staleIfError: 60,
            tags: [`tag${n % 1_000}`],
            paths: [`/p/${n % 500}/x`],
          });
        }
      } catch {
        failed++;
      }
  }
  if (i % 1_000_000 === 999_999) {
    (globalThis as { gc?: () => void }).gc?.();
    heaps.push(Deno.memoryUsage().heapUsed / 1024 / 1024);
    const { entries, bytes } = cache.stats();
    console.log(
      `  ${(i + 1) / 1_000_000} million: heap ${
        heaps.at(-1)!.toFixed(1)
      } MiB, ${entries} entries, ${
        (bytes / 1024 / 1024).toFixed(1)
      } MiB estimated`,
    );
  }
}
const { hits, staleHits, misses, entries, evictions } = cache.stats();
console.log(
  `  ${
    ((performance.now() - begin) * 1e6 / OPERATIONS).toFixed(0)
  } ns an operation; ${hits} hits, ${staleHits} stale, ${misses} misses, ${failed} failed, ${evictions} evictions`,
);
if (hits + staleHits + misses !== calls) throw new Error("calls don't add up");
if (misses !== computed) throw new Error("computations don't add up");
if (entries > 10_000) throw new Error("more entries than there is room for");
if (heaps.at(-1)! > heaps[2]! * 1.2 + 2) throw new Error("memory has grown");
