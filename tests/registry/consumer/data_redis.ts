import { createCache } from "@quartet/kit/data";
import { createRedisStore } from "@quartet/kit/data/redis";
import { equal } from "node:assert/strict";
import { createClient } from "redis";

const [url] = Deno.args;
const client = createClient(url === undefined ? {} : { url });
const store = createRedisStore({ client, name: "consumer" });
equal(store.entries, 0);
if (url !== undefined) {
  const cache = createCache({ store });
  equal(await cache.cached("answer", () => 42, { maxAge: 60 }), 42);
  await cache.close();
}

console.log("@quartet/kit/data/redis works");
