/**
 * Explains in words why a call of a cache missed.
 *
 * @module
 */

import type { ObservedSpan } from "../../core/observed_span.ts";
import { currentScope } from "../../core/request_scope.ts";
import { isValidForPath } from "../../data/invalidation_log.ts";
import { pathOfScope, prefixesOf } from "../../data/paths.ts";
import { ageText } from "../texts.ts";
import {
  type CacheNotes,
  EVERYTHING,
  type InvalidationNote,
  type KeyNote,
} from "./cache_notes.ts";
import { isSameRequest, type Origin } from "./origin.ts";
import { shownKey, shownName } from "./shown.ts";

/** A reason, and the span that caused it, if it is known. */
export interface Reason {
  readonly text: string;
  readonly origin?: Origin | undefined;
}

/** Returns why a key has no fresh value, before it is computed. */
export function whyMissing(
  notes: CacheNotes,
  note: KeyNote,
  span: ObservedSpan,
): Reason {
  const { store, now } = notes.cache;
  const { record, obstacle } = note;
  if (obstacle !== undefined) {
    return { text: `its last value wasn't stored: ${obstacle}` };
  }
  if (record === undefined) {
    return { text: isKnownToBeFirst(notes) ? "it was never computed" : ABSENT };
  }
  const log = store.invalidations;
  const scope = currentScope();
  if (!log.isValid(record) || !isValidForPath(log, record.began, scope)) {
    return whyInvalid(notes, record, pathOfScope(scope), span);
  }
  const age = now() - record.freshUntil;
  if (age >= 0) return { text: `it expired ${ageText(age)} ago` };
  const isEvicted = !store.isShared && store.evictions > record.evictions;
  return { text: isEvicted ? "it was evicted to make room" : ABSENT };
}

const ABSENT = "the store doesn't have it";

/** A shared store may have values of other processes and earlier runs. */
function isKnownToBeFirst({ cache, isPartial }: CacheNotes): boolean {
  return !cache.store.isShared && !isPartial;
}

/** Returns which invalidation made a record invalid. */
function whyInvalid(
  { cache, invalidations }: CacheNotes,
  record: NonNullable<KeyNote["record"]>,
  path: string | undefined,
  span: ObservedSpan,
): Reason {
  for (const [name, text] of scopesOf(record, path)) {
    const found = invalidations.peek(name);
    if (found === undefined || found.number <= record.began) continue;
    const ago = ageText(cache.now() - found.time);
    return {
      text: `${text} was invalidated ${ago} ago${by(found, span)}`,
      origin: found.origin,
    };
  }
  return {
    text: cache.store.isShared
      ? "another process invalidated it, or the store can't be reached"
      : "it was invalidated",
  };
}

function by({ origin }: InvalidationNote, span: ObservedSpan): string {
  if (origin === undefined) return " outside of a request";
  return ` by ${requestName(origin, span)}`;
}

/** Returns the name of an origin's request, as seen from another span. */
export function requestName(origin: Origin, span: ObservedSpan): string {
  return isSameRequest(span, origin) ? "this request" : origin.name;
}

/** Yields the names of a record's scopes, with their texts. */
function* scopesOf(
  { scopeKey, tags, paths, keys = [] }: NonNullable<KeyNote["record"]>,
  path: string | undefined,
): Generator<readonly [name: string, text: string]> {
  for (const tag of tags) yield [`tag ${tag}`, `tag ${shownName(tag)}`];
  yield [`key ${scopeKey}`, "it"];
  for (const key of keys) {
    yield [`key ${key}`, `its part ${shownKey(key)}`];
  }
  for (const each of [...paths, ...path === undefined ? [] : [path]]) {
    yield [`path ${each}`, `path ${shownName(each)}`];
    for (const prefix of prefixesOf(each)) {
      yield [`path ${prefix}`, `path ${shownName(prefix)}*`];
    }
  }
  yield [EVERYTHING, "everything"];
}
