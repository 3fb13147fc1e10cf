/**
 * Invalidation by sequence number instead of by search.
 *
 * Every invalidation gets the next number. A scope (a tag, an exact path, all
 * paths below one, a key, everything) remembers the number of its last one. An
 * entry remembers the number that was the latest when its computation *began*,
 * and is valid while no scope that it belongs to has a later one.
 *
 * ```
 *   number    1        2        3
 *   ──────────┼────────┼────────┼──────────▶ time
 *         tag a    tag b    tag a
 *               └─ computes x with tag a ─┘   began at 1, a is at 3: invalid
 *                        └─ y, tag a ─────    began at 2, a is at 3: invalid
 *               └─ z, tag b: began at 1, b is at 2: invalid
 *                                 └─ w, a ─   began at 3, a is at 3: valid
 * ```
 *
 * Consequences:
 *
 * - An invalidation writes one number per scope, whether ten entries belong to it
 *   or ten million. Entries are checked when they are read.
 * - The number is taken before the function runs. If an invalidation comes while
 *   it runs, it may have read old data, so its result is invalid.
 * - A number that is too small only costs a computation, and never serves a stale
 *   value. So a process that learns of other processes' invalidations late may
 *   use the number that it knows.
 * - A scope can be forgotten if no number becomes smaller: see
 *   {@linkcode LastInvalidated}. Everything that began before the floor is invalid.
 *
 * @module
 */

import { GenerationMap } from "../core/collections/generation_map.ts";
import type { RequestScope } from "../core/request_scope.ts";
import { pathOfScope, prefixesOf } from "./paths.ts";
import { shortName } from "./scope_name.ts";

/** Scopes to invalidate together. */
export interface Invalidation {
  /** Tags. */
  readonly tags?: readonly string[];
  /** Exact paths, normalized. */
  readonly paths?: readonly string[];
  /** Prefixes of paths: `/posts/` is everything below `/posts`. */
  readonly prefixes?: readonly string[];
  /** Keys. */
  readonly keys?: readonly string[];
  /** Whether everything is invalidated. */
  readonly all?: boolean;
}

/** The scopes of a value, and when its computation began. */
export type Dependencies = Parameters<InvalidationLog["isValid"]>[0];

/** Latest known invalidation number per scope. */
export class InvalidationLog {
  readonly #tags: LastInvalidated;
  readonly #paths: LastInvalidated;
  readonly #prefixes: LastInvalidated;
  readonly #keys: LastInvalidated;
  /** The length of the longest prefix that was ever invalidated. */
  #longestPrefix = 0;
  #version = 0;
  #sequence = 0;
  #pathSequence = 0;
  #floor = 0;
  /** Higher than the floor while memory isn't trusted. */
  #trustedFrom = 0;

  /**
   * Creates a log without invalidations.
   *
   * @param maxScopes Scopes of each kind to remember exactly.
   */
  constructor(maxScopes: number) {
    this.#tags = new LastInvalidated(maxScopes);
    this.#paths = new LastInvalidated(maxScopes);
    this.#prefixes = new LastInvalidated(maxScopes);
    this.#keys = new LastInvalidated(maxScopes);
  }

  /** The number of the latest invalidation. Computations begin with it. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * A number that changes with every invalidation, including those that arrive
   * out of order. While it is the same, valid records stay valid.
   */
  get version(): number {
    return this.#version;
  }

  /** The number of the latest invalidation of any path. */
  get pathSequence(): number {
    return this.#pathSequence;
  }

  /** The number of scopes that are remembered exactly. */
  get size(): number {
    return this.#tags.size + this.#paths.size + this.#prefixes.size +
      this.#keys.size;
  }

