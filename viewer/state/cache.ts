/**
 * The keys and tags of the server's caches, as the dev command knows them.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import type { CacheListing } from "../../trace/export/cache_listing.ts";
import { listTab } from "./listing.ts";
import { addedPaths, askServer } from "./live.ts";

const PATH = "/cache";

/** Whether the server lists its caches. */
export const hasCache = computed(() => addedPaths.value.includes(PATH));

/** The list, as last read. */
export const cacheListing = signal<CacheListing | undefined>(undefined);

/** Reads the list. */
export async function readCache(): Promise<void> {
  const answer = await askServer(PATH);
  if (answer !== undefined) cacheListing.value = answer as CacheListing;
}

effect(() => {
  if (hasCache.value && listTab.value === "cache") readCache();
});
