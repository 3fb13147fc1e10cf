import type { OptionRules } from "../../core/check/options.ts";
import { oneOf, rule } from "../../core/check/rules.ts";
import { LAYERS } from "../export/semantics.ts";
import type { Layer } from "../types.ts";

/** An expected number. */
export interface CountRange {
  /** The exact number. */
  readonly exactly?: number;
  /** The minimum. */
  readonly min?: number;
  /** The maximum. */
  readonly max?: number;
}

/** Options of `queries()`. At least one is required. */
export interface QueryCheckOptions extends CountRange {
  /**
   * The maximum number of times that a statement may run again: with 0, each
   * runs once. Statements that differ only in literals are equal. `BEGIN` and
   * others that control transactions may repeat.
   */
  readonly repeated?: number;
}

/** Options of `span()`. */
export interface SpanCheckOptions extends CountRange {
  /** The layer of the spans. Default: any. */
  readonly layer?: Layer;
}

/** Options of `cache()`: exact numbers. At least one is required. */
export interface CacheCheckOptions {
  /** The number of fresh values from the cache. */
  readonly hits?: number;
  /** The number of stale values from the cache. */
  readonly stale?: number;
  /** The number of computed values. */
  readonly misses?: number;
}

const aCount = rule(
  "an integer, 0 or more",
  (value) => Number.isSafeInteger(value) && value as number >= 0,
);

const RANGE: OptionRules<CountRange> = {
  exactly: aCount,
  min: aCount,
  max: aCount,
};
/** The rules of these options. */
export const LAYER: OptionRules<Pick<SpanCheckOptions, "layer">> = {
  layer: oneOf(...LAYERS),
};
export const QUERIES: OptionRules<QueryCheckOptions> = {
  ...RANGE,
  repeated: aCount,
};
export const SPANS: OptionRules<SpanCheckOptions> = { ...LAYER, ...RANGE };
export const CACHE: OptionRules<CacheCheckOptions> = {
  hits: aCount,
  stale: aCount,
  misses: aCount,
};

/** Refuses options that can't fail. */
export function requireOne(
  options: object,
  rules: object,
  operation: string,
): void {
  const names = Object.keys(rules);
  if (names.some((name) => Reflect.get(options, name) !== undefined)) return;
  const known = names.join(", ");
  throw new TypeError(
    `Cannot ${operation}: options must contain one of ${known}, received none`,
  );
}
