/**
 * The rows of the open trace, and the spans that stand out among them.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import type { SpanData } from "../../trace/types.ts";
import { type ComparedRow, compareTrees } from "../model/compare.ts";
import { failedSpans } from "../model/errors.ts";
import { byColumn, type Order } from "../model/listing.ts";
import { listRows, type Row } from "../model/rows.ts";
import { spanMatches } from "../model/search.ts";
import { countIn, rowsIn } from "../model/visible.ts";
import { vitalsOf } from "../model/vitals.ts";
import { listWork, longestRepeats, type WorkColumn } from "../model/work.ts";
import { query } from "./listing.ts";
import * as opened from "./opened.ts";
import { range, zoom } from "./zoom.ts";

/** All rows of the waterfall, without regard to the time range. */
const allRows = computed<readonly Row[]>(() =>
  opened.tree.value === undefined ? [] : listRows(opened.tree.value, {
    collapsed: opened.collapsed.value,
    expandedGroups: opened.expandedGroups.value,
    hiddenLayers: opened.hiddenLayers.value,
    grouped: opened.grouped.value,
  })
);

/** The rows of the waterfall. */
export const rows = computed(() =>
  zoom.value === undefined ? allRows.value : rowsIn(allRows.value, range.value)
);

/** The number of spans in the zoomed range. `undefined` without a zoom. */
export const spansInRange = computed(() => {
  const tree = opened.tree.value;
  return tree === undefined || zoom.value === undefined
    ? undefined
    : countIn(tree, range.value);
});

/** The comparison; `undefined` if none is open. */
export const comparison = computed(() => {
  const a = opened.tree.value;
  const b = opened.comparedTrace.value?.tree;
  if (a === undefined || b === undefined) return undefined;
  const rows = compareTrees(a, b, {
    grouped: opened.grouped.value,
    expandedGroups: opened.expandedGroups.value,
  });
  return { a, b, rows };
});

/** The rows that the keyboard moves through. */
export const shownRows = computed<readonly (Row | ComparedRow)[]>(() =>
  comparison.value?.rows ?? rows.value
);

/** The web vitals of the open trace. */
export const vitals = computed(() =>
  opened.tree.value === undefined
    ? { vitals: [], marks: [] }
    : vitalsOf(opened.tree.value)
);

/** The order of the table of repeated work. */
export const workOrder = signal<Order<WorkColumn>>({
  column: "total",
  descending: true,
});

/** The work of the open trace, the longest total first. */
const work = computed(() =>
  opened.tree.value === undefined ? [] : listWork(opened.tree.value)
);

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
export const matches = computed(() => {
  const picked = highlightedWork.value;
  if (picked !== undefined) {
    return picked.nodes.map(({ index }) => index).sort((a, b) => a - b);
  }
  return query.value === ""
    ? []
    : indicesOf((span) => spanMatches(span, query.value));
});

/** Indices of the spans that failed, those that threw first. */
export const failures = computed(() =>
  opened.tree.value === undefined ? [] : failedSpans(opened.tree.value)
);

function indicesOf(test: (span: SpanData) => boolean): number[] {
  const nodes = opened.tree.value?.nodes ?? [];
  return nodes.filter(({ span }) => test(span)).map(({ index }) => index);
}
