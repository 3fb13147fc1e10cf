/**
 * The layers and statuses of spans.
 *
 * Packed traces store their index, so only append: another order would be
 * another file format.
 *
 * @module
 */

import type { Layer, SpanStatus } from "./types.ts";

/** All layers, roughly in the order of a request. */
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
