/**
 * The entries of the list. Packed files contain them, so that only opened
 * traces are decoded. For other traces they are computed.
 *
 * @module
 */

import type { PackedTraces } from "../../trace/export/pack.ts";
import {
  indexTrace,
  type TraceIndexEntry,
} from "../../trace/export/trace_index.ts";
import { pathWithProcedure } from "../../trace/export/trace_facts.ts";
import type { Layer, SerializedTrace } from "../../trace/types.ts";

/** A layer and its self time, in milliseconds. */
export type LayerTime = readonly [layer: Layer, selfTime: number];

/** A trace in the list. */
export type TraceEntry = Readonly<ReturnType<typeof entryOf>>;

/**
 * Whether a trace counts as failed: a failed span, or a 5xx answer. The list,
 * the header and the filter share this rule.
 */
export function isFailedTrace(entry: TraceEntry): boolean {
  return entry.errorCount > 0 || entry.statusCode >= 500;
}

/** Whether a user's action in a browser caused the trace. */
export function isAction({ kind }: TraceEntry): boolean {
  return kinds.has(kind);
}

/** The kinds of traces with a user's action. */
const ACTION_KINDS: ReadonlyMap<string, string> = new Map([
  ["load", "page load"],
  ["navigation", "navigation"],
  ["click", "click"],
  ["submit", "submit"],
  ["key", "key"],
]);

const kinds = new Set(ACTION_KINDS.values());

/**
 * All layers, the outermost first. Each has a colour `--layer-<name>` in
 * `styles.css`.
 */
export const LAYER_ORDER: readonly Layer[] = [
  "request",
  "routing",
  "auth",
  "data",
  "database",
  "rpc",
  "forms",
  "signals",
  "islands",
  "build",
  "custom",
  "errors",
];

/** Returns times in the order of {@linkcode LAYER_ORDER}. */
export function inLayerOrder(times: readonly LayerTime[]): LayerTime[] {
  const place = ([layer]: LayerTime) => LAYER_ORDER.indexOf(layer);
  return times.toSorted((a, b) => place(a) - place(b));
}

/** Returns the list's entry of a trace. */
export function summarize(trace: SerializedTrace): TraceEntry {
  return entryOf(indexTrace(trace), () => trace);
}

/** Returns the list's entries of a packed file without decoding its traces. */
export function summarizePacked(packed: PackedTraces): TraceEntry[] {
  return packed.index.map((entry, i) => entryOf(entry, () => packed.trace(i)));
}

function entryOf(index: TraceIndexEntry, load: () => SerializedTrace) {
  const { id, rootSpanId, name, startTime, duration } = index;
  const { pathname = name, routePattern: route = "", method = "" } = index;
  return {
    /** The trace id, which is unique in the list. */
    key: id,
    /** The trace id. */
    id,
    /** The ids of other traces that belong to it. */
    linkedIds: index.linkedIds ?? [],
    /** The root span's id. */
    rootSpanId,
    /**
     * The kind: the method of a request, `job`, `page load`, `navigation`, or
     * the interaction: `click`, `submit` or `key`.
     */
    kind: ACTION_KINDS.get(index.action ?? "") ?? (method || "job"),
    /** The name of the root span. */
    name,
    /** The HTTP method; empty if it wasn't a request. */
    method,
    /** The path, or the name of the root span. */
    path: pathWithProcedure(pathname, route),
    /** The pattern of the matched route; empty if none matched. */
    route,
    /** The HTTP status. 0 if there was none. */
    statusCode: index.statusCode ?? 0,
    /** The start, in epoch milliseconds. */
    startTime,
    /** The total duration, in milliseconds. */
    duration,
    /** The number of spans. */
    spanCount: index.spanCount,
    /** The number of failed spans. */
    errorCount: index.errorCount,
    /** Self time of each layer, the longest first. */
    layers: index.layers,
    /** The requests. Empty if the root span is the only one. */
    requests: index.requests ?? [],
    /** How often the most frequent query ran; 0 if that isn't remarkable. */
    repeats: index.repeats ?? 0,
    /** Whether a part of it is still running. */
    running: (index.running ?? 0) > 0,
    /** Whether all that is known is that it has started. */
    pending: false as boolean,
    /** Returns the whole record. */
    load,
  };
}
