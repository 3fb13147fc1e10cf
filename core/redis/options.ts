import type { OptionRules } from "../check/options.ts";
import { aFunction, aTimeout, required } from "../check/rules.ts";
import { aRedisClient, type RedisClient } from "./client.ts";

/** Settings of all stores in Redis. */
export interface RedisOptions {
  /**
   * A client of `npm:redis` 5 or 6 (`createClient()`, `createSentinel()`,
   * `createCluster()`) or of `npm:ioredis` (`Redis`, `Cluster`). It needn't be
   * connected: the store opens connections of its own with the same settings.
   */
  readonly client: RedisClient;
  /** How long to wait for Redis, in seconds. Default: 1. */
  readonly timeout?: number;
  /**
   * Called once for each outage, with an `UnavailableError`. Default:
   * `console.error` with its message.
   */
  readonly onError?: (error: Error) => unknown;
}

/** The rules of {@linkcode RedisOptions}. */
export const REDIS_OPTIONS: OptionRules<RedisOptions> = {
  client: required(aRedisClient),
  timeout: aTimeout("seconds"),
  onError: aFunction,
};
