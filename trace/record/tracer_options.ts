import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  aDuration,
  aFunction,
  aPositiveInteger,
  oneOf,
  type Rule,
  rule,
  withMethods,
} from "../../core/check/rules.ts";
import { LAYERS } from "../export/semantics.ts";
import type { RandomSource } from "../trace_context.ts";
import type { Layer, Tracer } from "../types.ts";

/** Options of a tracer. */
export interface TracerOptions {
  /**
   * Maximum stored traces, after joining. The one that changed longest ago is
   * dropped first. Default: 200.
   */
  readonly maxTraces?: number;
  /** Maximum spans of a joined trace. Others are counted. Default: 500. */
  readonly maxSpansPerTrace?: number;
  /** The layers whose spans are recorded. Default: all. */
  readonly layers?: readonly Layer[];
  /** Minimum duration of stored traces, in milliseconds. Default: 0. */
  readonly minDurationMs?: number;
  /** The clocks. Default: the system's. */
  readonly clock?: Clock;
  /** The source of random bytes. Default: `crypto.getRandomValues`. */
  readonly random?: RandomSource;
}

const OPTIONS: OptionRules<TracerOptions> = {
  maxTraces: aPositiveInteger,
  maxSpansPerTrace: aPositiveInteger,
  layers: rule("an array of layers", Array.isArray),
  minDurationMs: aDuration("milliseconds", { zero: true, endless: true }),
  clock: withMethods(
    "an object with monotonic() and wall()",
    "monotonic",
    "wall",
  ),
  random: aFunction,
};

/**
 * Checks the options of a tracer.
 *
 * @returns The options with their defaults.
 * @throws {TypeError} If an option is wrong or unknown.
 */
export function readTracerOptions(options: TracerOptions) {
  checkOptions(options, OPTIONS, "create tracer");
  const {
    maxTraces = 200,
    maxSpansPerTrace = 500,
    layers,
    minDurationMs = 0,
    clock = systemClock,
    random,
  } = options;
  for (const layer of layers ?? []) {
    checkValue(layer, "layers", oneOf(...LAYERS), "create tracer");
  }
  return {
    maxTraces,
    maxSpansPerTrace,
    minDurationMs,
    records: (layer: Layer) => layers?.includes(layer) ?? true,
    clock,
    random,
  };
}

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

/**
 * Checks the tracer that a function got.
 *
 * @throws {TypeError} If it isn't a tracer.
 */
export function checkTracer(
  tracer: unknown,
  operation: string,
  ...methods: readonly (keyof Tracer)[]
): void {
  checkValue(tracer, "tracer", aTracer(...methods), operation);
}

/** Returns the rule for a tracer, with the methods that its user calls. */
export function aTracer(...methods: readonly (keyof Tracer)[]): Rule {
  return withMethods("the result of createTracer()", ...methods);
}

/** The clocks of a tracer. Tests pass their own. */
export interface Clock {
  /**
   * Returns milliseconds on a clock that never goes back, from any starting
   * point.
   */
  monotonic(): number;
  /** Returns milliseconds since the Unix epoch. */
  wall(): number;
}

/** The system's clocks. */
const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** The maximum drift between the two clocks, in milliseconds. */
const MAX_DRIFT = 100;

/**
 * Creates what turns monotonic readings into epoch times: `epoch = origin +
 * monotonic`.
 *
 * Spans are measured on the monotonic clock, because the wall clock may be
 * changed. But the monotonic clock stops while a laptop sleeps. So the origin
 * is checked once for each trace, and corrected after a drift.
 *
 * @returns A function that returns the epoch time at which the monotonic clock
 * read 0.
 */
export function createTimeOrigin(clock: Clock): (monotonic: number) => number {
  let known = clock.wall() - clock.monotonic();
  return (monotonic) => {
    const origin = clock.wall() - monotonic;
    if (Math.abs(origin - known) > MAX_DRIFT) known = origin;
    return known;
  };
}
