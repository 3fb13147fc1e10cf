// The demo: `deno task dev --trace` starts it.

import { createAtlas } from "./atlas.ts";

export default createAtlas({
  database: `${import.meta.dirname}/atlas.db`,
  revalidateSecret: Deno.env.get("ATLAS_REVALIDATE_SECRET"),
});
