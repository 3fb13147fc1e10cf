/**
 * Invalidates 400 different long paths, tags and keys, and prints the bytes of heap
 * that each round of 50 leaves behind. Run with `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { heapGrowth } from "../leaks.ts";

const cache = createCache();
const load = cache.cacheFunction((id: string) => id.length, ["load"]);
const app = createApp({
  routes: [{
    path: "/vote/:topic",
    action: () => new Response(null, { status: 204 }),
  }],
}).use(cache.cacheResponse({ maxAge: 60 }));

let names = 0;
const growth = await heapGrowth(async () => {
  for (const end = names + 50; names < end; names++) {
    const name = `${names}`.padStart(200_000, "x");
    const url = `http://localhost/vote/${name}`;
    await app.fetch(new Request(url, { method: "POST" }));
    await cache.revalidatePath(`/user/${name}`, `/user/${name}/*`);
    await cache.revalidateTag(name);
    await load.invalidate(name);
  }
});
console.log(JSON.stringify({ names, growth }));
