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
import { CacheNotes, type KeyNote } from "./cache_notes.ts";
import { type Origin, originOf } from "./origin.ts";
import { type Reason, requestName, whyMissing } from "./reasons.ts";
import { shownKey, shownName, shownTags } from "./shown.ts";

/** Maximum caches to remember, for programs that create one per request. */
const MAX_CACHES = 20;

/** Observes the caches of this process. */
export class CacheWatch implements CacheObserver {
  readonly #notes = new Map<ObservedCache, CacheNotes>();
  /** The call that began each computation. */
  readonly #starters = new WeakMap<InFlight, Origin>();

  /** The notes about all caches, oldest first. */
  get caches(): readonly CacheNotes[] {
    return [...this.#notes.values()];
  }

  lookUp(cache: ObservedCache, call: Call, span: ObservedSpan): LookUp {
    return new ObservedLookUp(
      this.#notesOf(cache),
      call,
      span,
      this.#starters,
    );
  }

  invalidate<T>(
    cache: ObservedCache,
    what: Invalidation,
    span: ObservedSpan | undefined,
    run: () => T,
  ): T {
    const { tags = [], paths = [], prefixes = [], keys = [], all } = what;
    const notes = this.#notesOf(cache);
    const { result, entries } = notes.invalidate(what, span, run);
    if (tags.length > 0) span?.setAttribute("app.cache.tags", shownTags(tags));
    span?.setAttribute("app.cache.entries", entries);
    const names = all === true ? ["everything"] : [
      ...tags.map((tag) => `tag ${shownName(tag)}`),
      ...paths.map((path) => `path ${shownName(path)}`),
      ...prefixes.map((prefix) => `path ${shownName(prefix)}*`),
      ...keys.map((key) => `key ${shownKey(key)}`),
    ];
    const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
    const count = countText(entries, "known entry", "known entries");
    span?.setAttribute(
      "app.reason",
      `${names.slice(0, 5).join(", ")}${more}: ${count}`,
    );
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

/** A call of a cache in a traced request. */
class ObservedLookUp implements LookUp {
  readonly #notes: CacheNotes;
  readonly #call: Call;
  readonly #span: ObservedSpan;
  readonly #starters: WeakMap<InFlight, Origin>;
  readonly #note: KeyNote;
  #inFlight: InFlight | undefined;
  #missing: Reason | undefined;

  constructor(
    notes: CacheNotes,
    call: Call,
    span: ObservedSpan,
    starters: WeakMap<InFlight, Origin>,
  ) {
    const record = notes.cache.store.peek(call.key);
    this.#notes = notes;
    this.#call = call;
    this.#span = span;
    this.#starters = starters;
    this.#note = notes.noteOf(call.key, record);
    span.setAttribute("app.cache.key", this.#note.shown);
    this.#setTags(record?.tags ?? call.policy.tags);
  }

  waits(inFlight: InFlight): void {
    this.#inFlight = inFlight;
    const starter = this.#starters.get(inFlight);
    if (starter !== undefined) {
      const name = requestName(starter, this.#span);
      const text = `it waited for the computation of ${name}`;
      this.#missing = { text, origin: starter };
      return;
    }
    const origin = originOf(this.#span);
    if (origin !== undefined) this.#starters.set(inFlight, origin);
    this.#missing = whyMissing(this.#notes, this.#note, this.#span);
  }

  ends(result: Result, why?: string): void {
    const span = this.#span;
    const note = this.#note;
    note[COUNTERS[result]]++;
    span.setAttribute("app.cache.result", result);
    const { text, origin } = this.#reason(result, why);
    note.reason = `${result}${text}`;
    span.setAttribute("app.reason", note.reason);
    if (origin === undefined) return;
    span.setAttribute("app.cause", origin.traceparent);
  }

  /** Returns the part after the result. */
  #reason(result: Result, why: string | undefined): Reason {
    if (result === "hit") {
      const isShared = this.#inFlight !== undefined;
      return { text: isShared ? ": the shared store had it" : "" };
    }
    const { store, now } = this.#notes.cache;
    const record = store.peek(this.#call.key);
    if (record !== undefined) {
      this.#notes.keep(this.#note, record);
      // Parts of the value may have added some.
      this.#setTags(record.tags);
    }
    if (result === "stale") {
      // It may have been evicted since.
      const ago = ageText(now() - (this.#note.record?.freshUntil ?? now()));
      return { text: `: it expired ${ago} ago, and ${why ?? REFRESHED}` };
    }
    if (this.#missing === undefined) return { text: `: ${this.#never()}` };
    const { text, origin } = this.#missing;
    if (why !== undefined) return { text: `: ${text}, and ${why}`, origin };
    const obstacle = this.#inFlight?.obstacle ??
      (record === undefined ? "it may exceed maxEntryBytes" : undefined);
    this.#note.obstacle = obstacle;
    return obstacle === undefined
      ? { text: `: ${text}`, origin }
      : { text: `: not stored: ${obstacle}` };
  }

  /** Returns which option keeps the function from being cached. */
  #never(): string {
    const isFunction = this.#call.key.startsWith("[");
    return `not cached: ${isFunction ? "revalidate" : "maxAge"} is 0`;
  }

  #setTags(tags: readonly string[]): void {
    if (tags.length === 0) return;
    this.#span.setAttribute("app.cache.tags", shownTags(tags));
  }
}

const REFRESHED = "a refresh has begun";

const COUNTERS = { hit: "hits", stale: "stale", miss: "misses" } as const;
