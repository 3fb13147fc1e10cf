// The entry of the demo. `deno task dev --trace` starts it.

import { createAtlas } from "./atlas.ts";
import { keptSecret } from "./secret.ts";

const folder = import.meta.dirname;
const redis = Deno.env.get("ATLAS_REDIS");

export default createAtlas({
  database: Deno.env.get("ATLAS_DATABASE") ?? `${folder}/atlas.db`,
  sessionSecret: Deno.env.get("ATLAS_SECRET") ??
    keptSecret(`${folder}/atlas.secret`),
  revalidateSecret: Deno.env.get("ATLAS_REVALIDATE_SECRET"),
  // Loads the Redis client only if several processes share Redis.
  stores: redis === undefined
    ? undefined
    : (await import("./redis.ts")).openStores(redis),
});
