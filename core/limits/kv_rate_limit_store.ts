/**
 * Rate limits in Deno KV.
 *
 * ```
 *   [name, "count", rule, hash of the key]   { end, count }, until the window ends
 *   [name, "mark", hash of its name]         { end }, as long as the mark lasts
 * ```
 *
 * Deno KV has no clock that can be read, and deletes expired entries a minute
 * late. So windows end by the clocks of the processes, which must agree.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  aTimeout,
  required,
  withMethods,
} from "../check/rules.ts";
import { keyHash } from "../key_part.ts";
import { toDelay } from "../promises.ts";
import { createKvBatches } from "./kv_batches.ts";
import type { RateLimitKv, RateLimitKvKey } from "./rate_limit_kv.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

export type * from "./rate_limit_kv.ts";
export type * from "./rate_limit_store.ts";

/** Options of {@linkcode createKvRateLimitStore}. */
export interface KvRateLimitStoreOptions {
  /** The database. The store never closes it. */
  readonly kv: RateLimitKv;
  /**
   * The first part of all keys. Processes with the same name share their limits.
   */
  readonly name: string;
  /** How long to wait for Deno KV, in seconds. Default: 1. */
  readonly timeout?: number;
  /**
   * Called once for each outage, with an `UnavailableError`. Default:
   * `console.error`.
   */
  readonly onError?: (error: Error) => unknown;
  /** The clock, in milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<KvRateLimitStoreOptions> = {
  kv: required(
    withMethods("a database from Deno.openKv()", "getMany", "atomic"),
  ),
  name: required(aNonEmptyString),
  timeout: aTimeout("seconds"),
  onError: aFunction,
  now: aFunction,
};

/**
 * Creates a store of rate limits in Deno KV, for `rateLimit()` and
 * `rateLimitSignIn()`. One store serves any number of limits with different
 * names. Keys are hashed, so that the database doesn't hold e-mail addresses as
 * text.
 *
 * Windows end by the clocks of the processes. While a clock is wrong by a minute,
 * a window may end a minute early for it, and a minute late for the others.
 *
 * Processes that change the same keys at the same time wait for each other. In
 * one process, simultaneous events share a transaction.
 *
 * @param options The database, and the name of the store.
 * @throws {TypeError} If `kv` isn't a database, or another option is wrong.
 *
 * @example
 * ```ts
 * import { procedure, rateLimit } from "@quartet/kit/rpc";
 * import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
 *
 * using kv = await Deno.openKv(":memory:");
 * const store = createKvRateLimitStore({ kv, name: "shop" });
 *
 * const limited = procedure.use(
 *   rateLimit({ limit: 100, windowMs: 60_000, store, name: "search" }),
 * );
 * console.assert(limited.query(() => "found").kind === "query");
 * ```
 */
export function createKvRateLimitStore(
  options: KvRateLimitStoreOptions,
): RateLimitStore {
  checkOptions(options, OPTIONS, "create rate limit store");
  const { kv, name, timeout = 1, onError, now = Date.now } = options;
  const run = createKvBatches(kv, toDelay(timeout), now, onError);

  const countKey = (
    { rule, key }: RateLimitKey,
  ): RateLimitKvKey => [name, "count", rule.name, keyHash(key)];
  const markKey = (
    mark: string,
  ): RateLimitKvKey => [name, "mark", keyHash(mark)];

  function take(keys: readonly RateLimitKey[]): Promise<RateLimitResult> {
    const places = keys.map((each) => ({
      rule: each.rule,
      key: countKey(each),
      mark: each.unless === undefined ? undefined : markKey(each.unless),
    }));
    const all = places.flatMap(({ key, mark }) =>
      mark === undefined ? [key] : [key, mark]
    );
    return run(all, (table, time) => {
      let wait = 0;
      const windows = places.map(({ rule, key, mark }) => {
        if (mark !== undefined && table.get(mark) !== undefined) return;
        const window = table.get(key) ??
          { end: time + rule.windowMs, count: 0 };
        if (window.count >= rule.max) {
          // The clock that opened the window may be ahead.
          const left = Math.min(window.end - time, rule.windowMs);
          wait = Math.max(wait, left);
        }
        return window;
      });
      if (wait > 0) return { wait, windows: [] };
      for (const [i, { key }] of places.entries()) {
        const window = windows[i];
        if (window === undefined) continue;
        table.set(key, { ...window, count: window.count + 1 });
      }
      return { wait, windows: windows.map((window) => window?.end) };
    });
  }

  function settle(
    { keys, windows, clear, mark }: RateLimitSettlement,
  ): Promise<void> {
    const counted = keys.map(countKey);
    const cleared = clear && countKey(clear);
    const marked = mark && markKey(mark.name);
    const all = [...counted, cleared, marked].filter((key) =>
      key !== undefined
    );
    return run(all, (table, time) => {
      for (const [i, key] of counted.entries()) {
        const window = table.get(key);
        if (window === undefined || window.end !== windows[i]) continue;
        table.set(key, { ...window, count: Math.max(0, window.count - 1) });
      }
      const window = cleared && table.get(cleared);
      if (window !== undefined) table.set(cleared!, { ...window, count: 0 });
      if (marked === undefined) return;
      table.set(marked, { end: time + mark!.ms, count: 0 });
    });
  }

  return { take, settle };
}
