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
import type { Layer, SerializedTrace } from "../../trace/types.ts";

/** A layer and its self time, in milliseconds. */
export type LayerTime = readonly [layer: Layer, selfTime: number];

/** A trace in the list. */
export interface TraceEntry {
  /** The root span's id: several records may share a trace id. */
  readonly key: string;
  /** The trace id. */
  readonly id: string;
  /** The HTTP method; empty if it wasn't a request. */
  readonly method: string;
  /** The path, or the name of the root span. */
  readonly path: string;
  /** The pattern of the matched route; empty if none matched. */
  readonly route: string;
  /** The HTTP status. 0 if there was none. */
  readonly statusCode: number;
  /** The start of the root span, in epoch milliseconds. */
  readonly startTime: number;
  /** The duration of the root span, in milliseconds. */
  readonly duration: number;
  /** The number of spans. */
  readonly spanCount: number;
  /** The number of failed spans. */
  readonly errorCount: number;
  /** Self time of each layer, the longest first. */
  readonly layers: readonly LayerTime[];
  /** Whether the request is still running. */
  readonly pending: boolean;
  /** Returns the whole record. */
  load(): SerializedTrace;
}

/** Whether a trace counts as failed: a failed span, or a 5xx answer. */
export function isFailedTrace(entry: TraceEntry): boolean {
  return entry.errorCount > 0 || entry.statusCode >= 500;
}

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

function entryOf(
  index: TraceIndexEntry,
  load: () => SerializedTrace,
): TraceEntry {
  const { id, name, startTime, duration, spanCount, errorCount } = index;
  const { pathname = name, routePattern: route = "" } = index;
  return {
    key: index.rootSpanId,
    id,
    method: index.method ?? "",
    // All calls have one path; the route names the procedure.
    path: route.startsWith(`${pathname}/`) ? route : pathname,
    route,
    statusCode: index.statusCode ?? 0,
    startTime,
    duration,
    spanCount,
    errorCount,
    layers: index.layers,
    pending: false,
    load,
  };
}
