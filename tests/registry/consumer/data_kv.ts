import { createCache } from "@quartet/kit/data";
import { createKvStore } from "@quartet/kit/data/kv";
import { deepEqual, equal } from "node:assert/strict";

using kv = await Deno.openKv(":memory:");
const cache = createCache({ store: createKvStore({ kv, name: "consumer" }) });
const load = () =>
  cache.cached("capitals", () => new Set(["Rome"]), { maxAge: 60 });
deepEqual(await load(), new Set(["Rome"]));
deepEqual(await load(), new Set(["Rome"]));
equal(cache.stats().misses, 1);
await cache.close();

console.log("@quartet/kit/data/kv works");
