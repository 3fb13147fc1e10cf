/**
 * Lists what the dev command knows of the caches, without secrets and values.
 *
 * @module
 */

import type {
  CacheListing,
  ListedKey,
  ListedTag,
} from "../../trace/export/cache_listing.ts";
import { parseLink } from "../../trace/export/semantics.ts";
import { ageText } from "../texts.ts";
import type { CacheNotes, KeyNote } from "./cache_notes.ts";
import { shownName } from "./shown.ts";

/** Maximum keys in a list, the ones that are asked for most. */
const MAX_KEYS = 500;

/** Maximum tags in a list, the ones with the most keys. */
const MAX_TAGS = 200;

/** Lists the keys and tags of caches. */
export function listCaches(caches: readonly CacheNotes[]): CacheListing {
  const keys = caches.flatMap(keysOf).sort((a, b) => usesOf(b) - usesOf(a));
  const tags = caches.flatMap(tagsOf).sort((a, b) => b.keys - a.keys);
  return {
    keys: keys.slice(0, MAX_KEYS),
    tags: tags.slice(0, MAX_TAGS),
    more: Math.max(0, keys.length - MAX_KEYS),
  };
}

function usesOf({ hits, stale, misses }: ListedKey): number {
  return hits + stale + misses;
}

function keysOf(notes: CacheNotes): ListedKey[] {
  const dependants = new Map<string, string[]>();
  for (const { shown, record } of notes.keys.values()) {
    for (const part of record?.keys ?? []) {
      const known = dependants.get(part) ?? [];
      known.push(shown);
      dependants.set(part, known);
    }
  }
  return Array.from(notes.keys.values(), (note) => {
    const { key, shown, record, hits, stale, misses, reason } = note;
    const state = stateOf(notes, note);
    const bytes = state.startsWith("fresh") ? record?.bytes : undefined;
    return {
      key: shown,
      tags: record?.tags.map(shownName) ?? [],
      ...{ state, hits, stale, misses, reason },
      ...(bytes === undefined ? {} : { bytes }),
      dependants: dependants.get(record?.scopeKey ?? key) ?? [],
    };
  });
}

function stateOf({ cache }: CacheNotes, { key, record, obstacle }: KeyNote) {
  const { store, now } = cache;
  if (obstacle !== undefined || record === undefined) return "not stored";
  if (!store.invalidations.isValid(record)) return "invalidated";
  const left = record.freshUntil - now();
  if (left <= 0) return "expired";
  // Asking for a record counts as a use, so this only asks if necessary.
  const isGone = store.evictions > record.evictions &&
    store.peek(key) === undefined;
  if (isGone) return "evicted";
  return left === Infinity ? "fresh" : `fresh for ${ageText(left)}`;
}

function tagsOf(notes: CacheNotes): ListedTag[] {
  const tags = [...notes.keys.values()]
    .flatMap(({ record }) => record?.tags ?? []);
  const groups = Map.groupBy(tags, (tag) => tag);
  return Array.from(groups, ([tag, { length: keys }]) => {
    const found = notes.invalidations.peek(`tag ${tag}`);
    const cause = parseLink(found?.origin?.traceparent);
    return {
      tag: shownName(tag),
      keys,
      ...(found === undefined ? {} : {
        invalidated: `${ageText(notes.cache.now() - found.time)} ago` +
          (found.origin === undefined ? "" : ` by ${found.origin.name}`),
      }),
      ...(cause === undefined ? {} : { cause }),
    };
  });
}
