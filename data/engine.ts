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
import { Computations, limitTime, type Parts } from "./computations.ts";
import { cloneValue } from "./cacheable_value.ts";
import { CacheError, type CacheErrorCode } from "./error.ts";
import {
  type Call,
  currentInFlight,
  type InFlight,
  type Result,
} from "./in_flight.ts";
import { isRecordValid } from "./invalidation_log.ts";
import type { Policy } from "./options.ts";
import { SharedScope } from "./shared_scope.ts";
import type { CacheRecord } from "./store.ts";
import type { StoreGuard } from "./store_guard.ts";
import { settlesWithin } from "../core/runtime/timeouts.ts";

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

/** The calls of one cache. */
export class Engine {
  readonly counts: Record<Result, number> = { hit: 0, stale: 0, miss: 0 };
  readonly #parts: Parts;
  readonly #store: StoreGuard;
  readonly #computations: Computations;
  readonly #now: () => number;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.store;
    this.#now = parts.now;
    this.#computations = new Computations(parts);
  }

  /**
   * Returns the value if it is in memory and fresh, and the request isn't traced.
   * This is the fast path of most calls.
   */
  hit(key: string): Promise<unknown> | undefined {
    if (this.#store.isStrict) return undefined;
    const scope = currentScope();
    if (scope !== undefined && scope.span !== undefined) return undefined;
    const record = this.#find(key, scope);
    if (record === undefined || !this.#isFresh(record)) return undefined;
    this.counts.hit++;
    if (scope !== undefined) {
      currentInFlight(scope)?.include(record, this.#computations);
    }
    return Promise.resolve(record.value);
  }

  /** Returns the value if it is in memory and fresh. Counts as a hit. */
  async peek(key: string): Promise<unknown> {
    if (this.#store.isStrict) await this.#store.check();
    const record = this.#find(key, currentScope());
    if (record === undefined || !this.#isFresh(record)) return undefined;
    this.counts.hit++;
    return record.value;
  }

  /** Returns the value if it is in memory, even if it is stale. */
  find(key: string): unknown {
    return this.#find(key, currentScope())?.value;
  }

  /** Whether the calling code is part of computing the value. */
  isComputing(key: string): boolean {
    for (let scope = currentScope(); scope; scope = scope.outer) {
      if (currentInFlight(scope)?.isOf(this.#computations, key)) return true;
    }
    return false;
  }

  /** Resolves a call that {@linkcode hit} couldn't. */
  call(call: Call): Promise<unknown> {
    return observe("cache.get", "data", (span) => {
      const resolve = (call: Call) =>
        this.#resolve(call, lookUp(this.#parts, call, span));
      return this.#store.isStrict
        ? this.#store.check().then((hasAnswered) =>
          resolve(hasAnswered ? call : { ...call, isAlone: true })
        )
        : resolve(call);
    });
  }

  /** Resolves a call whose value isn't stored. */
  async pass(call: Call): Promise<unknown> {
    const { key, scopeKey, policy, compute } = call;
    this.counts.miss++;
    currentInFlight()?.include({ scopeKey, ...policy }, this.#computations);
    return await observe("cache.get", "data", (span) => {
      lookUp(this.#parts, call, span)?.ends("miss");
      const scope = new SharedScope(key, false);
      const computed = scope.compute(compute).finally(() => scope.end());
      return limitTime(call, computed);
    });
  }

  #find(key: string, scope: RequestScope | undefined): CacheRecord | undefined {
    const record = this.#store.peek(key);
    return record !== undefined &&
        isRecordValid(this.#store.invalidations, record, scope)
      ? record
      : undefined;
  }

  #isFresh({ freshUntil }: CacheRecord): boolean {
    // Reading the clock is a third of a hit.
    return freshUntil === Infinity || this.#now() < freshUntil;
  }

  #resolve(call: Call, look: LookUp | undefined): Promise<unknown> {
    const { key, policy } = call;
    const record = this.#find(key, currentScope());
    const age = record === undefined
      ? Infinity
      : this.#now() - record.freshUntil;
    if (age < 0) {
      return this.#give(record!.value, record!, "hit", policy, look);
    }
    if (age < policy.staleWhileRevalidate) {
      this.#computations.refresh(call);
      return this.#give(record!.value, record!, "stale", policy, look);
    }
    const inFlight = this.#computations.join(call);
    look?.waits(inFlight);
    return this.#await(inFlight, call, look, record);
  }

  #give(
    value: unknown,
    from: CacheRecord | InFlight,
    result: Result,
    policy: Policy,
    look: LookUp | undefined,
    why?: string,
  ): Promise<unknown> {
    this.counts[result]++;
    look?.ends(result, why);
    currentInFlight()?.include(from, this.#computations);
    return policy.clone ? copy(from.scopeKey, value) : Promise.resolve(value);
  }

  /**
   * Waits for a computation. If it fails or takes too long, falls back to a stale
   * value.
   */
  async #await(
    inFlight: InFlight,
    call: Call,
    look: LookUp | undefined,
    old: CacheRecord | undefined,
  ): Promise<unknown> {
    const { key, policy } = call;
    const isUsable = () => {
      // A shared store may have had a stale value that memory didn't.
      old ??= this.#find(key, currentScope());
      return old !== undefined &&
        isRecordValid(this.#store.invalidations, old, currentScope()) &&
        this.#now() < old.freshUntil + policy.staleIfError;
    };
    const giveOld = (why: string) =>
      this.#give(old!.value, old!, "stale", policy, look, why);
    try {
      const isLate = policy.staleAfter !== Infinity && isUsable() &&
        !await settlesWithin(inFlight.promise, policy.staleAfter);
      // The stale value may have been invalidated in the meantime.
      if (isLate && isUsable()) {
        return await giveOld("computing it takes longer than staleAfter");
      }
      const value = await waitFor(inFlight, key);
      return await this.#give(value, inFlight, inFlight.result, policy, look);
    } catch (error) {
      if (isUsable()) return giveOld(whyFailed(error));
      this.counts.miss++;
      look?.ends("miss", whyFailed(error));
      throw error;
    }
  }
}

/**
 * Waits for a computation.
 *
 * @throws {CacheError} `RECURSION` if it waits for the one that asks.
 */
function waitFor(inFlight: InFlight, key: string): Promise<unknown> {
  const own = currentInFlight();
  if (own === undefined) return inFlight.promise;
  if (!own.isAwaitedBy(inFlight)) return own.waitFor(inFlight);
  throw new CacheError(
    "RECURSION",
    `Cannot compute ${
      JSON.stringify(key)
    }: the function waits for its own result`,
  );
}

/** `async`, so that a value that can't be cloned is a rejection. */
async function copy(key: string, value: unknown): Promise<unknown> {
  return await cloneValue(key, value);
}
