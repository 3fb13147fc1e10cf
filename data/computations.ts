/**
 * The in-flight computations of one cache, one per key. A result is stored unless
 * one of its scopes was invalidated after the computation began.
 *
 * @module
 */

import { runSpan } from "../core/observe.ts";
import { currentScope } from "../core/request_scope.ts";
import { checkRereadable, cloneValue } from "./cacheable_value.ts";
import { CacheError } from "./error.ts";
import { lookUp, type ObservedCache } from "./cache_observer.ts";
import { type Call, InFlight, type ScopedCall } from "./in_flight.ts";
import { type Dependencies, isValidForPath } from "./invalidation_log.ts";
import { pathOfScope } from "./paths.ts";
import type { CacheRecord, Lock } from "./store.ts";
import type { ErrorListener } from "./store_guard.ts";
import { withTimeout } from "../core/promises.ts";

/** How long callers join a computation after its start, in milliseconds. */
const JOIN_LIMIT = 30_000;

/**
 * How many times a process waits for others that take the lock and then fail. A
 * wait lasts as long as a lock at most.
 */
const MAX_WAITS = 3;

/** The parts of a cache that its computations use. */
export interface Parts extends ObservedCache {
  readonly random: () => number;
  readonly onError: ErrorListener;
}

/** Creates the in-flight computations of one cache. */
export function createComputations(parts: Parts) {
  const { store, now, random, onError } = parts;
  const log = store.invalidations;
  const byKey = new Map<string, InFlight>();

  /** Returns the key's computation. Starts one if there is none to join. */
  const join = (call: Call): InFlight => find(call.key) ?? begin(call);

  /** Computes in the background, after a caller got a stale value. */
  function refresh(call: Call): void {
    if (find(call.key) !== undefined) return;
    // The request may end before the computation, and its trace with it.
    const open = currentScope()?.span?.root.continuation();
    const traced = () =>
      runSpan(open!("cache.refresh", "data"), (span) => {
        lookUp(parts, call, span);
        return call.compute();
      });
    const { computed } = begin(
      open === undefined ? call : { ...call, compute: traced },
    );
    store.addRefresh(
      computed.catch((error) => onError(error, "refresh a value")),
    );
  }

  /**
   * Returns the key's computation, unless its result is already invalid. It gets
   * the scopes of a part only when it gets the part, so these are checked too.
   */
  function find(key: string): InFlight | undefined {
    const found = byKey.get(key);
    return found !== undefined &&
        now() - found.since <= JOIN_LIMIT &&
        Array.from(found.awaited()).every(isValid)
      ? found
      : undefined;
  }

  function isValid(value: Dependencies): boolean {
    return log.isValid(value) &&
      isValidForPath(log, value.began, currentScope());
  }

  function begin(call: Call): InFlight {
    const { key, isAlone = false } = call;
    const scopes = { ...scopesOf(call), began: log.sequence };
    const inFlight = new InFlight(parts, call, scopes, now());
    const { promise, resolve, reject } = inFlight.shared;
    // Before the function runs, because it may ask for its own key.
    byKey.set(key, inFlight);
    const leave = () => {
      if (byKey.get(key) === inFlight) byKey.delete(key);
    };
    promise.then(leave, leave);
    const work = store.isShared && !isAlone ? claimOrCompute : compute;
    inFlight.computed = limitTime(call, work(inFlight));
    inFlight.computed.then(resolve, reject);
    return inFlight;
  }

  /** Asks the shared store, then computes while no other process does. */
  async function claimOrCompute(inFlight: InFlight): Promise<unknown> {
    const { key } = inFlight.call;
    const isUsable = (record: CacheRecord) =>
      isValid(record) && now() < record.freshUntil;
    for (let waits = 0;; waits++) {
      const { record, lock, released } = await store.claim(key, isUsable);
      if (record !== undefined) {
        inFlight.include(record, parts);
        inFlight.end();
        inFlight.result = "hit";
        return record.value;
      }
      // After too many waits, it computes even if another process does.
      if (released === undefined || waits === MAX_WAITS) {
        return await compute(inFlight, lock);
      }
      await released;
    }
  }

  async function compute(inFlight: InFlight, lock?: Lock): Promise<unknown> {
    const { key } = inFlight.call;
    // From here on, the function may read data that is invalidated later. See the
    // drawing in invalidation_log.ts.
    inFlight.began = log.sequence;
    inFlight.before = store.peek(key);
    try {
      const value = await inFlight.run(() => {
        inFlight.shared.resolve(undefined);
        if (lock !== undefined) store.release(lock);
      });
      checkRereadable(key, value);
      keep(inFlight, value, lock);
      return value;
    } finally {
      inFlight.end();
      // Callers don't wait for this. Storing the value has already released it.
      if (lock !== undefined) store.release(lock);
    }
  }

  function keep(
    inFlight: InFlight,
    value: unknown,
    lock: Lock | undefined,
  ): void {
    const { call } = inFlight;
    const { key, scopeKey, policy, mayBeStale } = call;
    const maxAge = call.lifetime(value, policy);
    if (maxAge === 0) {
      inFlight.obstacle = call.obstacle?.() ?? "negativeMaxAge is 0";
      // Otherwise the expired value would be served instead of this one.
      const { before } = inFlight;
      if (before && log.isValid(before)) store.invalidate({ keys: [scopeKey] });
      return;
    }
    if (!log.isValid(inFlight)) {
      inFlight.obstacle = "it was invalidated while it was computed";
      return;
    }
    // A computation that timed out may end after a later one, whose result is
    // newer.
    const stored = store.peek(key);
    if (
      (byKey.get(key) ?? inFlight) !== inFlight ||
      (stored !== undefined && stored !== inFlight.before)
    ) {
      inFlight.obstacle = "a later call has computed it too";
      return;
    }
    const { began, tags, paths, keys } = inFlight;
    const share = policy.jitter === 0 ? 1 : 1 - policy.jitter * random();
    const freshUntil = maxAge === Infinity ? Infinity : now() + maxAge * share;
    store.set(key, {
      value: policy.clone ? cloneValue(key, value) : value,
      scopeKey,
      tags: toArray(tags),
      paths: toArray(paths),
      keys: keys && toArray(keys),
      began,
      freshUntil,
      keepUntil: mayBeStale?.(value) === false ? freshUntil : freshUntil +
        Math.max(policy.staleWhileRevalidate, policy.staleIfError),
      checked: log.version,
    }, lock);
  }

  return { join, refresh, scopesOf };
}

/** Returns the scopes of a call's value. */
function scopesOf({ scopeKey, policy: { tags, paths } }: ScopedCall) {
  const path = pathOfScope(currentScope());
  const isNew = path !== undefined && !paths.includes(path);
  return { scopeKey, tags, paths: isNew ? [...paths, path] : paths };
}

/** Returns an array as it is, because records of one function share theirs. */
function toArray(names: Iterable<string>): readonly string[] {
  return Array.isArray(names) ? names : [...names];
}

/** Returns the result of a call, or rejects after the call's `timeout`. */
export function limitTime(
  { key, policy: { timeout } }: Call,
  computed: Promise<unknown>,
): Promise<unknown> {
  return withTimeout(computed, timeout, () =>
    new CacheError(
      "TIMEOUT",
      `Cannot compute ${
        JSON.stringify(key)
      }: it took longer than ${timeout} ms`,
    ));
}
