/**
 * Text search over span names, attribute values and events.
 *
 * Each trace is reduced once to one lower-case text. Looking through 10,000 of
 * those takes a few milliseconds, but making them doesn't, as each trace has
 * to be decoded: so they are made in slices, in the time that is left over,
 * and the search says how far it has come.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import type { TraceEntry } from "./summary.ts";

/** What the search remembers of a trace. */
interface Memo {
  /** Everything that can be found, in lower case. */
  readonly text: string;
  /** The query that was last looked for. */
  query: string;
  /** Whether it was found. */
  hit: boolean;
}

/** Creates a search. It forgets traces that nothing else holds. */
export function createSearch() {
  const memos = new WeakMap<TraceEntry, Memo>();
  return {
    /** Prepares a trace. Repeating it costs nothing. */
    add(entry: TraceEntry): void {
      if (memos.has(entry)) return;
      const text = haystackOf(entry.load());
      memos.set(entry, { text, query: "", hit: true });
    },
    /** Whether a prepared trace contains `query`; others contain nothing. */
    matches(entry: TraceEntry, query: string): boolean {
      const memo = memos.get(entry);
      if (memo === undefined) return false;
      if (memo.query === query) return memo.hit;
      // What doesn't contain a text doesn't contain a longer one either.
      const hopeless = !memo.hit && query.includes(memo.query);
      memo.hit = !hopeless && memo.text.includes(query);
      memo.query = query;
      return memo.hit;
    },
  };
}

/** A query as the search wants it. */
export function normalizeQuery(text: string): string {
  return text.trim().toLowerCase();
}

/** All that can be found in a trace. Values that repeat are kept once. */
export function haystackOf(trace: SerializedTrace): string {
  const parts = new Set<string>([trace.id]);
  for (const span of trace.spans) collectText(span, parts);
  return [...parts].join("\n").toLowerCase();
}

/** Whether a span itself contains a normalized, non-empty query. */
export function spanMatches(span: SpanData, query: string): boolean {
  const parts = new Set<string>();
  collectText(span, parts);
  for (const part of parts) {
    if (part.toLowerCase().includes(query)) return true;
  }
  return false;
}

function collectText(span: SpanData, parts: Set<string>): void {
  parts.add(span.name);
  addValues(span.attributes, parts);
  for (const event of span.events) {
    parts.add(event.name);
    if (event.attributes !== undefined) addValues(event.attributes, parts);
  }
}

function addValues(
  attributes: Readonly<Record<string, unknown>>,
  parts: Set<string>,
): void {
  for (const value of Object.values(attributes)) parts.add(String(value));
}

/**
 * The next of some places in a list, going round at its end.
 *
 * @param places Ascending indices.
 * @param from The index to go on from; -1 to begin.
 * @param step 1 for the next one, -1 for the one before.
 * @returns An index, or `undefined` if there are no places.
 */
export function nextPlace(
  places: readonly number[],
  from: number,
  step: 1 | -1,
): number | undefined {
  return step === 1
    ? places.find((place) => place > from) ?? places[0]
    : places.findLast((place) => place < from) ?? places.at(-1);
}
