/**
 * The computations of one cache: one at a time for each key, whose result is
 * kept if nothing of it was invalidated since it began.
 *
 * @module
 */

import { runSpan } from "../core/observe.ts";
import type { RequestScope } from "../core/request_scope.ts";
import type { Call } from "./call.ts";
import { Flight } from "./flight.ts";
import type { CacheRecord } from "./store.ts";
import type { ErrorListener, Lock, StoreGuard } from "./store_guard.ts";
import type { Surroundings } from "./surroundings.ts";
import { withinTimeout } from "./timeout.ts";
import { pathOfScope } from "./paths.ts";
import type { Validity } from "./validity.ts";

/** How long callers wait for a computation that somebody else began, in ms. */
const JOIN_LIMIT = 30_000;

/**
 * How often in succession a process waits for others that hold the lock and
 * then fail, or die. Each wait takes as long as the lock is held at most.
 */
const MAX_WAITS = 2;

/** The computations of one cache. */
export class Flights {
  readonly #store: StoreGuard;
  readonly #validity: Validity;
  readonly #surroundings: Surroundings;
  readonly #onError: ErrorListener;
  readonly #flights = new Map<string, Flight>();

  /** Begins with none. */
  constructor(
    store: StoreGuard,
    validity: Validity,
    surroundings: Surroundings,
    onError: ErrorListener,
  ) {
    this.#store = store;
    this.#validity = validity;
    this.#surroundings = surroundings;
    this.#onError = onError;
  }

  /** The computation of a key to wait for: one under way, or a new one. */
  join(call: Call, scope: RequestScope | undefined): Flight {
    return this.#find(call, scope) ?? this.#begin(call, scope);
  }

  /** Computes behind a value that was given already. */
  refresh(call: Call, scope: RequestScope | undefined): void {
    if (this.#find(call, scope) !== undefined) return;
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

  /** The one under way, unless what it will give is stale already. */
  #find({ key }: Call, scope: RequestScope | undefined): Flight | undefined {
    const flight = this.#flights.get(key);
    return flight !== undefined &&
        this.#surroundings.now() - flight.since <= JOIN_LIMIT &&
        this.#validity.isValid(flight, scope)
      ? flight
      : undefined;
  }

  #begin(call: Call, scope: RequestScope | undefined): Flight {
    const { key, scopeKey, policy } = call;
    const { tags, paths } = policy;
    const path = pathOfScope(scope);
    const flight = new Flight(
      this,
      {
        scopeKey,
        tags,
        paths: path === undefined || paths.includes(path)
          ? paths
          : [...paths, path],
      },
      this.#validity.sequence,
      this.#surroundings.now(),
    );
    const { promise, resolve } = Promise.withResolvers<unknown>();
    flight.promise = promise;
    // Before the function runs: it may ask for its own key.
    this.#flights.set(key, flight);
    const leave = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    promise.then(leave, leave);
    const computed = this.#store.isShared
      ? this.#fetch(flight, call, scope)
      : this.#compute(flight, call);
    resolve(withinTimeout(computed, call));
    return flight;
  }

  /** Asks the store first, then computes while no other process does. */
  async #fetch(
    flight: Flight,
    call: Call,
    scope: RequestScope | undefined,
  ): Promise<unknown> {
    const { key } = call;
    const isFound = (record: CacheRecord | undefined) =>
      record !== undefined && this.#validity.isValid(record, scope) &&
      this.#surroundings.now() < record.freshUntil;
    let lock: Lock | undefined;
    let release: (() => unknown) | undefined;
    for (let waits = 0;; waits++) {
      const record = await this.#store.get(key);
      if (isFound(record)) {
        release?.();
        flight.include(record!, this);
        flight.end();
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
    flight.began = this.#validity.sequence;
    flight.before = this.#store.peek(call.key);
    try {
      const value = await flight.run(call);
      const kept = this.#keep(flight, call, value);
      // Callers don't wait for the store; the next process waits for the lock.
      if (kept instanceof Promise && release !== undefined) {
        kept.then(release);
        release = undefined;
      }
      return value;
    } finally {
      flight.end();
      release?.();
    }
  }

  #keep(
    flight: Flight,
    { key, policy, lifetime }: Call,
    value: unknown,
  ): void | Promise<unknown> {
    const maxAge = lifetime(value, policy);
    if (maxAge === 0 || !this.#validity.isValid(flight)) return;
    // A computation that was given up may end after a later one has begun, or
    // has ended: what that one found is newer.
    const later = this.#flights.get(key);
    if (later !== undefined && later !== flight) return;
    const other = this.#store.peek(key);
    if (other !== undefined && other !== flight.before) return;
    const { now, random } = this.#surroundings;
    const { began, scopeKey, tags, paths, keys } = flight;
    const share = policy.jitter === 0 ? 1 : 1 - policy.jitter * random();
    const freshUntil = maxAge === Infinity ? Infinity : now() + maxAge * share;
    return this.#store.set(key, {
      value: policy.clone ? structuredClone(value) : value,
      scopeKey,
      tags,
      paths,
      keys,
      began,
      freshUntil,
      keepUntil: freshUntil +
        Math.max(policy.staleWhileRevalidate, policy.staleIfError),
      checked: this.#validity.version,
    });
  }
}
