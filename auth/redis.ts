/**
 * Sessions and limits of sign-ins that several machines share, in Redis.
 *
 * @module
 */

export * from "./stores/redis_session_store.ts";
export {
  createRedisRateLimitStore,
  type RedisRateLimitStore,
  type RedisRateLimitStoreOptions,
} from "../core/limits/redis_rate_limit_store.ts";
export type { RedisClient } from "../core/redis/client.ts";
export type {
  RateLimitKey,
  RateLimitResult,
  RateLimitRule,
  RateLimitSettlement,
  RateLimitStore,
  RateLimitWindow,
} from "../core/limits/rate_limit_store.ts";
