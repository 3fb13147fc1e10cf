/**
 * The layers and statuses as lists, in the order in which packed traces
 * number them. Append only: a new place in the list is a new file format.
 *
 * @module
 */

import type { Layer, SpanStatus } from "../types.ts";

/** Every layer a span can belong to. */
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

/** Every status a span can have. */
export const STATUSES: readonly SpanStatus[] = ["ok", "error", "timeout"];

/** Whether `value` names a layer. */
export function isLayer(value: unknown): value is Layer {
  return (LAYERS as readonly unknown[]).includes(value);
}
