/**
 * The dev command's notes about one cache: its keys, and which span has
 * invalidated which tag.
 *
 * @module
 */

import { GenerationMap } from "../../core/collections/generation_map.ts";
import type { ObservedSpan } from "../../core/observed_span.ts";
import type { ObservedCache } from "../../data/cache_observer.ts";
import type { Invalidation } from "../../data/invalidation_log.ts";
import type { CacheRecord } from "../../data/store.ts";
import { type Origin, originOf } from "./origin.ts";
import { shownKey, shownName } from "./shown.ts";

/** Maximum keys to remember. */
const MAX_KEYS = 5_000;

/** Maximum tags, paths and keys whose last invalidation is remembered. */
const MAX_NAMES = 10_000;

/** A stored value, without the value. */
export interface KeptRecord
  extends Omit<CacheRecord, "value" | "keepUntil" | "checked"> {
  /** The estimated size in bytes, if the store has one. */
  readonly bytes: number | undefined;
  /** The evictions of the store before it was seen. */
  readonly evictions: number;
}

/** The notes about one key. */
export interface KeyNote {
  readonly key: string;
  /** The key without secrets. */
  readonly shown: string;
  hits: number;
  stale: number;
  misses: number;
  /** The last stored value that was seen. */
  record: KeptRecord | undefined;
  /** Why the last value wasn't stored. */
  obstacle: string | undefined;
  /** The last result, in words. */
  reason: string;
}

/** An invalidation. */
export interface InvalidationNote {
  /** Its number in the log of the cache. */
  readonly number: number;
  /** The time, by the cache's clock. */
  readonly time: number;
  /** The span that invalidated. `undefined` outside a trace. */
  readonly origin: Origin | undefined;
}

/** The notes about one cache. */
export class CacheNotes {
  readonly cache: ObservedCache;
  readonly keys = new Map<string, KeyNote>();
  readonly invalidations = new GenerationMap<string, InvalidationNote>({
    maxSize: MAX_NAMES,
  });
  /** Whether keys were forgotten, because there were too many. */
  isPartial = false;

  constructor(cache: ObservedCache) {
    this.cache = cache;
  }

  /** Returns the note of a key, with its present record. */
  noteOf(key: string, record: CacheRecord | undefined): KeyNote {
    let note = this.keys.get(key);
    if (note === undefined) {
      if (this.keys.size >= MAX_KEYS) {
        this.isPartial = true;
        this.keys.delete(this.keys.keys().next().value!);
      }
      const counts = { hits: 0, stale: 0, misses: 0 };
      note = { key, shown: shownKey(key), ...counts } as KeyNote;
      this.keys.set(key, note);
    }
    if (record !== undefined) this.keep(note, record);
    return note;
  }

  /** Remembers the record of a key. */
  keep(note: KeyNote, record: CacheRecord): void {
    const { began, scopeKey, tags, paths, keys, freshUntil } = record;
    if (note.record?.began === began && note.record.freshUntil === freshUntil) {
      return;
    }
    // The entries of the store in memory know their size.
    const { bytes } = record as { readonly bytes?: number };
    const { evictions } = this.cache.store;
    note.record = {
      ...{ began, scopeKey, tags, paths, keys, freshUntil },
      ...{ bytes, evictions },
    };
    note.obstacle = undefined;
  }

  /**
   * Runs an invalidation and remembers its span.
   *
   * @returns The result of `run`, and the number of known entries that it hit.
   */
  invalidate<T>(
    what: Invalidation,
    span: ObservedSpan | undefined,
    run: () => T,
  ): { readonly result: T; readonly entries: number } {
    const log = this.cache.store.invalidations;
    const isValid = ({ record }: KeyNote) =>
      record !== undefined && log.isValid(record);
    const before = [...this.keys.values()].filter(isValid);
    const result = run();
    const note = {
      number: log.sequence,
      time: this.cache.now(),
      origin: originOf(span),
    };
    for (const [name] of scopesOf(what)) this.invalidations.set(name, note);
    const entries = before.filter((key) => !isValid(key)).length;
    return { result, entries };
  }
}

/** Yields the names under which scopes are remembered, with texts for people. */
export function* scopesOf(
  { tags = [], paths = [], prefixes = [], keys = [], all }: Invalidation,
): Generator<readonly [name: string, text: string]> {
  for (const tag of tags) yield [`tag ${tag}`, `tag ${shownName(tag)}`];
  for (const path of paths) yield [`path ${path}`, `path ${shownName(path)}`];
  for (const prefix of prefixes) {
    yield [`path ${prefix}`, `path ${shownName(prefix)}*`];
  }
  for (const key of keys) yield [`key ${key}`, `key ${shownKey(key)}`];
  if (all === true) yield ["all", "everything"];
}
