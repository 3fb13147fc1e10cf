/**
 * One process that reads and writes through a strict cache shared with others.
 * The data itself is in Redis: `source:<i>` is the current version of an item.
 * `done:<i>` is a version that all caches must already know.
 *
 * Arguments: the URL of a Redis, the number of processes, and the number of
 * operations of this one. It prints how many values it has read, and how many
 * of them were stale.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { UNHURRIED } from "../helpers.ts";
import { until } from "./store_contract.ts";

/** Number of values that were read, and of stale ones among them. */
export interface Outcome {
  readonly reads: number;
  readonly stale: number;
}

const ITEMS = 20;
const WORKERS = 100;

/**
 * Reads and writes at random, one write in ten, once all processes are ready.
 */
export async function race(
  url: string,
  processes: number,
  operations: number,
  strict = true,
): Promise<Outcome> {
  const client = createClient({ url });
  const store = createRedisStore({
    client,
    name: "race",
    strict,
    timeout: UNHURRIED,
  });
  const cache = createCache({ store });
  const data = await createClient({ url }).connect();
  await store.ping();
  await data.incr("arrived");
  await until(async () => Number(await data.get("arrived")) === processes);
  let [left, reads, stale] = [operations, 0, 0];

  async function write(item: number): Promise<void> {
    const version = await data.incr(`source:${item}`);
    const { success } = await cache.revalidateTag(`t${item}`);
    if (success) await data.eval(RAISE, argumentsOf(item, version));
  }

  async function read(item: number): Promise<void> {
    const done = Number(await data.get(`done:${item}`) ?? 0);
    const found = await cache.cached(
      `k${item}`,
      async () => Number(await data.get(`source:${item}`) ?? 0),
      { maxAge: 600, tags: [`t${item}`] },
    );
    reads++;
    if (found < done) stale++;
  }

  await Promise.all(Array.from({ length: WORKERS }, async () => {
    while (left-- > 0) {
      const item = Math.floor(Math.random() * ITEMS);
      await (Math.random() < 0.1 ? write(item) : read(item));
    }
  }));
  await cache.close();
  await data.close();
  return { reads, stale };
}

/**
 * Raises a number, because writes may finish in another order than they began.
 */
const RAISE = `
if tonumber(redis.call("GET", KEYS[1]) or 0) < tonumber(ARGV[1]) then
  redis.call("SET", KEYS[1], ARGV[1])
end`;

function argumentsOf(item: number, version: number) {
  return { keys: [`done:${item}`], arguments: [`${version}`] };
}

if (import.meta.main) {
  const [url, processes, operations, strict] = Deno.args;
  const outcome = await race(
    url!,
    Number(processes),
    Number(operations),
    strict !== "false",
  );
  console.log(JSON.stringify(outcome));
}
