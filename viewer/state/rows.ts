/**
 * The rows of the open trace, and the spans that stand out among them.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import { type ComparedRow, compareTrees } from "../model/compare.ts";
import { failedSpans } from "../model/errors.ts";
import { byColumn, type Order } from "../model/listing.ts";
import { countIn, listRows, type Row, rowsIn } from "../model/rows.ts";
import { spanMatches } from "../model/search.ts";
import type { TraceTree } from "../model/tree.ts";
import { vitalsOf } from "../model/vitals.ts";
import { listWork, longestRepeats, type WorkColumn } from "../model/work.ts";
import { query } from "./listing.ts";
import * as opened from "./opened.ts";
import { range, zoom } from "./zoom.ts";

/** Returns a result for the open trace, or `none` without one. */
function ofTree<Result>(compute: (tree: TraceTree) => Result, none: Result) {
  return computed(() =>
    opened.tree.value === undefined ? none : compute(opened.tree.value)
  );
}

/** All rows of the waterfall, without regard to the time range. */
const allRows = ofTree((tree): readonly Row[] =>
  listRows(tree, {
    collapsed: opened.collapsed.value,
    expandedGroups: opened.expandedGroups.value,
    hiddenLayers: opened.hiddenLayers.value,
    grouped: opened.grouped.value,
  }), []);

/** The rows of the waterfall. */
export const rows = computed(() =>
  zoom.value === undefined ? allRows.value : rowsIn(allRows.value, range.value)
);

/** The number of spans in the zoomed range. `undefined` without a zoom. */
export const spansInRange = ofTree(
  (tree) => zoom.value === undefined ? undefined : countIn(tree, range.value),
  undefined,
);

/** The comparison; `undefined` if none is open. */
export const comparison = ofTree((a) => {
  const b = opened.comparedTrace.value?.tree;
  if (b === undefined) return undefined;
  const rows = compareTrees(a, b, {
    grouped: opened.grouped.value,
    expandedGroups: opened.expandedGroups.value,
  });
  return { a, b, rows };
}, undefined);

/** The rows that the keyboard moves through. */
export const shownRows = computed<readonly (Row | ComparedRow)[]>(() =>
  comparison.value?.rows ?? rows.value
);

/** The web vitals of the open trace. */
export const vitals = ofTree(vitalsOf, { vitals: [], marks: [] });

/** The order of the table of repeated work. */
export const workOrder = signal<Order<WorkColumn>>({
  column: "total",
  descending: true,
});

/** The work of the open trace, the longest total first. */
const work = ofTree(listWork, []);

/** The rows of the table of repeated work. Equal ones keep their order. */
export const sortedWork = computed(() =>
  work.value.toSorted(byColumn(workOrder.value))
);

/** The repeated work of the open trace that the header points at. */
export const repeated = computed(() => longestRepeats(work.value));

/** The id of the work whose spans are highlighted; empty for none. */
export const highlighted = signal("");

/** The work whose spans are highlighted. */
export const highlightedWork = computed(() =>
  highlighted.value === ""
    ? undefined
    : work.value.find(({ id }) => id === highlighted.value)
);

/** Indices of the spans that are highlighted, or that match the search. */
export const matches = ofTree(({ nodes }) => {
  const picked = highlightedWork.value?.nodes ??
    (query.value === ""
      ? []
      : nodes.filter(({ span }) => spanMatches(span, query.value)));
  return picked.map(({ index }) => index).sort((a, b) => a - b);
}, []);

/** Indices of the spans that failed, those that threw first. */
export const failures = ofTree(failedSpans, []);
