/**
 * Earlier runs of the open trace's spans.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import type { SpanData } from "../../trace/types.ts";
import { routeKey } from "../model/filters.ts";
import { type SpanHistory, spanHistory, type Times } from "../model/history.ts";
import { openedTrace } from "./opened.ts";
import { selectedRow } from "./selection.ts";
import { readInSlices } from "./slices.ts";
import { entries } from "./traces.ts";

/** Maximum traces to look at. They must be decoded. */
const MAX_TRACES = 300;

/** The key and route of the open trace, once one of its spans is selected. */
const wanted = computed(() => {
  const entry = openedTrace.value?.entry;
  return entry === undefined || selectedRow.value === ""
    ? ""
    : `${entry.key}\n${routeKey(entry)}`;
});

/** The spans of other traces of the open trace's route, once they are read. */
const history = signal<SpanHistory | undefined>(undefined);

/** The trace and route of the history. */
let readFor = "";

effect(() => {
  const key = wanted.value;
  if (key === "" || key === readFor) return;
  readFor = "";
  history.value = undefined;
  const open = openedTrace.peek()!.entry;
  const route = routeKey(open);
  const others = entries.peek()
    .filter((entry) => entry.key !== open.key && routeKey(entry) === route)
    .slice(-MAX_TRACES);
  const found = spanHistory();
  return readInSlices(
    others,
    (entry) => found.add(entry.load()),
    () => {
      readFor = key;
      history.value = found;
    },
  );
});

/**
 * Returns the same spans in other traces of the open trace's route. `undefined`
 * until they are read.
 */
export function historyOf(span: SpanData): Times | undefined {
  return history.value?.sameAs(span);
}
