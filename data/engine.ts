/**
 * What happens at a call: a hit, a stale hit, or a computation that all callers
 * of the key share.
 *
 * ```
 *             ┌─ fresh ─────────────▶ its value
 *   record ───┼─ stale, in time ────▶ its value, and a computation behind it
 *             └─ none, or invalid ──▶ join the computation of the key, or begin
 *                                       │
 *                     store's record ◀──┤ (a store beyond memory is asked first)
 *                                       ▼
 *               keep it, if nothing of it was invalidated since it began
 * ```
 *
 * @module
 */

import { WatchScope } from "../core/watch_scope.ts";
import { observe } from "../core/observe.ts";
import { currentScope, type RequestScope } from "../core/request_scope.ts";
import type { ObservedSpan } from "../core/observed_span.ts";
import type { Call, Result } from "./call.ts";
import { CacheError } from "./error.ts";
import { currentFlight, type Flight } from "./flight.ts";
import { Flights } from "./flights.ts";
import type { Policy } from "./options.ts";
import { refusePersonal } from "./personal.ts";
import type { CacheRecord } from "./store.ts";
import type { ErrorListener, StoreGuard } from "./store_guard.ts";
import type { Surroundings } from "./surroundings.ts";
import { withinTimeout } from "./timeout.ts";
import { isDoneWithin } from "./timing.ts";
import { Validity } from "./validity.ts";

/** The calls of one cache. */
export class Engine {
  readonly counts: Record<Result, number> = { hit: 0, stale: 0, miss: 0 };
  readonly #store: StoreGuard;
  readonly #validity: Validity;
  readonly #flights: Flights;
  readonly #now: () => number;

  constructor(
    store: StoreGuard,
    surroundings: Surroundings,
    onError: ErrorListener,
  ) {
    this.#store = store;
    this.#validity = new Validity(store.scopes);
    this.#flights = new Flights(store, this.#validity, surroundings, onError);
    this.#now = surroundings.now;
  }

  /** The value, if it is at hand and nobody traces; all that a hit costs. */
  hit(key: string): Promise<unknown> | undefined {
    const scope = currentScope();
    if (scope !== undefined && scope.span !== undefined) return undefined;
    const record = this.#store.peek(key);
    if (
      record === undefined || !this.#validity.isRecordValid(record, scope)
    ) return undefined;
    const { freshUntil } = record;
    if (freshUntil !== Infinity && freshUntil <= this.#now()) return undefined;
    this.counts.hit++;
    if (scope !== undefined) {
      currentFlight(scope)?.include(record, this.#flights);
    }
    return Promise.resolve(record.value);
  }

  /** The value, if it is at hand and fresh; it counts as a hit. */
  peek(key: string): unknown {
    const record = this.#store.peek(key);
    if (
      record === undefined ||
      !this.#validity.isRecordValid(record, currentScope()) ||
      record.freshUntil <= this.#now()
    ) return undefined;
    this.counts.hit++;
    return record.value;
  }

  /** The stored value, if it is valid. It may be stale. */
  find(key: string): unknown {
    const record = this.#store.peek(key);
    return record !== undefined &&
        this.#validity.isRecordValid(record, currentScope())
      ? record.value
      : undefined;
  }

  /** Whether the calling code is part of computing the value. */
  isComputing(key: string): boolean {
    for (let scope = currentScope(); scope; scope = scope.outer) {
      if (currentFlight(scope)?.isOf(this.#flights, key)) return true;
    }
    return false;
  }

  /** A call that is not known to be a hit. */
  call(call: Call): Promise<unknown> {
    const scope = currentScope();
    if (scope?.span === undefined) return this.#resolve(call, scope, undefined);
    return observe("cache.get", "data", (span) => {
      span?.setAttribute("app.cache.key", call.key);
      return this.#resolve(call, scope, span);
    });
  }

  /** A call of which nothing is kept. */
  async pass(call: Call): Promise<unknown> {
    const { key, scopeKey, policy } = call;
    this.counts.miss++;
    currentFlight()?.include({ scopeKey, ...policy }, this.#flights);
    return await observe("cache.get", "data", (span) => {
      span?.setAttribute("app.cache.key", key);
      span?.setAttribute("app.cache.result", "miss");
      const { onAsked, check } = refusePersonal(key);
      const scope = new WatchScope(onAsked);
      const computed = scope.run(() => check(call.compute));
      return withinTimeout(computed.finally(() => scope.end()), call);
    });
  }

  #resolve(
    call: Call,
    scope: RequestScope | undefined,
    span: ObservedSpan | undefined,
  ): Promise<unknown> {
    const { key, policy } = call;
    const now = this.#now();
    const record = this.#store.peek(key);
    const isValid = record !== undefined &&
      this.#validity.isRecordValid(record, scope);
    if (isValid && now < record.freshUntil) {
      return this.#give(record.value, record, "hit", policy, span);
    }
    if (isValid && now < record.freshUntil + policy.staleWhileRevalidate) {
      this.#flights.refresh(call, scope);
      return this.#give(record.value, record, "stale", policy, span);
    }
    const flight = this.#flights.join(call, scope);
    return this.#await(flight, call, scope, span, record);
  }

  #give(
    value: unknown,
    from: CacheRecord | Flight,
    result: Result,
    policy: Policy,
    span: ObservedSpan | undefined,
  ): Promise<unknown> {
    this.counts[result]++;
    span?.setAttribute("app.cache.result", result);
    currentFlight()?.include(from, this.#flights);
    return policy.clone ? copy(value) : Promise.resolve(value);
  }

  /**
   * Waits for a computation, unless it fails or takes its time and there is an
   * old value to fall back upon.
   */
  async #await(
    flight: Flight,
    { key, policy }: Call,
    scope: RequestScope | undefined,
    span: ObservedSpan | undefined,
    old: CacheRecord | undefined,
  ): Promise<unknown> {
    // Its store may have had an old value that memory did not.
    const isUsable = () =>
      (old ??= this.#store.peek(key)) !== undefined &&
      this.#validity.isRecordValid(old, scope) &&
      this.#now() < old.freshUntil + policy.staleIfError;
    try {
      const { staleAfter } = policy;
      const inTime = staleAfter === undefined || !isUsable() ||
        await isDoneWithin(flight.promise, staleAfter);
      // The old value may have been invalidated while we were waiting.
      if (!inTime && isUsable()) {
        return await this.#give(old!.value, old!, "stale", policy, span);
      }
      const value = await waitFor(flight, key);
      return await this.#give(value, flight, flight.result, policy, span);
    } catch (error) {
      if (isUsable()) {
        return this.#give(old!.value, old!, "stale", policy, span);
      }
      this.counts.miss++;
      span?.setAttribute("app.cache.result", "miss");
      throw error;
    }
  }
}

/** Waits for a computation, unless that waits for the one that wants to. */
function waitFor(flight: Flight, key: string): Promise<unknown> {
  const own = currentFlight();
  if (own === undefined) return flight.promise;
  if (!own.isAwaitedBy(flight)) return own.waitFor(flight);
  throw new CacheError(
    "RECURSION",
    `Cannot compute ${
      JSON.stringify(key)
    }: it must not wait for its own result, and its function does`,
  );
}

/** `async`, so that what can't be copied is a rejection. */
async function copy(value: unknown): Promise<unknown> {
  return await structuredClone(value);
}
