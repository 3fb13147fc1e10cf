/**
 * One of several processes that share a store. Arguments: the URL of a Redis or
 * the path of a Deno KV file, the name of the store, and the task:
 *
 * - `hear`: caches a value and prints `kept`. Prints `seen` once another
 *   process has invalidated it.
 * - `hang`: prints `computing` from a computation that never ends.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { CACHE_LIMITS, STORE_LIMITS, until } from "./store_contract.ts";

const [place, name, what] = Deno.args as [string, string, string];
// Long enough for other processes to find the lock held.
const settings = { ...STORE_LIMITS, name, lockTime: 1 };
await using stack = new AsyncDisposableStack();
const store = place.startsWith("redis:")
  ? createRedisStore({ ...settings, client: createClient({ url: place }) })
  : createKvStore({
    ...settings,
    kv: stack.adopt(await Deno.openKv(place), (kv) => kv.close()),
  });
const cache = stack.adopt(
  createCache({ ...CACHE_LIMITS, store }),
  (cache) => cache.close(),
);
const options = { maxAge: 60, tags: ["a"] };

if (what === "hang") {
  // Keeps the process alive, whatever the store does.
  setInterval(() => {}, 60_000);
  await cache.cached("k", () => {
    console.log("computing");
    return new Promise(() => {});
  }, options);
}
let computed = 0;
const load = () => cache.cached("k", () => ++computed, options);
await load();
const { version } = store.invalidations;
console.log("kept");
await until(() => store.invalidations.version > version);
console.log(await load() === 2 ? "seen" : "not seen");
