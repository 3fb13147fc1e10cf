/**
 * Rate limits that several processes share, in Deno KV.
 *
 * @module
 */

export {
  createKvRateLimitStore,
  type KvRateLimitStoreOptions,
} from "../core/limits/kv_rate_limit_store.ts";
export type {
  RateLimitKv,
  RateLimitKvEntry,
  RateLimitKvKey,
  RateLimitKvTransaction,
} from "../core/limits/rate_limit_kv.ts";
export type {
  RateLimitKey,
  RateLimitResult,
  RateLimitRule,
  RateLimitSettlement,
  RateLimitStore,
  RateLimitWindow,
} from "../core/limits/rate_limit_store.ts";
