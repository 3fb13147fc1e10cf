import type { Layer, Tracer } from "../types.ts";

/** The part of a tracer's options that each of its traces follows. */
export interface TraceSettings {
  /** Maximum spans of a trace. */
  readonly maxSpansPerTrace: number;
  /** Shorter traces aren't stored, in milliseconds. */
  readonly minDurationMs: number;
  /** Whether spans of a layer are recorded. */
  records(layer: Layer): boolean;
}

/** The settings of each tracer. Not a member, because they aren't public. */
export const settingsOf = new WeakMap<Tracer, TraceSettings>();
