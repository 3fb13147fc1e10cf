/**
 * Resolves calls: with a hit, a stale hit, or a computation that all callers of
 * the key share.
 *
 * ```
 *             ┌─ fresh ─────────────▶ its value
 *   record ───┼─ stale, in time ────▶ its value, and a background refresh
 *             └─ none, or invalid ──▶ join the in-flight computation, or begin
 *                                       │
 *                     store's record ◀──┤ (a shared store is asked first)
 *                                       ▼
 *               stored, unless one of its scopes was invalidated meanwhile
 * ```
 *
 * @module
 */

import { observe } from "../core/observe.ts";
import { currentScope, type RequestScope } from "../core/request_scope.ts";
import { type LookUp, lookUp } from "./cache_observer.ts";
import { createComputations, limitTime, type Parts } from "./computations.ts";
import { cloneValue } from "./cacheable_value.ts";
import { CacheError, type CacheErrorCode } from "./error.ts";
import {
  type Call,
  currentInFlight,
  type InFlight,
  type Result,
  type ScopedCall,
} from "./in_flight.ts";
import { isRecordValid } from "./invalidation_log.ts";
import type { Policy } from "./options.ts";
import { SharedScope } from "./shared_scope.ts";
import type { CacheRecord } from "./store.ts";
import { settlesWithin } from "../core/promises.ts";

/** Why the cache refuses a result, for the trace. */
const REFUSED: Readonly<Record<CacheErrorCode, string>> = {
  TIMEOUT: "computing it took longer than timeout",
  RECURSION: "the function waits for its own result",
  NOT_DATA: "only one caller could read its value",
  PERSONAL: "the function asked for the user",
};

function whyFailed(error: unknown): string {
  return error instanceof CacheError
    ? REFUSED[error.code]
    : "computing it failed";
}

export type Engine = ReturnType<typeof createEngine>;

