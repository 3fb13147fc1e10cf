/**
 * The filters, search and order of the list.
 *
 * @module
 */

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import {
  countFilters,
  createFilter,
  type Filters,
  NO_FILTERS,
} from "../model/filters.ts";
import {
  keepPlaces,
  LIST_COLUMNS,
  MOST_FIRST,
  NEWEST_FIRST,
  ROUTE_COLUMNS,
  routeStats,
  sortEntries,
  sortRoutes,
} from "../model/listing.ts";
import { createSearch, normalizeQuery } from "../model/search.ts";
import type { TraceEntry } from "../model/summary.ts";
import {
  formatFilters,
  formatOrder,
  parseFilters,
  parseOrder,
} from "../model/url_state.ts";
import {
  additions,
  dataState,
  entries,
  hasEntry,
  held,
  holding,
  keyOf,
  pending,
} from "./traces.ts";
import { readInSlices } from "./slices.ts";
import { keepInUrl } from "./url_keys.ts";

/** The tabs of the list. The last two need a dev command. */
export const LIST_TABS = ["traces", "routes", "findings", "cache"] as const;

/** A tab of the list. */
export type ListTab = typeof LIST_TABS[number];

/** The open tab of the list. */
export const listTab = signal<ListTab>("traces");

/** The filters. */
export const filters = signal<Filters>(NO_FILTERS);

/** The text in the search box. */
export const queryText = signal("");

/** The normalized text of the search; empty for none. */
export const query = computed(() => normalizeQuery(queryText.value));

/** The order of the list. */
export const listOrder = signal(NEWEST_FIRST);

/** The order of the table of routes. */
export const routeOrder = signal(MOST_FIRST);

keepInUrl({
  read: () => ({
    ...formatFilters(filters.value),
    q: queryText.value,
    sort: listTab.value === "routes"
      ? formatOrder(routeOrder.value, MOST_FIRST)
      : formatOrder(listOrder.value, NEWEST_FIRST),
  }),
  apply(state) {
    filters.value = parseFilters(state);
    queryText.value = state.q;
    if (state.view === "routes") {
      routeOrder.value = parseOrder(state.sort, ROUTE_COLUMNS, MOST_FIRST);
    } else listOrder.value = parseOrder(state.sort, LIST_COLUMNS, NEWEST_FIRST);
  },
});

const search = createSearch();

/** Counts the traces that are prepared for the search. */
const searchTick = signal(0);

/** The share of prepared traces, from 0 to 1. */
export const searchProgress = signal(1);

const sorted = computed(() => sortEntries(entries.value, listOrder.value));

const filtered = computed(() => {
  if (countFilters(filters.value) === 0) return sorted.value;
  const accepts = createFilter(filters.value);
  return sorted.value.filter(accepts);
});

/** The traces to list, without running requests. */
export const shown = computed(() => {
  const wanted = query.value;
  if (wanted === "") return filtered.value;
  searchTick.value;
  return filtered.value.filter((entry) => search.matches(entry, wanted));
});

/** The keys as text: an equal one draws no row again. */
const runningText = computed(() =>
  pending.value.filter(({ id }) => hasEntry(id)).map(({ id }) => keyOf(id))
    .join(" ")
);

/** The keys of listed traces with a running request. */
export const runningKeys = computed(() =>
  new Set(runningText.value.split(" "))
);

/** Running requests first, then the traces. */
const current = computed(() => {
  const { column, descending } = listOrder.value;
  if (pending.value.length === 0 || query.value !== "") return shown.value;
  if (column !== "startTime" || !descending) return shown.value;
  const accepts = createFilter(filters.value);
  // A trace that is listed has its running requests in its row.
  const running = new Map(
    pending.value.filter((entry) => !hasEntry(entry.id) && accepts(entry))
      .map((entry) => [entry.key, entry]),
  );
  return running.size === 0
    ? shown.value
    : [...[...running.values()].reverse(), ...shown.value];
});

/** The rows of the list, and what the user asked for when they were placed. */
let placed = { rows: [] as readonly TraceEntry[], asked: [] as unknown[] };

/** The rows of the list. While somebody reads it, they keep their places. */
export const listed = computed(() => {
  const asked = [
    filters.value,
    query.value,
    listOrder.value,
    searchProgress.value,
    additions.value,
  ];
  const isAsked = asked.some((value, i) => value !== placed.asked[i]);
  const rows = holding.value && !isAsked
    ? keepPlaces(placed.rows, current.value, keyOf)
    : current.value;
  placed = { rows, asked };
  return rows;
});

/** A text about the traces that wait, such as `12 new`; empty for none. */
export const newText = computed(() => {
  const count = held.value.length + current.value.length - listed.value.length;
  return count === 0 ? "" : `${count} new`;
});

/** The rows of the table of routes. */
export const routes = computed(() =>
  sortRoutes(routeStats(shown.value), routeOrder.value)
);

/** Changes some of the filters. */
export function setFilters(change: Partial<Filters>): void {
  filters.value = { ...filters.value, ...change };
}

/** Shows all traces again. */
export function clearFilters(): void {
  filters.value = NO_FILTERS;
  queryText.value = "";
}

/** The interval of updates during preparation, in milliseconds. */
const SHOW_EVERY = 120;

let stopPreparing = () => {};

/** Prepares all traces for the search. Prepared ones cost nothing. */
export function prepareSearch(): void {
  if (dataState.value.kind === "loading") return;
  stopPreparing();
  let shownAt = performance.now();
  const show = (share: number) => {
    // Progress lets the rows move, even below the pointer. A few new traces
    // are done at once and don't.
    const isFirst = searchProgress.value === 1;
    const time = performance.now();
    if (share < 1 && !isFirst && time - shownAt <= SHOW_EVERY) return;
    shownAt = time;
    batch(() => {
      searchProgress.value = share;
      searchTick.value++;
    });
  };
  const startNow = (slice: () => void) => slice();
  stopPreparing = readInSlices(entries.value, search.add, show, startNow);
}

// A search includes new traces.
effect(() => {
  entries.value;
  dataState.value;
  if (query.value !== "") untracked(prepareSearch);
});
