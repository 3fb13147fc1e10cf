import type { OptionRules } from "../core/check/check_options.ts";
import { readDuration } from "../core/check/duration.ts";
import { show } from "../core/check/show.ts";
import { checkStrings, normalizeTags } from "./check.ts";
import { readPattern } from "./paths.ts";

/** What all ways of caching can be told. All times are in seconds. */
export interface FreshnessOptions {
  /** Tags to invalidate the value by. Default: none. */
  readonly tags?: readonly string[];
  /**
   * Paths to invalidate the value by, beside that of the request that it is
   * computed for. Default: none.
   */
  readonly paths?: readonly string[];
  /**
   * How long after it has expired a value may still be given while a new one
   * is computed in the background. Default 0.
   */
  readonly staleWhileRevalidate?: number;
  /**
   * How long after it has expired a value may still be given if no new one can
   * be computed. Default 0. A value that was invalidated is never given.
   */
  readonly staleIfError?: number;
  /**
   * How long to wait for a computation before an expired value that
   * `staleIfError` allows is given instead; the computation goes on. At most
   * 24 days. Default `Infinity`: until it is done.
   */
  readonly staleAfter?: number;
  /**
   * How long a computation may take. Then its callers get a `CacheError` with
   * code `TIMEOUT`, and the next one begins anew. At most 24 days. Default
   * `Infinity`: no limit, but after 30 seconds others don't wait for it any
   * more.
   */
  readonly timeout?: number;
  /**
   * How long `null` and `undefined` are fresh. Default: as other values. Where
   * those are not kept at all, neither are these.
   */
  readonly negativeMaxAge?: number | false;
  /**
   * The part of the lifetime, 0 to 1, of which a random share is taken off, so
   * that values that were computed together don't expire together. Default 0.
   */
  readonly jitter?: number;
  /**
   * Whether each caller gets a copy of its own (`structuredClone`). Without it
   * all callers share one object, and whoever changes it changes it for all.
   * Default `false`.
   */
  readonly clone?: boolean;
}

const FRESHNESS: OptionRules<FreshnessOptions> = {
  tags: true,
  paths: true,
  staleWhileRevalidate: true,
  staleIfError: true,
  staleAfter: true,
  timeout: true,
  negativeMaxAge: true,
  jitter: true,
  clone: true,
};

/** Settings of `cached`. All times are in seconds. */
export interface CachedOptions extends FreshnessOptions {
  /**
   * How long the value is fresh. `false`: until it is invalidated. 0: not at
   * all; the function runs at each call.
   */
  readonly maxAge: number | false;
}

/** Settings of `unstable_cache`. All times are in seconds. */
export interface UnstableCacheOptions extends FreshnessOptions {
  /**
   * How long a value is fresh. `false`: until it is invalidated. 0: not at
   * all; the function runs at each call. Default 3600.
   */
  readonly revalidate?: number | false;
}

/** The names of {@linkcode CachedOptions}. */
export const CACHED: OptionRules<CachedOptions> = {
  ...FRESHNESS,
  maxAge: true,
};

/** The names of {@linkcode UnstableCacheOptions}. */
export const UNSTABLE_CACHE: OptionRules<UnstableCacheOptions> = {
  ...FRESHNESS,
  revalidate: true,
};

/** Settings that were checked. Times are in milliseconds. */
export interface Policy {
  readonly maxAge: number;
  readonly negativeMaxAge: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
  readonly staleAfter: number | undefined;
  readonly timeout: number | undefined;
  readonly jitter: number;
  readonly clone: boolean;
  readonly tags: readonly string[];
  readonly paths: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * Checks the values of settings.
 *
 * @param maxAge The lifetime, and what it is called.
 * @throws {TypeError} If one of them is not what it must be.
 */
export function readPolicy(
  options: FreshnessOptions,
  maxAge: readonly [name: string, value: number | false],
  operation: string,
): Policy {
  const mayLast = [maxAge[0], "negativeMaxAge"];
  const time = (name: string, value: unknown): number => {
    if (value === false && mayLast.includes(name)) return Infinity;
    if (typeof value === "number" && value >= 0) return value * 1_000;
    throw new TypeError(
      `Cannot ${operation}: ${name} must be a number of seconds, 0 or more${
        mayLast.includes(name) ? ", or false" : ""
      }, received ${show(value)}`,
    );
  };
  const limit = (name: string, value: unknown): number | undefined => {
    if (value === undefined) return undefined;
    const rule = { unit: "seconds", endless: true } as const;
    const ms = readDuration(value, name, operation, rule);
    return ms === Infinity ? undefined : ms;
  };
  const { staleWhileRevalidate = 0, staleIfError = 0, jitter = 0 } = options;
  if (!(jitter >= 0 && jitter <= 1)) {
    throw new TypeError(
      `Cannot ${operation}: jitter must be from 0 to 1, received ${
        show(jitter)
      }`,
    );
  }
  return {
    maxAge: time(...maxAge),
    negativeMaxAge: options.negativeMaxAge === undefined
      ? time(...maxAge)
      : time("negativeMaxAge", options.negativeMaxAge),
    staleWhileRevalidate: time("staleWhileRevalidate", staleWhileRevalidate),
    staleIfError: time("staleIfError", staleIfError),
    staleAfter: limit("staleAfter", options.staleAfter),
    timeout: limit("timeout", options.timeout),
    jitter,
    clone: options.clone === true,
    tags: readTags(options.tags, operation),
    paths: readPaths(options.paths, operation),
  };
}

/** How long what a function has returned is fresh, in milliseconds. */
export function lifetime(value: unknown, policy: Policy): number {
  return value === undefined || value === null
    ? policy.negativeMaxAge
    : policy.maxAge;
}

/** A copy, so that nobody changes it later. */
function readTags(tags: unknown, operation: string): readonly string[] {
  if (tags === undefined) return NONE;
  checkStrings(tags, "tags", operation);
  return tags.length === 0 ? NONE : normalizeTags(tags);
}

function readPaths(paths: unknown, operation: string): readonly string[] {
  if (paths === undefined) return NONE;
  checkStrings(paths, "paths", operation);
  return paths.map((path) => {
    const scope = readPattern(path);
    if (typeof scope !== "string" && "path" in scope) return scope.path;
    throw new TypeError(
      `Cannot ${operation}: a path ${
        typeof scope === "string" ? scope : 'must not end in "/*" here'
      }, received ${show(path)}`,
    );
  });
}
