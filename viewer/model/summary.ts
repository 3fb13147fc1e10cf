/**
 * What the list shows of a trace. Packed files bring it along, so that a row
 * costs nothing until its trace is opened; for other traces it is computed.
 *
 * @module
 */

import type { Layer, SerializedTrace } from "../../trace/types.ts";
import type { PackedTraces, TraceIndexEntry } from "../../trace/export/pack.ts";
import { layerOrder, type LayerTime } from "./layers.ts";
import { buildTree, isFailed } from "./tree.ts";

/** A trace in the list. */
export interface TraceEntry {
  /** The root span's id: several records may share a trace id. */
  readonly key: string;
  /** The trace id. */
  readonly id: string;
  /** The name of the root span. */
  readonly name: string;
  /** The HTTP method; empty if it wasn't a request. */
  readonly method: string;
  /** The path, or the name of the root span. */
  readonly path: string;
  /** The pattern of the matched route; empty if none matched. */
  readonly route: string;
  /** The HTTP status; 0 if there was none. */
  readonly statusCode: number;
  /** When the root span began, in epoch milliseconds. */
  readonly startTime: number;
  /** How long the root span took, in milliseconds. */
  readonly duration: number;
  /** How many spans were recorded. */
  readonly spanCount: number;
  /** How many of them failed. */
  readonly errorCount: number;
  /** Self time per layer, in the order of the layers. */
  readonly layers: readonly LayerTime[];
  /** Whether the request is still running. */
  readonly pending: boolean;
  /** Gives the whole record. */
  load(): SerializedTrace;
}

/** Whether a trace counts as failed: a failed span, or a 5xx answer. */
export function isFailedTrace(entry: TraceEntry): boolean {
  return entry.errorCount > 0 || entry.statusCode >= 500;
}

/** Makes the list's entry of a trace. */
export function summarize(trace: SerializedTrace): TraceEntry {
  const { metadata } = trace;
  const tree = buildTree(trace);
  const times = new Map<Layer, number>();
  let errorCount = 0;
  for (const node of tree.nodes) {
    const { layer } = node.span;
    times.set(layer, (times.get(layer) ?? 0) + node.selfTime);
    if (isFailed(node.span)) errorCount++;
  }
  const root = tree.byId.get(trace.rootSpanId) ?? tree.nodes[0];
  const name = root?.span.name ?? "";
  return {
    key: trace.rootSpanId,
    id: trace.id,
    name,
    method: metadata.method ?? "",
    path: metadata.pathname ?? name,
    route: metadata.routePattern ?? "",
    statusCode: metadata.statusCode ?? 0,
    startTime: trace.startTime,
    duration: trace.duration,
    spanCount: trace.spans.length,
    errorCount,
    layers: [...times].sort(byLayer),
    pending: false,
    load: () => trace,
  };
}

/** Makes the list's entries of a packed file without decoding its traces. */
export function summarizePacked(packed: PackedTraces): TraceEntry[] {
  return packed.index.map((entry, i) => packedEntry(packed, entry, i));
}

function byLayer(a: LayerTime, b: LayerTime): number {
  return layerOrder(a[0]) - layerOrder(b[0]);
}

function packedEntry(
  packed: PackedTraces,
  entry: TraceIndexEntry,
  i: number,
): TraceEntry {
  return {
    key: entry.rootSpanId,
    id: entry.id,
    name: entry.name,
    method: entry.method ?? "",
    path: entry.pathname ?? entry.name,
    route: entry.routePattern ?? "",
    statusCode: entry.statusCode ?? 0,
    startTime: entry.startTime,
    duration: entry.duration,
    spanCount: entry.spanCount,
    errorCount: entry.errorCount,
    layers: entry.layers.toSorted(byLayer),
    pending: false,
    load: () => packed.trace(i),
  };
}
