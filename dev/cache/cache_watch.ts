/**
 * Explains every call of a cache on its span: `app.reason` in words, and
 * `app.cause` with the span that invalidated the value.
 *
 * @module
 */

import type { ObservedSpan } from "../../core/observed_span.ts";
import type {
  CacheObserver,
  LookUp,
  ObservedCache,
} from "../../data/cache_observer.ts";
import type { Call, InFlight, Result } from "../../data/in_flight.ts";
import type { Invalidation } from "../../data/invalidation_log.ts";
import { ageText, countText } from "../texts.ts";
import { CacheNotes, scopesOf } from "./cache_notes.ts";
import { type Origin, originOf, requestName } from "./origin.ts";
import { type Reason, whyMissing } from "./reasons.ts";
import { shownTags } from "./shown.ts";

/** Maximum caches to remember, for programs that create one per request. */
const MAX_CACHES = 20;

/** Observes the caches of this process. */
export class CacheWatch implements CacheObserver {
  readonly #notes = new Map<ObservedCache, CacheNotes>();

  /** The notes about all caches, oldest first. */
  get caches(): readonly CacheNotes[] {
    return [...this.#notes.values()];
  }

  lookUp(cache: ObservedCache, call: Call, span: ObservedSpan): LookUp {
    return explainCall(this.#notesOf(cache), call, span);
  }

  invalidate<T>(
    cache: ObservedCache,
    what: Invalidation,
    span: ObservedSpan | undefined,
    run: () => T,
  ): T {
    const { tags = [], all } = what;
    const notes = this.#notesOf(cache);
    const { result, entries } = notes.invalidate(what, span, run);
    if (tags.length > 0) span?.setAttribute("app.cache.tags", shownTags(tags));
    span?.setAttribute("app.cache.entries", entries);
    const texts = all === true
      ? ["everything"]
      : Array.from(scopesOf(what), ([, text]) => text);
    const more = texts.length > 5 ? ` and ${texts.length - 5} more` : "";
    const count = countText(entries, "known entry", "known entries");
    const reason = `${texts.slice(0, 5).join(", ")}${more}: ${count}`;
    span?.setAttribute("app.reason", reason);
    return result;
  }

  #notesOf(cache: ObservedCache): CacheNotes {
    let notes = this.#notes.get(cache);
    if (notes !== undefined) return notes;
    this.#notes.set(cache, notes = new CacheNotes(cache));
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > MAX_CACHES) this.#notes.delete(oldest!);
    return notes;
  }
}

/** The call that began each computation. */
const starters = new WeakMap<InFlight, Origin>();

/** Explains a call of a cache in a traced request. */
function explainCall(
  notes: CacheNotes,
  { key, policy }: Call,
  span: ObservedSpan,
): LookUp {
  const { store, now } = notes.cache;
  const known = store.peek(key);
  const note = notes.noteOf(key, known);
  let inFlight: InFlight | undefined;
  let missing: Reason | undefined;
  span.setAttribute("app.cache.key", note.shown);
  setTags(known?.tags ?? policy.tags);

  function setTags(tags: readonly string[]): void {
    if (tags.length === 0) return;
    span.setAttribute("app.cache.tags", shownTags(tags));
  }

  /** Returns the part after the result. */
  function reasonOf(result: Result, why: string | undefined): Reason {
    if (result === "hit") {
      const isShared = inFlight !== undefined;
      return { text: isShared ? ": the shared store had it" : "" };
    }
    const record = store.peek(key);
    if (record !== undefined) {
      notes.keep(note, record);
      // Parts of the value may have added some.
      setTags(record.tags);
    }
    if (result === "stale") {
      // It may have been evicted since.
      const ago = ageText(now() - (note.record?.freshUntil ?? now()));
      return { text: `: it expired ${ago} ago, and ${why ?? REFRESHED}` };
    }
    if (missing === undefined) {
      const option = key.startsWith("[") ? "revalidate" : "maxAge";
      return { text: `: not cached: ${option} is 0` };
    }
    const { text, origin } = missing;
    if (why !== undefined) return { text: `: ${text}, and ${why}`, origin };
    note.obstacle = inFlight?.obstacle ??
      (record === undefined ? "it may exceed maxEntryBytes" : undefined);
    return note.obstacle === undefined
      ? { text: `: ${text}`, origin }
      : { text: `: not stored: ${note.obstacle}` };
  }

  return {
    waits(computation) {
      inFlight = computation;
      const starter = starters.get(computation);
      if (starter !== undefined) {
        const name = requestName(starter, span);
        const text = `it waited for the computation of ${name}`;
        missing = { text, origin: starter };
        return;
      }
      const origin = originOf(span);
      if (origin !== undefined) starters.set(computation, origin);
      missing = whyMissing(notes, note, span);
    },
    ends(result, why) {
      note[COUNTERS[result]]++;
      span.setAttribute("app.cache.result", result);
      const { text, origin } = reasonOf(result, why);
      note.reason = `${result}${text}`;
      span.setAttribute("app.reason", note.reason);
      if (origin === undefined) return;
      span.setAttribute("app.cause", origin.traceparent);
    },
  };
}

const REFRESHED = "a refresh has begun";

const COUNTERS = { hit: "hits", stale: "stale", miss: "misses" } as const;
