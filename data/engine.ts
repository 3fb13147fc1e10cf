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

import { currentScope, observe, runSpan } from "../app/scope.ts";
import type { ObservedSpan, Scope } from "../app/scope.ts";
import type { Call, Flight, Result, Surroundings } from "./call.ts";
import { CacheError } from "./error.ts";
import { isDoneWithin, withTimeout } from "./timing.ts";
import { pathOfContext } from "./paths.ts";
import type { Policy } from "./options.ts";
import type { ScopeTable } from "./scope_table.ts";
import type { CacheRecord } from "./store.ts";
import type { ErrorListener, Lock, StoreGuard } from "./store_guard.ts";

/** How long callers wait for a computation that somebody else began, in ms. */
const JOIN_LIMIT = 30_000;

/**
 * How often in succession a process waits for others that hold the lock and
 * then fail, or die. Each wait takes as long as the lock is held at most.
 */
const MAX_WAITS = 2;

/** The calls of one cache. */
export class Engine {
  readonly counts: Record<Result, number> = { hit: 0, stale: 0, miss: 0 };
  readonly #store: StoreGuard;
  readonly #table: ScopeTable;
  readonly #flights = new Map<string, Flight>();
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #onError: ErrorListener;

  constructor(
    store: StoreGuard,
    { now, random }: Surroundings,
    onError: ErrorListener,
  ) {
    this.#store = store;
    this.#table = store.scopes;
    this.#now = now;
    this.#random = random;
    this.#onError = onError;
  }

  /** The value, if it is at hand and nobody traces; all that a hit costs. */
  hit(key: string): Promise<unknown> | undefined {
    const scope = currentScope();
    if (scope !== undefined && scope.span !== undefined) return undefined;
    const record = this.#store.peek(key);
    if (record === undefined || !this.#isValid(record, scope)) return undefined;
    const { freshUntil } = record;
    if (freshUntil !== Infinity && freshUntil <= this.#now()) return undefined;
    this.counts.hit++;
    return Promise.resolve(record.value);
  }

  /** The value, if it is at hand and fresh; it counts as a hit. */
  peek(key: string): unknown {
    const record = this.#store.peek(key);
    if (
      record === undefined || !this.#isValid(record, currentScope()) ||
      record.freshUntil <= this.#now()
    ) return undefined;
    this.counts.hit++;
    return record.value;
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
  async pass(key: string, compute: () => unknown): Promise<unknown> {
    this.counts.miss++;
    return await observe("cache.get", "data", (span) => {
      span?.setAttribute("app.cache.key", key);
      span?.setAttribute("app.cache.result", "miss");
      return compute();
    });
  }

  #resolve(
    call: Call,
    scope: Scope | undefined,
    span: ObservedSpan | undefined,
  ): Promise<unknown> {
    const { key, policy } = call;
    const now = this.#now();
    const record = this.#store.peek(key);
    const isValid = record !== undefined && this.#isValid(record, scope);
    if (isValid && now < record.freshUntil) {
      return this.#give(record.value, "hit", policy, span);
    }
    if (isValid && now < record.freshUntil + policy.staleWhileRevalidate) {
      this.#refresh(call, scope);
      return this.#give(record.value, "stale", policy, span);
    }
    const flight = this.#join(call, scope) ?? this.#begin(call, scope);
    return this.#await(flight, call, scope, span, record);
  }

  #give(
    value: unknown,
    result: Result,
    policy: Policy,
    span: ObservedSpan | undefined,
  ): Promise<unknown> {
    this.counts[result]++;
    span?.setAttribute("app.cache.result", result);
    return policy.clone ? copy(value) : Promise.resolve(value);
  }

  /**
   * Waits for a computation, unless it fails or takes its time and there is an
   * old value to fall back upon.
   */
  async #await(
    flight: Flight,
    { key, policy }: Call,
    scope: Scope | undefined,
    span: ObservedSpan | undefined,
    old: CacheRecord | undefined,
  ): Promise<unknown> {
    // Its store may have had an old value that memory did not.
    const isUsable = () =>
      (old ??= this.#store.peek(key)) !== undefined &&
      this.#isValid(old, scope) &&
      this.#now() < old.freshUntil + policy.staleIfError;
    try {
      const { staleAfter } = policy;
      const inTime = staleAfter === undefined || !isUsable() ||
        await isDoneWithin(flight.promise, staleAfter);
      // The old value may have been invalidated while we were waiting.
      if (!inTime && isUsable()) {
        return await this.#give(old!.value, "stale", policy, span);
      }
      const value = await flight.promise;
      return await this.#give(value, flight.result, policy, span);
    } catch (error) {
      if (isUsable()) return this.#give(old!.value, "stale", policy, span);
      this.counts.miss++;
      span?.setAttribute("app.cache.result", "miss");
      throw error;
    }
  }

  /** The computation of the key, unless what it will give is stale already. */
  #join(call: Call, scope: Scope | undefined): Flight | undefined {
    const flight = this.#flights.get(call.key);
    if (flight === undefined || this.#now() - flight.since > JOIN_LIMIT) {
      return undefined;
    }
    const isValid = this.#table.isValid(flight) &&
      this.#isNewerThanPath(flight.began, scope);
    return isValid ? flight : undefined;
  }

