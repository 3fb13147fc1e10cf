/**
 * The layers and statuses of spans.
 *
 * Packed traces number them by their place here, so append only: another order
 * is another file format.
 *
 * @module
 */

import type { Layer, SpanStatus } from "./types.ts";

/** All layers, in the order in which a request meets them. */
export const LAYERS: readonly Layer[] = [
  "request",
  "routing",
  "data",
  "forms",
  "signals",
  "rpc",
  "database",
  "auth",
  "islands",
  "build",
  "errors",
  "custom",
];

/** All statuses of a span. */
export const STATUSES: readonly SpanStatus[] = ["ok", "error", "timeout"];

/** Whether `value` names a layer. */
export function isLayer(value: unknown): value is Layer {
  return (LAYERS as readonly unknown[]).includes(value);
}
