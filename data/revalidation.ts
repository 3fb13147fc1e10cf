import { checkOptions, type OptionRules } from "../core/check/options.ts";
import { aBoolean } from "../core/check/rules.ts";
import type { Invalidation } from "./invalidation_log.ts";
import { checkStrings, readTags } from "./options.ts";
import { readPattern } from "./paths.ts";

/** Options of `revalidate()`. */
export interface RevalidateOptions {
  /** Tags. */
  readonly tags?: readonly string[];
  /** Paths, exact or ending in `/*`. */
  readonly paths?: readonly string[];
  /** Whether everything is invalidated. */
  readonly all?: boolean;
}

/** The result of an invalidation. */
export interface RevalidateResult {
  /**
   * Whether the store knows of it; always `true` without a shared store. Connected
   * processes learn of it within milliseconds, strict ones at once. Others don't
   * use their memory for longer than `maxStaleness`. `false`: it took effect in
   * this process only. The others learn of it when the store can be reached again.
   */
  readonly success: boolean;
  /** The names, as passed. */
  readonly revalidated: {
    /** The tags. */
    readonly tags: string[];
    /** The paths. */
    readonly paths: string[];
  };
  /** The time, in milliseconds of the Unix epoch. */
  readonly timestamp: number;
}

const REVALIDATE: OptionRules<RevalidateOptions> = {
  tags: true,
  paths: true,
  all: aBoolean,
};

/** Returns the options for tags and paths in one list. */
export function groupNames(names: readonly string[]): RevalidateOptions {
  return Object.groupBy(
    names,
    (name) => String(name).startsWith("/") ? "paths" : "tags",
  );
}

/**
 * Reads the options of `revalidate()`.
 *
 * @throws {TypeError} If an option is invalid.
 */
export function readInvalidation(options: RevalidateOptions): Invalidation {
  const operation = "revalidate";
  checkOptions(options, REVALIDATE, operation);
  const { tags, paths = [], all = false } = options;
  checkStrings(paths, "paths", operation);
  const scopes = paths.map((path) => readPattern(path, operation));
  return {
    tags: readTags(tags, operation),
    paths: scopes.flatMap(({ path }) => path ?? []),
    prefixes: scopes.flatMap(({ prefix }) => prefix ?? []),
    all,
  };
}
