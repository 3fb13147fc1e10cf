/**
 * The layers and statuses as lists, in the order in which packed traces
 * number them. Append only: a new place in the list is a new file format.
 *
 * @module
 */

import { LAYERS } from "../layers.ts";
import type { Layer, SpanStatus } from "../types.ts";

export { LAYERS };

/** Every status a span can have. */
export const STATUSES: readonly SpanStatus[] = ["ok", "error", "timeout"];

/** Whether `value` names a layer. */
export function isLayer(value: unknown): value is Layer {
  return (LAYERS as readonly unknown[]).includes(value);
}