  /** Computes behind a value that was given already. */
  #refresh(call: Call, scope: Scope | undefined): void {
    if (this.#join(call, scope) !== undefined) return;
    const { compute, key } = call;
    const open = scope?.span?.root.continuation();
    const flight = this.#begin({
      ...call,
      // The request may be over before it is done, and its trace too.
      compute: open === undefined
        ? compute
        : () =>
          runSpan(open("cache.refresh", "data", { "app.cache.key": key }), () =>
            compute()),
    }, scope);
    flight.promise.catch((error) => this.#onError(error, "refresh a value"));
  }

  #begin(call: Call, scope: Scope | undefined): Flight {
    const { key, scopeKey, policy } = call;
    const path = requestPath(scope);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const flight: Flight = {
      began: this.#table.sequence,
      scopeKey,
      tags: policy.tags,
      paths: path === undefined || policy.paths.includes(path)
        ? policy.paths
        : [...policy.paths, path],
      since: this.#now(),
      before: undefined,
      result: "miss",
      promise,
    };
    // Before the function runs: it may ask for its own key.
    this.#flights.set(key, flight);
    const leave = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    promise.then(leave, leave);
    const computed = this.#store.isShared
      ? this.#fetch(flight, call, scope)
      : this.#compute(flight, call);
    const { timeout } = policy;
    resolve(
      timeout === undefined
        ? computed
        : withTimeout(computed, timeout, () =>
          new CacheError(
            "TIMEOUT",
            `Cannot compute ${
              JSON.stringify(key)
            }: it must be done within ${timeout} ms`,
          )),
    );
    return flight;
  }

  /** Asks the store first, then computes while no other process does. */
  async #fetch(
    flight: Flight,
    call: Call,
    scope: Scope | undefined,
  ): Promise<unknown> {
    const { key } = call;
    const isFound = (record: CacheRecord | undefined) =>
      record !== undefined && this.#isValid(record, scope) &&
      this.#now() < record.freshUntil;
    let lock: Lock | undefined;
    let release: (() => unknown) | undefined;
    for (let waits = 0;; waits++) {
      const record = await this.#store.get(key);
      if (isFound(record)) {
        release?.();
        flight.result = "hit";
        return record!.value;
      }
      // The second look is for what was kept just before the lock was ours. A
      // process that waited in vain too often computes beside the others.
      if (lock !== undefined || waits > MAX_WAITS) break;
      const taken = lock = await this.#store.lock(key);
      if (lock === "none") break;
      if (typeof taken === "function") {
        release = () => this.#store.release(taken);
      }
    }
    return await this.#compute(flight, call, release);
  }

  async #compute(
    flight: Flight,
    call: Call,
    release?: () => unknown,
  ): Promise<unknown> {
    // From here on the function reads; what is invalidated later, it may have
    // read before. See the drawing in scope_table.ts.
    flight.began = this.#table.sequence;
    flight.before = this.#store.peek(call.key);
    try {
      const value = await call.compute();
      const kept = this.#keep(flight, call, value);
      // Callers don't wait for the store; the next process waits for the lock.
      if (kept instanceof Promise && release !== undefined) {
        kept.then(release);
        release = undefined;
      }
      return value;
    } finally {
      release?.();
    }
  }

  #keep(
    flight: Flight,
    { key, policy, lifetime }: Call,
    value: unknown,
  ): void | Promise<unknown> {
    const maxAge = lifetime(value, policy);
    if (maxAge === 0 || !this.#table.isValid(flight)) return;
    // A computation that was given up may end after a later one has begun, or
    // has ended: what that one found is newer.
    const later = this.#flights.get(key);
    if (later !== undefined && later !== flight) return;
    const other = this.#store.peek(key);
    if (other !== undefined && other !== flight.before) return;
    const { began, scopeKey, tags, paths } = flight;
    const share = policy.jitter === 0 ? 1 : 1 - policy.jitter * this.#random();
    const freshUntil = maxAge === Infinity
      ? Infinity
      : this.#now() + maxAge * share;
    return this.#store.set(key, {
      value: policy.clone ? structuredClone(value) : value,
      scopeKey,
      tags,
      paths,
      began,
      freshUntil,
      keepUntil: freshUntil +
        Math.max(policy.staleWhileRevalidate, policy.staleIfError),
      checked: this.#table.version,
    });
  }

  #isValid(record: CacheRecord, scope: Scope | undefined): boolean {
    const { version } = this.#table;
    if (record.checked !== version) {
      if (!this.#table.isValid(record)) return false;
      record.checked = version;
    }
    return this.#isNewerThanPath(record.began, scope);
  }

  /**
   * A value also belongs to the path of the request that asks for it, though it
   * may have been computed for another one or none.
   */
  #isNewerThanPath(began: number, scope: Scope | undefined): boolean {
    if (scope === undefined || began >= this.#table.pathSequence) return true;
    const path = requestPath(scope);
    return path === undefined || this.#table.lastOfPath(path) <= began;
  }
}

function requestPath(scope: Scope | undefined): string | undefined {
  const context = scope?.context;
  return context === undefined ? undefined : pathOfContext(context);
}

/** `async`, so that what can't be copied is a rejection. */
async function copy(value: unknown): Promise<unknown> {
  return await structuredClone(value);
}
