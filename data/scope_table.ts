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
 * What follows from it:
 *
 * - An invalidation writes one number per scope, whether ten entries belong to
 *   it or ten million. Nobody looks for them; they are found out when asked for.
 * - The number is taken before the function runs. What the function read may be
 *   older than an invalidation that came in the meantime, so a result whose
 *   computation was under way then is invalid before it can be stored.
 * - A number that is too small only costs a computation; a stale value is never
 *   served for it. So a process may learn of the invalidations of others late
 *   and still begin with the number that it knows.
 * - A scope can be forgotten as long as no number becomes smaller: see
 *   {@linkcode Recent}. Everything that began before the floor is invalid.
 *
 * @module
 */

import { prefixesOf } from "./paths.ts";

/** What is invalidated at once, or what an entry belongs to. */
export interface CacheScopes {
  /** Tags. */
  readonly tags?: readonly string[];
  /** Exact paths, normalized. */
  readonly paths?: readonly string[];
  /** Paths below which everything is meant: `/posts/` is `/posts/*`. */
  readonly prefixes?: readonly string[];
  /** Keys. */
  readonly keys?: readonly string[];
  /** Everything there is. */
  readonly all?: boolean;
}

/** What tells whether an entry is valid: its scopes, and when it began. */
export interface Dated {
  /** The number of the latest invalidation when the computation began. */
  readonly began: number;
  /** The key by which `invalidate(...args)` finds it. */
  readonly scopeKey: string;
  /** The tags that it belongs to. */
  readonly tags: readonly string[];
  /** The paths that it belongs to, normalized. */
  readonly paths: readonly string[];
  /** The keys of what it was made from. */
  readonly keys?: readonly string[] | undefined;
}

/** The default number of scopes that are remembered exactly. */
export const DEFAULT_MAX_SCOPES = 100_000;

/** When what was last invalidated, as far as this process knows. */
export class ScopeTable {
  readonly #tags: Recent;
  readonly #paths: Recent;
  readonly #prefixes: Recent;
  readonly #keys: Recent;
  #version = 0;
  #sequence = 0;
  #pathSequence = 0;
  #floor = 0;

  /**
   * Makes a table in which nothing has been invalidated.
   *
   * @param maxScopes How many scopes of each kind to remember exactly.
   */
  constructor(maxScopes: number = DEFAULT_MAX_SCOPES) {
    this.#tags = new Recent(maxScopes);
    this.#paths = new Recent(maxScopes);
    this.#prefixes = new Recent(maxScopes);
    this.#keys = new Recent(maxScopes);
  }

  /** The number of the latest invalidation: what a computation begins with. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Changes with every invalidation, also with one whose number comes late. As
   * long as it is the same, what was valid still is.
   */
  get version(): number {
    return this.#version;
  }

  /** The number of the latest invalidation of any path. */
  get pathSequence(): number {
    return this.#pathSequence;
  }

  /** How many scopes are remembered exactly. */
  get size(): number {
    return this.#tags.size + this.#paths.size + this.#prefixes.size +
      this.#keys.size;
  }

  /**
   * Notes an invalidation.
   *
   * @param scopes What is invalid from now on.
   * @param number Its number, if somebody else has given it one. Default: the
   * next one. It need not be whole.
   * @returns Its number.
   */
  invalidate(scopes: CacheScopes, number: number = this.#sequence + 1): number {
    this.#version++;
    if (number > this.#sequence) this.#sequence = number;
    const { tags, paths, prefixes, keys, all } = scopes;
    if (tags !== undefined) this.#tags.note(tags, number);
    if (paths !== undefined) this.#paths.note(paths, number);
    if (prefixes !== undefined) this.#prefixes.note(prefixes, number);
    if (keys !== undefined) this.#keys.note(keys, number);
    if (paths?.length || prefixes?.length) this.#pathSequence = this.#sequence;
    if (all === true) this.raiseFloor(number);
    return number;
  }

  /** Makes everything invalid that began before `number`. */
  raiseFloor(number: number): void {
    this.#version++;
    if (number > this.#floor) this.#floor = number;
    if (number > this.#sequence) this.#sequence = number;
  }

  /** Whether none of its scopes was invalidated since it began. */
  isValid({ began, scopeKey, tags, paths, keys }: Dated): boolean {
    if (began < this.#floor || this.#keys.last(scopeKey) > began) return false;
    for (let i = 0; i < tags.length; i++) {
      if (this.#tags.last(tags[i]!) > began) return false;
    }
    if (keys?.some((key) => this.#keys.last(key) > began)) return false;
    if (this.#pathSequence <= began) return true;
    for (let i = 0; i < paths.length; i++) {
      if (this.lastOfPath(paths[i]!) > began) return false;
    }
    return true;
  }

  /** The number of the last invalidation that took a path. */
  lastOfPath(path: string): number {
    let last = this.#paths.last(path);
    if (this.#prefixes.size === 0) return last;
    for (const prefix of prefixesOf(path)) {
      const number = this.#prefixes.last(prefix);
      if (number > last) last = number;
    }
    return last;
  }
}

/**
 * A bounded map from names to numbers: two exact generations, and buckets for
 * older names.
 *
 * ```
 *   young ──full──▶ old ──full──▶ buckets[hash(name)] = largest number
 * ```
 *
 * When the young generation is full, the old one is folded into the buckets. A
 * name then gets the largest number of its bucket. Too large a number only costs
 * a computation. So a flood of names invalidates a few entries that share their
 * buckets rather than everything.
 */
class Recent {
  readonly #limit: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  #buckets: Float64Array | undefined;

  constructor(limit: number) {
    this.#limit = Math.max(1, limit / 2);
  }

  /** The number of names that are known exactly. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  note(names: readonly string[], number: number): void {
    for (const name of names) {
      // Those of other processes may come in another order than their numbers.
      if (number <= this.last(name)) continue;
      if (this.#young.size >= this.#limit && !this.#young.has(name)) {
        this.#fold(this.#old);
        this.#old = this.#young;
        this.#young = new Map();
      }
      this.#young.set(name, number);
    }
  }

  last(name: string): number {
    if (this.#young.size === 0) return 0;
    return this.#young.get(name) ?? this.#old.get(name) ??
      this.#buckets?.[bucketOf(name, this.#buckets.length)] ?? 0;
  }

  #fold(names: ReadonlyMap<string, number>): void {
    if (names.size === 0) return;
    const buckets = this.#buckets ??= new Float64Array(
      2 ** Math.ceil(Math.log2(this.#limit * BUCKETS_PER_NAME)),
    );
    for (const [name, number] of names) {
      const bucket = bucketOf(name, buckets.length);
      if (number > buckets[bucket]!) buckets[bucket] = number;
    }
  }
}

/** Enough that a full generation invalidates one unrelated entry in ten. */
const BUCKETS_PER_NAME = 8;

/** Random, so that attackers can't choose names that share a bucket. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0]!;

/** FNV-1a; `length` is a power of two. */
function bucketOf(name: string, length: number): number {
  let hash = SEED;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  return (hash ^ hash >>> 15) & (length - 1);
}