  /**
   * Records an invalidation.
   *
   * @param number Its number, if a shared store assigned one. It need not be an
   * integer. Default: the next one.
   * @returns Its number.
   */
  invalidate(
    { tags = [], paths = [], prefixes = [], keys = [], all }: Invalidation,
    number: number = this.#sequence + 1,
  ): number {
    this.#version++;
    if (number > this.#sequence) this.#sequence = number;
    this.#tags.record(tags, number);
    this.#paths.record(paths, number);
    this.#prefixes.record(prefixes, number);
    for (const { length } of prefixes) {
      if (length > this.#longestPrefix) this.#longestPrefix = length;
    }
    this.#keys.record(keys, number);
    if (paths.length + prefixes.length > 0) this.#pathSequence = this.#sequence;
    if (all === true) this.raiseFloor(number);
    return number;
  }

  /** Invalidates everything that began before `number`. */
  raiseFloor(number: number): void {
    this.#version++;
    if (number > this.#floor) this.#floor = number;
    if (number > this.#sequence) this.#sequence = number;
  }

  /**
   * Treats everything that began before `number` as invalid, until this is called
   * with another number.
   */
  trustFrom(number: number): void {
    if (number === this.#trustedFrom) return;
    this.#version++;
    this.#trustedFrom = number;
  }

  /** Whether no scope of a record was invalidated since it began. */
  isValid(
    { began, scopeKey, tags, paths, keys = [] }: {
      readonly began: number;
      readonly scopeKey: string;
      readonly tags: Iterable<string>;
      readonly paths: Iterable<string>;
      readonly keys?: Iterable<string> | undefined;
    },
  ): boolean {
    if (began < this.#floor || began < this.#trustedFrom) return false;
    if (this.#keys.of(scopeKey) > began) return false;
    for (const tag of tags) if (this.#tags.of(tag) > began) return false;
    for (const key of keys) if (this.#keys.of(key) > began) return false;
    if (this.#pathSequence <= began) return true;
    for (const path of paths) {
      if (this.lastInvalidated(path) > began) return false;
    }
    return true;
  }

  /** Returns the number of the last invalidation of a path, or 0. */
  lastInvalidated(path: string): number {
    let last = this.#paths.of(path);
    if (this.#prefixes.size === 0) return last;
    // Attackers choose the length of a path.
    for (const prefix of prefixesOf(path, this.#longestPrefix)) {
      last = Math.max(last, this.#prefixes.of(prefix));
    }
    return last;
  }
}

/**
 * Whether a record is valid in a scope. The record caches the result until the
 * next invalidation.
 */
export function isRecordValid(
  log: InvalidationLog,
  record: Dependencies & { checked: number },
  scope: RequestScope | undefined,
): boolean {
  if (record.checked !== log.version) {
    if (!log.isValid(record)) return false;
    record.checked = log.version;
  }
  return isValidForPath(log, record.began, scope);
}

/**
 * Whether a value is valid for the path of the current request. It may have been
 * computed for another path.
 */
export function isValidForPath(
  log: InvalidationLog,
  began: number,
  scope: RequestScope | undefined,
): boolean {
  if (scope === undefined || began >= log.pathSequence) return true;
  const path = pathOfScope(scope);
  return path === undefined || log.lastInvalidated(path) <= began;
}

/**
 * A bounded map from names to numbers: two exact generations, and buckets for
 * forgotten names.
 *
 * ```
 *   young ──full──▶ old ──full──▶ buckets[hash(name)] = largest number
 * ```
 *
 * A forgotten name gets the largest number of its bucket. A number that is too
 * large only costs a computation. So a flood of names invalidates only the entries
 * that share their buckets.
 */
class LastInvalidated {
  readonly #limit: number;
  readonly #numbers: GenerationMap<string, number>;
  #buckets: Float64Array | undefined;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
    this.#numbers = new GenerationMap({
      maxSize: this.#limit,
      onForget: (numbers) => this.#fold(numbers),
    });
  }

  get size(): number {
    return this.#numbers.size;
  }

  record(names: readonly string[], number: number): void {
    for (const name of names.map(shortName)) {
      // Invalidations of other processes may arrive out of order.
      if (number > this.of(name)) this.#numbers.set(name, number);
    }
  }

  of(name: string): number {
    if (this.size === 0) return 0;
    const short = shortName(name);
    return this.#numbers.peek(short) ??
      this.#buckets?.[bucketOf(short, this.#buckets.length)] ?? 0;
  }

  #fold(numbers: ReadonlyMap<string, number>): void {
    if (numbers.size === 0) return;
    const buckets = this.#buckets ??= new Float64Array(
      2 ** Math.ceil(Math.log2(this.#limit * BUCKETS_PER_NAME)),
    );
    for (const [name, number] of numbers) {
      const bucket = bucketOf(name, buckets.length);
      buckets[bucket] = Math.max(buckets[bucket]!, number);
    }
  }
}

/** With these, a full generation invalidates one unrelated entry in ten. */
const BUCKETS_PER_NAME = 4;

/** Random, so that attackers can't choose names that share a bucket. */
let seed: number | undefined;

/** FNV-1a; `length` is a power of two. */
function bucketOf(name: string, length: number): number {
  let hash = seed ??= crypto.getRandomValues(new Int32Array(1))[0]!;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  return (hash ^ hash >>> 15) & (length - 1);
}
