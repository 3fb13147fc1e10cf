/**
 * Measures a cache hit, compared with peers and with a floor: `Map.get` with a
 * `JSON.stringify` key.
 *
 * Run it with `deno task bench data/hits`.
 *
 * @module
 */

import { createCache } from "@quartet/kit/data";
import { compare, print } from "../compare.ts";
import {
  asyncCacheDedupe,
  bentocache,
  cacheManager,
  cachifiedLRU,
  load,
  memoized,
  TAGS,
} from "./peers.ts";
import type { Post, Query } from "./peers.ts";

const options = { maxAge: 60, tags: TAGS };

for (const keys of [100, 10_000]) {
  // In random order, as in requests.
  const queries = Array.from(
    { length: keys },
    (_, i) => ({ id: (i * 7_919) % keys, locale: "en" }),
  );
  const names = queries.map(({ id }) => `post:${id}`);
  const cache = createCache();
  const kit = cache.unstable_cache(load, ["post"], {
    tags: TAGS,
    revalidate: 60,
  });
  const floor = new Map<string, Post>();
  for (const query of queries) {
    floor.set(JSON.stringify([query]), await load(query));
  }

  /** Each candidate has its own loop, as in a program that uses it. */
  const loop = (look: (query: Query, i: number) => Promise<Post>) =>
    new Function(
      "look",
      "queries",
      `return async () => {
        let sum = 0;
        for (let i = 0; i < ${keys}; i++) sum += (await look(queries[i], i)).id;
        return sum;
      };`,
    )(look, queries);

  const own = createCache();
  const measured = await compare({
    "floor": () => {
      let sum = 0;
      for (let i = 0; i < keys; i++) {
        sum += floor.get(JSON.stringify([queries[i]]))!.id;
      }
      return sum;
    },
    "floor, awaited": loop((query) =>
      floor.get(JSON.stringify([query])) as unknown as Promise<Post>
    ),
    "unstable_cache, three tags": loop((query) => kit(query)),
    "cached by key, three tags": loop((query, i) =>
      own.cached(names[i]!, () => load(query), options)
    ),
    "p-memoize": loop((query) => memoized(query)),
    "cachified with lru-cache": loop(cachifiedLRU),
    "cache-manager": loop(cacheManager),
    "async-cache-dedupe, three references": loop(asyncCacheDedupe),
    "bentocache, three tags": loop(bentocache),
  }, { operations: keys, calls: 10_000 / keys, turns: 41 });
  print(
    `A hit among ${keys} entries, one small object as argument`,
    measured,
  );
}
// Some candidates keep timers running.
Deno.exit(0);
