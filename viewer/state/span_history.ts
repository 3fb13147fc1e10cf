/**
 * Earlier runs of the open trace's spans.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import type { SpanData } from "../../trace/types.ts";
import { afterPaint } from "../dom.ts";
import { routeKey } from "../model/filters.ts";
import { type SpanHistory, spanHistory, type Times } from "../model/history.ts";
import type { TraceTree } from "../model/tree.ts";
import { comparedTrace, openedTrace } from "./opened.ts";
import { selectedRow } from "./selection.ts";
import { readInSlices } from "./slices.ts";
import { entries } from "./traces.ts";

/** Maximum traces to look at. They must be decoded. */
const MAX_TRACES = 300;

/**
 * The key and route of the open trace, and the key of the compared one, once a
 * span is selected.
 */
const wanted = computed(() => {
  const entry = openedTrace.value?.entry;
  const compared = comparedTrace.value?.entry.key ?? "";
  return entry === undefined || selectedRow.value === ""
    ? ""
    : `${entry.key}\n${routeKey(entry)}\n${compared}`;
});

/** The spans of other traces of the open trace's route, once they are read. */
const known = signal<{ key: string; history: SpanHistory } | undefined>(
  undefined,
);

effect(() => {
  const key = wanted.value;
  if (key === "" || key === known.peek()?.key) return;
  known.value = undefined;
  const open = openedTrace.peek()!.entry;
  const route = routeKey(open);
  const compared = comparedTrace.peek()?.entry.key;
  const others = entries.peek()
    .filter(({ key }) => key !== open.key && key !== compared)
    .filter((entry) => routeKey(entry) === route)
    .slice(-MAX_TRACES);
  const history = spanHistory();
  return readInSlices(
    others,
    (entry) => history.add(entry.load()),
    (share) => {
      if (share === 1) known.value = { key, history };
    },
    afterPaint,
  );
});

/**
 * Returns the same spans in other traces of the open trace's route. `undefined`
 * until they are read, and for a span of another route.
 *
 * @param tree The tree of the span: of the open trace, or of the compared one.
 */
export function historyOf(span: SpanData, tree: TraceTree): Times | undefined {
  const open = openedTrace.value;
  const compared = comparedTrace.value;
  const isOther = open && compared && tree === compared.tree &&
    routeKey(compared.entry) !== routeKey(open.entry);
  return isOther ? undefined : known.value?.history.sameAs(span);
}
