// The demo: `deno task dev --trace` starts it.

import { createAtlas } from "./atlas.ts";
import { keptSecret } from "./secret.ts";

const folder = import.meta.dirname;

export default createAtlas({
  database: `${folder}/atlas.db`,
  sessionSecret: Deno.env.get("ATLAS_SECRET") ??
    keptSecret(`${folder}/atlas.secret`),
  revalidateSecret: Deno.env.get("ATLAS_REVALIDATE_SECRET"),
});
