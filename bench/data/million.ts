/**
 * Measures a cache of one million keys and 100,000 tags in Redis: its memory,
 * and the time of a miss, an invalidation, a new process and a strict hit.
 * Needs `redis-server` on the PATH.
 *
 * Run it with `deno task bench data/million`, or with fewer keys: `deno task
 * bench data/million -- 100000`.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import {
  createRedisStore,
  type RedisStoreOptions,
} from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { startRedis } from "../../tests/redis_server.ts";

const KEYS = Number(Deno.args[0] ?? 1_000_000);
const TAGS = 100_000;
/** Number of concurrent calls while the store is filled. */
const WORKERS = 200;

await using redis = await startRedis();
const client = createClient({ url: redis.url });

function open(options: Partial<RedisStoreOptions> = {}) {
  const store = createRedisStore({
    client,
    name: "shop",
    // With this limit, no key of the benchmark is in memory by chance.
    maxEntries: 1,
    timeout: 10,
    ...options,
  });
  return { store, cache: createCache({ store, storeTimeout: 10 }) };
}

/** A typical value: 100 bytes of JSON. */
const load = (i: number) => ({
  id: i,
  title: `Post ${i}`,
  author: "Ada Lovelace",
  tags: ["news", "science"],
  date: "2026-11-22",
});

const { cache } = open();
const call = (i: number, at = cache) =>
  at.cached(`post:${i}`, () => load(i), {
    maxAge: 3_600,
    tags: ["post", `post:${i % TAGS}`],
  });

async function usedMemory(): Promise<number> {
  const text = await redis.send("INFO", "memory") as string;
  return Number(/used_memory:(\d+)/.exec(text)![1]);
}

/** Measures operations one after another. */
async function time(
  count: number,
  run: (i: number) => Promise<unknown>,
): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    await run(i);
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => toMs(times[Math.floor(count * share)]!);
  return `${at(0.5)}, ${at(0.99)} for 99 of 100`;
}

function toMs(ms: number): string {
  return ms < 0.1 ? `${(ms * 1_000).toFixed(2)} µs` : `${ms.toFixed(2)} ms`;
}

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(48)}${figure}`);
}

await call(0);
const empty = await usedMemory();
const begin = performance.now();
let next = 1;
await Promise.all(Array.from({ length: WORKERS }, async () => {
  while (next < KEYS) await call(next++);
}));
const seconds = (performance.now() - begin) / 1_000;
const filled = await usedMemory();
print("a key with 100 bytes of value", `${bytes(filled - empty, KEYS)} bytes`);
print("misses with 200 callers", `${Math.round(KEYS / seconds)} in a second`);

const sizes: number[] = [];
for (let i = 0; i < TAGS; i += 10_000) {
  const tags = Array.from({ length: 10_000 }, (_, j) => `post:${i + j}`);
  const start = performance.now();
  await cache.revalidateTag(...tags);
  sizes.push(performance.now() - start);
}
const tagged = await usedMemory();
print("a tag", `${bytes(tagged - filled, TAGS)} bytes`);
print("an invalidation of 10,000 tags", toMs(Math.max(...sizes)));
print(
  "an invalidation of one tag",
  await time(1_000, (i) => cache.revalidateTag(`post:${i}`)),
);
print(
  "a miss, all values being there",
  await time(1_000, (i) => call(KEYS + i)),
);

const started = performance.now();
const late = open();
await call(KEYS + 1, late.cache);
print("the first value of a new process", toMs(performance.now() - started));
print(
  "a value of another process",
  await time(1_000, (i) => call(KEYS + i, late.cache)),
);

for (const strict of [false, true]) {
  const { cache } = open({ strict });
  await call(KEYS, cache);
  const name = strict ? "strict hit" : "hit in memory";
  if (strict) print(`a ${name}`, await time(1_000, () => call(KEYS, cache)));
  const count = strict ? 100_000 : 1_000_000;
  const start = performance.now();
  for (let i = 0; i < count; i += WORKERS) {
    if (strict) {
      await Promise.all(
        Array.from({ length: WORKERS }, () => call(KEYS, cache)),
      );
    } else for (let j = 0; j < WORKERS; j++) await call(KEYS, cache);
  }
  const each = (performance.now() - start) / count;
  print(`a ${name}${strict ? ", of 200 at the same time" : ""}`, toMs(each));
  await cache.close();
}
await late.cache.close();
await cache.close();

function bytes(total: number, count: number): string {
  return (total / count).toFixed(0);
}
