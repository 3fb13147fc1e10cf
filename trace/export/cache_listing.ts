/**
 * The list of keys and tags of a process's caches, as the dev command answers it.
 *
 * @module
 */

import type { SpanReference } from "./semantics.ts";

/** A key of a cache. */
export interface ListedKey {
  /** The key, without secrets. */
  readonly key: string;
  /** Its tags, including the tags of its parts. */
  readonly tags: readonly string[];
  /** Whether a call would hit, in words: `fresh for 57 s`, `expired`. */
  readonly state: string;
  /** The number of calls that got a fresh value. */
  readonly hits: number;
  /** The number of calls that got a stale value. */
  readonly stale: number;
  /** The number of calls that waited for a computation. */
  readonly misses: number;
  /** The estimated size, in bytes. Absent if it isn't in memory. */
  readonly bytes?: number;
  /** The keys whose values were computed from this one. */
  readonly dependants: readonly string[];
  /** The result of the last call, in words. */
  readonly reason: string;
}

/** A tag of at least one key. */
export interface ListedTag {
  /** The tag, without secrets. */
  readonly tag: string;
  /** The number of keys with it. */
  readonly keys: number;
  /** The last invalidation, such as `2 s ago by POST /posts/7`. */
  readonly invalidated?: string;
  /** The span that invalidated it, if it was traced. */
  readonly cause?: SpanReference;
}

/** All caches of a process. */
export interface CacheListing {
  /** The keys in order of their calls, the most called first. */
  readonly keys: readonly ListedKey[];
  /** The tags in order of their keys, the most used first. */
  readonly tags: readonly ListedTag[];
  /** The number of keys that aren't listed. */
  readonly more: number;
}
