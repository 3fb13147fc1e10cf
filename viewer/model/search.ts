/**
 * Text search over span names, attribute values and events.
 *
 * Each trace becomes one lower-case text. To search 10,000 texts takes a few
 * milliseconds. Creating them takes longer, because each trace must be decoded.
 * So they are created in slices, and the search shows its progress.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import type { TraceEntry } from "./summary.ts";

/** A prepared trace, with the result of the last query. */
interface Memo {
  /** All searchable text, in lower case. */
  readonly text: string;
  /** The last query. */
  query: string;
  /** Whether it was found. */
  hit: boolean;
}

/** Creates a search. It doesn't keep traces alive. */
export function createSearch() {
  const memos = new WeakMap<TraceEntry, Memo>();
  return {
    /** Prepares a trace. Repeating it costs nothing. */
    add(entry: TraceEntry): void {
      if (memos.has(entry)) return;
      const text = haystackOf(entry.load());
      memos.set(entry, { text, query: "", hit: true });
    },
    /**
     * Whether a trace contains `query`. Always `false` if it isn't prepared.
     */
    matches(entry: TraceEntry, query: string): boolean {
      const memo = memos.get(entry);
      if (memo === undefined) return false;
      if (memo.query === query) return memo.hit;
      // A longer query can't be found where a part of it wasn't.
      const hopeless = !memo.hit && query.includes(memo.query);
      memo.hit = !hopeless && memo.text.includes(query);
      memo.query = query;
      return memo.hit;
    },
  };
}

/** Returns a query as the search needs it. */
export function normalizeQuery(text: string): string {
  return text.trim().toLowerCase();
}

/** Returns all searchable text of a trace. Repeated values are kept once. */
export function haystackOf(trace: SerializedTrace): string {
  const parts = new Set<string>([trace.id]);
  for (const span of trace.spans) collectText(span, parts);
  return [...parts].join("\n").toLowerCase();
}

/** Whether a span itself contains a normalized, non-empty query. */
export function spanMatches(span: SpanData, query: string): boolean {
  const parts = new Set<string>();
  collectText(span, parts);
  return [...parts].some((part) => part.toLowerCase().includes(query));
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
 * Returns the next of some indices in a list, and the first one after its end.
 *
 * @param places Ascending indices.
 * @param from The index to go on from; -1 to begin.
 * @param step 1 for the next one, -1 for the previous one.
 * @returns An index; `undefined` for an empty list.
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
