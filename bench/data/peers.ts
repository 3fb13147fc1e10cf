/**
 * The peers of the cache, each set up as in its documentation, with 10,000
 * entries in memory and no second level.
 *
 * @module
 */

import { cachified } from "@epic-web/cachified";
import type { CacheEntry } from "@epic-web/cachified";
import { createCache as createDedupe } from "async-cache-dedupe";
import { BentoCache, bentostore } from "bentocache";
import { memoryDriver } from "bentocache/drivers/memory";
import { createCache as createManager } from "cache-manager";
import { LRUCache } from "lru-cache";
import pMemoize from "p-memoize";

/** The argument of a look-up. */
export interface Query {
  readonly id: number;
  readonly locale: string;
}

/** The result of a look-up. */
export interface Post {
  readonly id: number;
  readonly title: string;
}

/** The computation of every candidate. */
export function load({ id }: Query): Promise<Post> {
  return Promise.resolve({ id, title: `Post ${id}` });
}

/** The tags of every entry. */
export const TAGS: readonly string[] = ["post", "list", "user:7:post"];

const MINUTE = 60_000;

const bento = new BentoCache({
  default: "memory",
  stores: {
    memory: bentostore().useL1Layer(memoryDriver({ maxItems: 10_000 })),
  },
});

/** bentocache, with three tags. */
export function bentocache(query: Query): Promise<Post> {
  return bento.getOrSet({
    key: JSON.stringify(query),
    factory: () => load(query),
    ttl: MINUTE,
    tags: [...TAGS],
  });
}

const lru = new LRUCache<string, CacheEntry<Post>>({ max: 10_000 });

/** cachified with lru-cache. It has no tags. */
export function cachifiedLRU(query: Query): Promise<Post> {
  return cachified({
    key: JSON.stringify(query),
    cache: lru,
    getFreshValue: () => load(query),
    ttl: MINUTE,
  });
}

const manager = createManager({ ttl: MINUTE });

/** cache-manager. It has no tags. */
export function cacheManager(query: Query): Promise<Post> {
  return manager.wrap(JSON.stringify(query), () => load(query));
}

const dedupe = createDedupe({
  ttl: 60,
  storage: { type: "memory", options: { size: 10_000 } },
}).define("post", { references: () => [...TAGS] }, load);

/** async-cache-dedupe, with three references. */
export function asyncCacheDedupe(query: Query): Promise<Post> {
  return dedupe.post(query);
}

/** p-memoize. It has no tags, no lifetime and no limit. */
export const memoized: (query: Query) => Promise<Post> = pMemoize(load, {
  cacheKey: JSON.stringify,
});