/** Creates the calls of one cache. */
export function createEngine(parts: Parts) {
  const { store, now } = parts;
  const computations = createComputations(parts);
  const counts: Record<Result, number> = { hit: 0, stale: 0, miss: 0 };

  /**
   * Returns the value if it is in memory and fresh, and the request isn't traced.
   * This is the fast path of most calls.
   */
  function hit(key: string): Promise<unknown> | undefined {
    if (store.isStrict) return undefined;
    const scope = currentScope();
    if (scope !== undefined && scope.span !== undefined) return undefined;
    const record = freshRecordOf(key, scope);
    return record && Promise.resolve(record.value);
  }

  /** Returns the value if it is in memory and fresh. Counts as a hit. */
  async function peek(key: string): Promise<unknown> {
    if (store.isStrict) await store.check();
    return freshRecordOf(key, currentScope())?.value;
  }

  /** Returns the value if it is in memory, even if it is stale. */
  const find = (key: string): unknown => recordOf(key, currentScope())?.value;

  /** Whether the calling code is part of computing the value. */
  function isComputing(key: string): boolean {
    for (let scope = currentScope(); scope; scope = scope.outer) {
      if (currentInFlight(scope)?.isOf(parts, key)) return true;
    }
    return false;
  }

  /** Resolves a call that `hit()` couldn't. */
  function call(call: Call): Promise<unknown> {
    return observe("cache.get", "data", (span) => {
      const begin = (call: Call) => resolve(call, lookUp(parts, call, span));
      return store.isStrict
        ? store.check().then((hasAnswered) =>
          begin(hasAnswered ? call : { ...call, isAlone: true })
        )
        : begin(call);
    });
  }

  /** Makes a value that isn't stored a part of the computation around, if any. */
  function depend(call: ScopedCall): void {
    currentInFlight()?.include(computations.scopesOf(call), parts);
  }

  /** Resolves a call whose value isn't stored. */
  async function pass(call: Call): Promise<unknown> {
    const { key, compute } = call;
    counts.miss++;
    depend(call);
    return await observe("cache.get", "data", (span) => {
      lookUp(parts, call, span)?.ends("miss");
      const scope = new SharedScope(key);
      const computed = scope.compute(compute).finally(() => scope.end());
      return limitTime(call, computed);
    });
  }

  function recordOf(
    key: string,
    scope: RequestScope | undefined,
  ): CacheRecord | undefined {
    const record = store.peek(key);
    return record !== undefined &&
        isRecordValid(store.invalidations, record, scope)
      ? record
      : undefined;
  }

  /** Returns the record if it is in memory and fresh. Counts as a hit. */
  function freshRecordOf(
    key: string,
    scope: RequestScope | undefined,
  ): CacheRecord | undefined {
    const record = recordOf(key, scope);
    if (record === undefined) return undefined;
    const { freshUntil } = record;
    // Reading the clock is a third of a hit.
    if (freshUntil !== Infinity && now() >= freshUntil) return undefined;
    counts.hit++;
    if (scope !== undefined) currentInFlight(scope)?.include(record, parts);
    return record;
  }

  function resolve(call: Call, look: LookUp | undefined): Promise<unknown> {
    const { key, policy } = call;
    const record = recordOf(key, currentScope());
    const age = record === undefined ? Infinity : now() - record.freshUntil;
    if (age < 0) return give(record!.value, record!, "hit", policy, look);
    if (age < policy.staleWhileRevalidate && now() < record!.keepUntil) {
      computations.refresh(call);
      return give(record!.value, record!, "stale", policy, look);
    }
    const inFlight = computations.join(call);
    look?.waits(inFlight);
    return awaitResult(inFlight, call, look, record);
  }

  function give(
    value: unknown,
    from: CacheRecord | InFlight,
    result: Result,
    policy: Policy,
    look: LookUp | undefined,
    why?: string,
  ): Promise<unknown> {
    counts[result]++;
    look?.ends(result, why);
    currentInFlight()?.include(from, parts);
    return policy.clone ? copy(from.scopeKey, value) : Promise.resolve(value);
  }

  /**
   * Waits for a computation. If it fails or takes too long, falls back to a stale
   * value.
   */
  async function awaitResult(
    inFlight: InFlight,
    call: Call,
    look: LookUp | undefined,
    old: CacheRecord | undefined,
  ): Promise<unknown> {
    const { key, policy } = call;
    const isUsable = () => {
      // A shared store may have had a stale value that memory didn't.
      old ??= recordOf(key, currentScope());
      return old !== undefined &&
        isRecordValid(store.invalidations, old, currentScope()) &&
        now() < Math.min(old.freshUntil + policy.staleIfError, old.keepUntil);
    };
    const giveOld = (why: string) =>
      give(old!.value, old!, "stale", policy, look, why);
    try {
      const result = waitFor(inFlight, call);
      const isLate = policy.staleAfter !== Infinity && isUsable() &&
        !await settlesWithin(result, policy.staleAfter);
      // The stale value may have been invalidated in the meantime.
      if (isLate && isUsable()) {
        return await giveOld("computing it takes longer than staleAfter");
      }
      const value = await result;
      return await give(value, inFlight, inFlight.result, policy, look);
    } catch (error) {
      if (isUsable()) return giveOld(whyFailed(error));
      counts.miss++;
      look?.ends("miss", whyFailed(error));
      throw error;
    }
  }

  return { counts, hit, peek, find, isComputing, call, depend, pass };
}

/**
 * Waits for a computation.
 *
 * @throws {CacheError} `RECURSION` if it waits for the one that asks.
 */
function waitFor(inFlight: InFlight, call: Call): Promise<unknown> {
  const own = currentInFlight();
  if (own === undefined) return inFlight.resultFor(call);
  if (!inFlight.awaited().has(own)) return own.waitFor(inFlight, call);
  const shown = JSON.stringify(call.key);
  throw new CacheError(
    "RECURSION",
    `Cannot compute ${shown}: the function waits for its own result`,
  );
}

/** `async`, so that a value that can't be cloned is a rejection. */
async function copy(key: string, value: unknown): Promise<unknown> {
  return await cloneValue(key, value);
}
