/**
 * The open route, the route to compare it with, and the spans of both.
 *
 * @module
 */

import { batch, computed, effect, signal } from "@preact/signals";
import { afterPaint } from "../dom.ts";
import { spanHistory } from "../model/history.ts";
import { type Run, runsByRoute } from "../model/listing.ts";
import {
  compareRoutes,
  type SpanRow,
  spansOfRoute,
} from "../model/route_spans.ts";
import { listTab, shown } from "./listing.ts";
import { wantedTrace } from "./opened.ts";
import { readInSlices } from "./slices.ts";
import { dataState } from "./traces.ts";
import { keepInUrl } from "./url_keys.ts";

/** The key of the open route; empty for none. */
export const openRoute = signal("");

/** The key of the other route, {@linkcode EARLIER}, or empty for none. */
export const otherRoute = signal("");

/** Stands for the earlier half of the open route's runs. */
export const EARLIER = "~";

/** Whether the spans of a route are shown. */
export function isShown(): boolean {
  return openRoute.value !== "" && listTab.value === "routes" &&
    wantedTrace.value === "";
}

/** Maximum runs of each side. Their traces must be decoded. */
const MAX_RUNS = 300;

/** The runs of both sides, the newest of each. */
export const sides = computed((): { key: string; runs: Run[] }[] => {
  if (!isShown() || dataState.value.kind === "loading") return [];
  const key = openRoute.value;
  const other = otherRoute.value;
  const byRoute = runsByRoute(shown.value);
  const newest = (key: string) =>
    byRoute.get(key)
      ?.toSorted((a, b) => b.entry.startTime - a.entry.startTime);
  const runs = newest(key) ?? [];
  const half = Math.ceil(runs.length / 2);
  const both = other === EARLIER
    ? [{ key, runs: runs.slice(0, half) }, { key, runs: runs.slice(half) }]
    : [{ key, runs }, { key: other, runs: newest(other) }];
  return both.flatMap(({ key, runs }) =>
    runs === undefined ? [] : [{ key, runs: runs.slice(0, MAX_RUNS) }]
  );
});

/** The rows of the open route. */
export const spanRows = signal<readonly SpanRow[]>([]);

effect(() => {
  const wanted = sides.value
    .map(({ key, runs }) => ({ key, runs, history: spanHistory() }));
  const todo = wanted.flatMap(({ key, runs, history }) => {
    const entries = new Set(runs.map(({ entry }) => entry));
    return Array.from(entries, (entry) => ({ key, entry, history }));
  });
  return readInSlices(
    todo,
    ({ key, entry, history }) =>
      history.add({ spans: spansOfRoute(entry.load(), key) }),
    (share) => {
      const [a, b] = wanted
        .map(({ runs, history }) => ({ runs: runs.length, history }));
      if (share === 1 && a) spanRows.value = compareRoutes(a, b);
    },
    afterPaint,
  );
});

/** Opens a route, without a comparison. */
export function openRouteSpans(key: string): void {
  batch(() => {
    openRoute.value = key;
    otherRoute.value = "";
    spanRows.value = [];
  });
}

/** Opens a route, or compares the open one with it. */
export function addRoute(key: string): void {
  if (openRoute.value === "" || openRoute.value === key) openRouteSpans(key);
  else otherRoute.value = key;
}

keepInUrl({
  read: () => ({
    ...(isShown() && {
      compare: [openRoute.value, otherRoute.value].join("\n"),
    }),
  }),
  apply({ trace, view, compare }) {
    const isOpen = trace === "" && view === "routes";
    const [route = "", other = ""] = isOpen ? compare.split("\n") : [];
    openRouteSpans(route);
    otherRoute.value = other;
  },
});
