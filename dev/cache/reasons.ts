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
import { type CacheNotes, type KeyNote, scopesOf } from "./cache_notes.ts";
import { type Origin, requestName } from "./origin.ts";
import { shownKey } from "./shown.ts";

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
    // A shared store may have values of other processes and earlier runs.
    const isFirst = !store.isShared && !notes.isPartial;
    return { text: isFirst ? "it was never computed" : ABSENT };
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

/** Returns which invalidation made a record invalid. */
function whyInvalid(
  { cache, invalidations }: CacheNotes,
  record: NonNullable<KeyNote["record"]>,
  path: string | undefined,
  span: ObservedSpan,
): Reason {
  for (const [name, text] of scopesOfRecord(record, path)) {
    const found = invalidations.peek(name);
    if (found === undefined || found.number <= record.began) continue;
    const { time, origin } = found;
    const ago = ageText(cache.now() - time);
    const by = origin === undefined
      ? "outside of a request"
      : `by ${requestName(origin, span)}`;
    return { text: `${text} was invalidated ${ago} ago ${by}`, origin };
  }
  return {
    text: cache.store.isShared
      ? "another process invalidated it, or the store can't be reached"
      : "it was invalidated",
  };
}

/** Yields the names of a record's scopes, with their texts. */
function* scopesOfRecord(
  { scopeKey, tags, paths, keys = [] }: NonNullable<KeyNote["record"]>,
  path: string | undefined,
): ReturnType<typeof scopesOf> {
  yield* scopesOf({ tags });
  yield [`key ${scopeKey}`, "it"];
  for (const key of keys) yield [`key ${key}`, `its part ${shownKey(key)}`];
  for (const each of [...paths, ...path === undefined ? [] : [path]]) {
    yield* scopesOf({ paths: [each], prefixes: prefixesOf(each) });
  }
  yield* scopesOf({ all: true });
}
