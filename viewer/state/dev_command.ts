/**
 * The runs, findings and caches that the server's dev command knows.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import type { CacheListing } from "../../trace/export/cache_listing.ts";
import { type Found, readFound } from "../model/found.ts";
import type { DevRun } from "../model/runs.ts";
import { listTab } from "./listing.ts";
import { addedPaths, askServer } from "./live.ts";
import { wantedTrace } from "./opened.ts";
import { entries, held } from "./traces.ts";
import { hashOfSpan } from "./url_keys.ts";

/** Paths below the viewer's. */
const CACHE = "/cache";
const FINDINGS = "/findings";
const RUNS = "/runs";

/** Whether the server lists its caches. */
export const hasCache = computed(() => addedPaths.value.includes(CACHE));

/** Whether the server looks for causes. */
export const isLooking = computed(() => addedPaths.value.includes(FINDINGS));

/**
 * The runs of the dev command, the present one first. Without an earlier one,
 * there are none.
 */
export const runs = signal<readonly DevRun[]>([]);

/** The keys and tags of the caches, as last read. */
export const cacheListing = signal<CacheListing | undefined>(undefined);

/** All findings, the newest first. */
export const found = signal<readonly Found[]>([]);

/** The findings of a trace, as last read. */
const inTrace = signal({ id: "", list: found.value });

/** The findings of the open trace. */
export const foundInTrace = computed(() =>
  inTrace.value.id === wantedTrace.value ? inTrace.value.list : []
);

/** Reads the keys and tags of the caches. */
export async function readCache(): Promise<void> {
  const answer = await askServer(CACHE);
  if (answer !== undefined) cacheListing.value = answer as CacheListing;
}

async function readTrace(id: string): Promise<void> {
  const answer = await askServer(
    `${FINDINGS}?traceId=${encodeURIComponent(id)}`,
  );
  if (wantedTrace.peek() === id) {
    inTrace.value = { id, list: readFound(answer) };
  }
}

/** Opens the trace of a finding at its first span. */
export function openFound({ traceId, spanIds }: Found): void {
  // A rejection outside of a request has no trace.
  if (traceId === "") return;
  location.hash = hashOfSpan({ traceId, spanId: spanIds[0] ?? "" });
}

/** The time that the server needs to look at a trace, in milliseconds. */
const REST = 600;

/**
 * Reads a list when the page has connected, and after traces have arrived.
 *
 * @param path The path below the viewer's.
 * @param show Called with each list.
 */
function follow(path: string, show: (answer: unknown) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStale = false;

  function update(): void {
    isStale = timer !== undefined;
    timer ??= setTimeout(async () => {
      const answer = await askServer(path);
      timer = undefined;
      if (answer !== undefined) show(answer);
      if (isStale) update();
    }, REST);
  }

  effect(() => {
    entries.value;
    held.value;
    if (addedPaths.value.includes(path)) update();
  });
}

follow(RUNS, (answer) => {
  const { runs: list = [] } = answer as { runs?: readonly DevRun[] };
  runs.value = list.length > 1 ? list : [];
});

follow(FINDINGS, (answer) => {
  found.value = readFound(answer);
});

effect(() => {
  const id = wantedTrace.value;
  if (found.value.length > 0 && id !== "") readTrace(id);
});

effect(() => {
  if (hasCache.value && listTab.value === "cache") readCache();
});
