/**
 * Caches 400 values in requests with long addresses, and prints the bytes of heap
 * that each round of 50 leaves behind. Run with `--v8-flags=--expose-gc`, and with
 * the part of the address that is long: `path` or `query`.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { heapGrowth } from "../leaks.ts";

const long = "x".repeat(200_000);
const end = Deno.args[0] === "path" ? `/${long}` : `?${long}`;
const cache = createCache({ maxBytes: 4_000_000 });
const app = createApp().use(async ({ headers }) => {
  const key = headers.get("x-key")!;
  await cache.cached(key, () => key, { maxAge: 60 });
  return new Response();
});

let requests = 0;
const growth = await heapGrowth(async () => {
  for (const last = requests + 50; requests < last; requests++) {
    const url = `http://localhost/a-path-of-some-length-${requests}${end}`;
    const headers = { "x-key": `key ${requests}` };
    await app.fetch(new Request(url, { headers }));
  }
});
console.log(JSON.stringify({ requests, growth }));
