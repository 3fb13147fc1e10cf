import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../core/check/options.ts";
import {
  aBoolean,
  aDuration,
  aNonEmptyString,
  aTimeout,
  isObject,
  type Rule,
  rule,
  show,
} from "../core/check/rules.ts";
import { readPattern } from "./paths.ts";
import { toDelay } from "../core/promises.ts";

/** Options that all cached functions share. All times are in seconds. */
export interface FreshnessOptions {
  /** Tags to invalidate the value by. Default: none. */
  readonly tags?: readonly string[];
  /**
   * Paths to invalidate the value by. The path of the request that it was
   * computed for is always one. Default: none.
   */
  readonly paths?: readonly string[];
  /**
   * How long an expired value is still served while a new one is computed in the
   * background. Default: 0.
   */
  readonly staleWhileRevalidate?: number;
  /**
   * How long an expired value is still served if computing a new one fails.
   * Invalidated values are never served. Default: 0.
   */
  readonly staleIfError?: number;
  /**
   * How long to wait for a computation before serving an expired value that
   * `staleIfError` allows. The computation continues. At most 24 days. Default:
   * `Infinity`.
   */
  readonly staleAfter?: number;
  /**
   * How long a computation may take. After that, its callers get a `CacheError`
   * with code `TIMEOUT`, and the next call computes again. At most 24 days.
   * Default: `Infinity`, but after 30 seconds, further calls compute again.
   */
  readonly timeout?: number;
  /**
   * How long `null` and `undefined` are fresh. Default: as long as other values. It
   * has no effect if other values aren't cached.
   */
  readonly negativeMaxAge?: number | false;
  /**
   * Maximum part of the lifetime, from 0 to 1, to subtract at random, so that
   * values don't expire together. Default: 0.
   */
  readonly jitter?: number;
  /**
   * Whether each caller gets a copy (`structuredClone`). Otherwise all callers
   * share one object and see each other's changes. Default: `false`.
   */
  readonly clone?: boolean;
}

/** A duration without a timer. */
export const aPeriod = aDuration("seconds", { zero: true, endless: true });
const aTimeLimit = aTimeout("seconds", { endless: true });
const aLifetime = rule(
  "a number of seconds, 0 or more, or false",
  (value) => value === false || aPeriod.test(value),
);

const FRESHNESS: OptionRules<FreshnessOptions> = {
  tags: true,
  paths: true,
  staleWhileRevalidate: aPeriod,
  staleIfError: aPeriod,
  staleAfter: aTimeLimit,
  timeout: aTimeLimit,
  negativeMaxAge: aLifetime,
  jitter: rule(
    "from 0 to 1",
    (value) => typeof value === "number" && value >= 0 && value <= 1,
  ),
  clone: aBoolean,
};

/** Settings of `cached`. All times are in seconds. */
export interface CachedOptions extends FreshnessOptions {
  /** How long the value is fresh. `false`: until invalidated. 0: never cached. */
  readonly maxAge: number | false;
}

/** Settings of `cacheFunction`. All times are in seconds. */
export interface CacheFunctionOptions extends FreshnessOptions {
  /**
   * How long results are fresh. `false`: until invalidated. 0: never cached.
   * Default: 3600.
   */
  readonly revalidate?: number | false;
}

/** The same settings under the name of `unstable_cache`. */
export type UnstableCacheOptions = CacheFunctionOptions;

/** In seconds, or `false` for a value that doesn't expire. */
type Lifetime = number | false;

/** Names of the lifetime: `cacheFunction()` has kept the one of Next.js. */
type LifetimeName = "maxAge" | "revalidate";

const withMaxAge = rule("an object, as in { maxAge: 60 }", isObject);

/**
 * Checks that options don't lack the lifetime, or use another function's name
 * for it.
 *
 * @throws {TypeError} If they do.
 */
