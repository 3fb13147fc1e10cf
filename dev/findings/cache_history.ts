/**
 * Finds cached functions that never have a value, in one of two ways:
 *
 * ```
 * country:FRA  miss, miss, miss    the value isn't kept
 * country:FRA:1, country:FRA:2     each call has another key, for the same URL
 * ```
 *
 * A miss after a value has expired, or after a change has invalidated it, doesn't
 * count.
 *
 * @module
 */

import { GenerationMap } from "../../core/collections/generation_map.ts";
import { REDACTED } from "../../core/redact/redact_url.ts";
import { attributeText } from "../../trace/export/attributes.ts";
import type { SpanData } from "../../trace/types.ts";
import { lineOf } from "./texts.ts";
import type { Unit } from "./units.ts";

/** Look-ups without a hit that are too many. */
const MIN_LOOKUPS = 5;
/** Maximum functions, and maximum keys and URLs of each. */
const MAX = { maxSize: 400 };
/** Maximum keys of all functions. */
const MAX_NAMES = { maxSize: 2_000 };
/** Maximum keys of a URL. */
const MAX_KEYS = 200;
/** The longest pause between look-ups without a known reason. */
const PAUSE = 1_000;

/** A cached function that never has a value. */
export interface IdleCache {
  /** Identifies the function. */
  readonly name: string;
  /** The look-ups in words. */
  readonly lookups: string;
  /** The spans of its look-ups in the unit. */
  readonly spans: readonly SpanData[];
}

/** Look-ups of one function. */
interface CachedFunction {
  hasHit: boolean;
  /** The misses of each key, since the first one. */
  readonly misses: GenerationMap<string, { count: number; end: number }>;
  /** The keys that were computed for the first time, by URL. */
  readonly keys: GenerationMap<string, Set<string>>;
}

/** The look-ups of all cached functions. */
export class CacheHistory {
  readonly #functions = new GenerationMap<string, CachedFunction>(MAX);
  /** The name of the function of each key. To read a line takes long. */
  readonly #names = new GenerationMap<string, string>(MAX_NAMES);

  /** Adds the look-ups of a unit. */
  add(unit: Unit): void {
    for (const span of unit.spans) {
      const key = keyOf(span);
      if (key === undefined) continue;
      const name = this.#nameOf(span, key);
      const known: CachedFunction = this.#functions.get(name) ?? {
        hasHit: false,
        misses: new GenerationMap(MAX),
        keys: new GenerationMap(MAX),
      };
      this.#functions.set(name, known);
      if (attributeText(span, "app.cache.result") !== "miss") {
        known.hasHit = true;
      } else addMiss(known, unit, span, key);
    }
  }

  /** Returns the line of a function, or the beginning of its keys. */
  #nameOf(span: SpanData, key: string): string {
    let name = this.#names.get(key);
    if (name === undefined) {
      name = lineOf(span) || /^\W*\w*/.exec(key)![0];
      this.#names.set(key, name);
    }
    return name;
  }

  /** Returns the functions that a unit asked, and that never have a value. */
  idleIn(unit: Unit): IdleCache[] {
    const found = new Map<string, IdleCache>();
    for (const span of unit.spans) {
      const key = keyOf(span);
      if (key === undefined) continue;
      const name = this.#nameOf(span, key);
      const known = this.#functions.get(name);
      if (known === undefined || known.hasHit) continue;
      const lookups = describe(known, unit, key);
      if (lookups === undefined) continue;
      const spans = found.get(name)?.spans ?? [];
      found.set(name, { name, lookups, spans: [...spans, span] });
    }
    return [...found.values()];
  }
}

/** Returns the key of a look-up. `undefined` for other spans, and for pages. */
function keyOf(span: SpanData): string | undefined {
  if (span.name !== "cache.get") return undefined;
  if (attributeText(span, "app.cache.result") === undefined) return undefined;
  const key = attributeText(span, "app.cache.key");
  // The keys of pages. Many pages are of one user by design.
  return key?.startsWith("GET ") || key?.startsWith("{") ? undefined : key;
}

function addMiss(
  known: CachedFunction,
  unit: Unit,
  span: SpanData,
  key: string,
): void {
  if (isExpectedMiss(span, unit)) return;
  const reason = attributeText(span, "app.reason");
  const last = known.misses.get(key);
  const pause = span.startTime - (last?.end ?? -Infinity);
  // Look-ups at the same time share one computation.
  if (pause < 0) return;
  const isFirst = last === undefined ||
    reason === undefined && pause > PAUSE;
  const count = isFirst ? 1 : last.count + 1;
  known.misses.set(key, { count, end: span.endTime });
  const url = urlOf(unit);
  if (last !== undefined || url === undefined) return;
  if (!MOMENT.test(key) && !isAnonymous(unit)) return;
  const keys = known.keys.get(url) ?? new Set();
  if (keys.size < MAX_KEYS) keys.add(key);
  known.keys.set(url, keys);
}

/** A random number, or a time: no user or session is called so. */
const MOMENT = /\d\.\d{6,}|\bD?1[6-9]\d{11}\b|\d:\d\d:\d\d/;

/** Whether auth says that nobody is signed in, so that no key has a user's id. */
function isAnonymous({ spans }: Unit): boolean {
  return spans.some((span) =>
    attributeText(span, "app.auth.result") === "anonymous"
  );
}

/** Reasons of a miss that a developer expects. */
const EXPECTED = /: it expired|waited for|Age is 0|validate is 0|a later call/;

/** Whether the reason of a miss isn't a mistake. */
export function isExpectedMiss(span: SpanData, { root }: Unit): boolean {
  const reason = attributeText(span, "app.reason") ?? "";
  if (span.status !== "ok" || EXPECTED.test(reason)) return true;
  if (!reason.includes(" invalidated")) return false;
  // A request that only reads must not invalidate what it reads.
  const isByRead = / by (?:GET|HEAD) /.test(reason) ||
    / by this request/.test(reason) && isRead(root);
  return !isByRead;
}

function isRead({ attributes }: SpanData): boolean {
  return attributes["http.request.method"] === "GET";
}

/** Returns the URL of a request that only reads. `undefined` for others. */
function urlOf({ root }: Unit): string | undefined {
  const path = attributeText(root, "url.path");
  const query = attributeText(root, "url.query") ?? "";
  // The hidden values may differ.
  const isKnown = path !== undefined && !query.includes(REDACTED);
  return isRead(root) && isKnown ? `${path}?${query}` : undefined;
}

/** Describes look-ups that are too many. `undefined` if they aren't. */
function describe(
  { misses, keys }: CachedFunction,
  unit: Unit,
  key: string,
): string | undefined {
  const { count = 0 } = misses.get(key) ?? {};
  if (count >= MIN_LOOKUPS) return `${count} look-ups of ${key}`;
  const { size = 0 } = keys.get(urlOf(unit) ?? "") ?? {};
  return size >= MIN_LOOKUPS
    ? `${size} look-ups with different keys for one URL, such as ${key}`
    : undefined;
}
