/**
 * The dev command observes the caches: which calls hit, and why others miss.
 * Without it, no key and no tag is recorded.
 *
 * The observer is global, because the command and the app may load different copies
 * of the package.
 *
 * @module
 */

import type { ObservedSpan } from "../core/observed_span.ts";
import { currentScope } from "../core/request_scope.ts";
import type { Call, InFlight, Result } from "./in_flight.ts";
import type { Invalidation } from "./invalidation_log.ts";
import type { StoreGuard } from "./store_guard.ts";

/** A cache, as its observer sees it. */
export interface ObservedCache {
  readonly store: StoreGuard;
  readonly now: () => number;
}

/** Explains one call of a cache on its span. */
export interface LookUp {
  /** Called when the call waits for a computation, its own or another call's. */
  waits(inFlight: InFlight): void;
  /**
   * Called when the call ends.
   *
   * @param why More about the result, in words.
   */
  ends(result: Result, why?: string): void;
}

/** Observes all caches of the process. */
export interface CacheObserver {
  /** Called before a call is resolved. */
  lookUp(cache: ObservedCache, call: Call, span: ObservedSpan): LookUp;
  /**
   * Runs an invalidation.
   *
   * @param run Invalidates. It takes effect before it returns.
   */
  invalidate<T>(
    cache: ObservedCache,
    what: Invalidation,
    span: ObservedSpan | undefined,
    run: () => T,
  ): T;
}

const KEY = Symbol.for("@quartet/kit/dev/cache");
const slot = globalThis as { [KEY]?: CacheObserver | undefined };

/** Sets the observer, or removes it. */
export function observeCaches(observer: CacheObserver | undefined): void {
  slot[KEY] = observer;
}

/** Returns the observer of the dev command, if there is one. */
export function cacheObserver(): CacheObserver | undefined {
  return slot[KEY];
}

/** Explains a call on its span, if the caller is traced. */
export function lookUp(
  cache: ObservedCache,
  call: Call,
  span: ObservedSpan | undefined,
): LookUp | undefined {
  if (span === undefined) return undefined;
  return cacheObserver()?.lookUp(cache, call, span) ?? {
    waits() {},
    ends: (result) => span.setAttribute("app.cache.result", result),
  };
}

/**
 * Records why a request goes past a response cache.
 *
 * @param why The reason, such as `the request has Cache-Control: no-store`.
 */
export function noteBypass(why: string): void {
  if (cacheObserver() === undefined) return;
  const reason = { "app.reason": `not cached: ${why}` };
  currentScope()?.span?.child("cache.bypass", "data", reason).end();
}