export function checkLifetimeName(
  options: unknown,
  name: LifetimeName,
  operation: string,
): void {
  if (name === "maxAge") {
    checkValue(options, "options", withMaxAge, operation);
  }
  const other = name === "maxAge" ? "revalidate" : "maxAge";
  if (!Object.hasOwn(Object(options), other)) return;
  throw new TypeError(
    `Cannot ${operation}: the lifetime is called ${name} here, received ${other}`,
  );
}

/** Checked options. Times are in milliseconds, `Infinity` for no end. */
export type Policy = Readonly<ReturnType<typeof toPolicy>>;

/**
 * Reads the options of `cached()` or `cacheFunction()`.
 *
 * @param name The name that the function gives the lifetime.
 * @param byDefault The default lifetime, in seconds.
 * @throws {TypeError} If an option is invalid.
 */
export function readPolicy(
  options: FreshnessOptions & Partial<Record<LifetimeName, Lifetime>>,
  name: LifetimeName,
  byDefault: number | undefined,
  operation: string,
): Policy {
  checkLifetimeName(options, name, operation);
  checkOptions(options, { ...FRESHNESS, [name]: aLifetime }, operation);
  const { [name]: lifetime = byDefault } = options;
  checkValue(lifetime, name, aLifetime, operation);
  return toPolicy(options, lifetime!, operation);
}

/** Returns the policy of options whose names and times were checked. */
export function toPolicy(
  options: FreshnessOptions,
  maxAge: Lifetime,
  operation: string,
) {
  const { negativeMaxAge = maxAge, jitter = 0, clone = false } = options;
  return {
    maxAge: toMs(maxAge),
    negativeMaxAge: toMs(negativeMaxAge),
    staleWhileRevalidate: toMs(options.staleWhileRevalidate ?? 0),
    staleIfError: toMs(options.staleIfError ?? 0),
    staleAfter: toDelay(options.staleAfter ?? Infinity),
    timeout: toDelay(options.timeout ?? Infinity),
    jitter,
    clone,
    tags: readTags(options.tags, operation),
    paths: readPaths(options.paths, operation),
  };
}

function toMs(seconds: Lifetime): number {
  return seconds === false ? Infinity : seconds * 1_000;
}

/** Returns how long a function's result is fresh, in milliseconds. */
export function lifetime(value: unknown, policy: Policy): number {
  return value === undefined || value === null
    ? policy.negativeMaxAge
    : policy.maxAge;
}

/** Checks an array of strings. By default, its elements can't be empty. */
export function checkStrings(
  value: unknown,
  name: string,
  operation: string,
  element: Rule = aName,
): asserts value is readonly string[] {
  checkValue(value, name, someStrings, operation);
  for (const [i, item] of (value as unknown[]).entries()) {
    checkValue(item, `${name}[${i}]`, element, operation);
  }
}

/** Any array. The elements are checked one by one, for errors with an index. */
export const someStrings = {
  expected: "an array of strings",
  test: Array.isArray,
  describe: (value: unknown) =>
    typeof value === "string"
      ? `${show(value)}; write [${show(value)}]`
      : show(value),
};

const aName: Rule = {
  ...aNonEmptyString,
  describe: (value) =>
    Array.isArray(value)
      ? "an array; pass its elements one by one"
      : show(value),
};

/** Shared by all records without tags or paths. */
const NONE: readonly string[] = Object.freeze([]);

/** Returns a copy of tags, without lone surrogates: some stores use UTF-8. */
export function readTags(tags: unknown, operation: string): readonly string[] {
  if (tags === undefined) return NONE;
  checkStrings(tags, "tags", operation);
  // A plain copy shares memory with an array literal.
  return tags.every((tag) => tag.isWellFormed())
    ? [...tags]
    : tags.map((tag) => tag.toWellFormed());
}

function readPaths(paths: unknown, operation: string): readonly string[] {
  if (paths === undefined) return NONE;
  checkStrings(paths, "paths", operation);
  return paths.map((path) => {
    const { path: exact } = readPattern(path, operation);
    if (exact !== undefined) return exact;
    const received = show(path);
    throw new TypeError(
      `Cannot ${operation}: a path must not end in "/*" here, received ${received}`,
    );
  });
}
