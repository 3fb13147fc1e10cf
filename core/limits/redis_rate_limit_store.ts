/**
 * Rate limits in Redis. Each step is one script. Windows begin and end by the
 * clock of Redis, which is the same for all processes.
 *
 * ```
 *   {<name>}:<rule>:<hash of the key>    "<end> <count>", until its window ends
 *   {<name>}:mark:<hash of its name>     "", as long as the mark lasts
 * ```
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../check/options.ts";
import { required } from "../check/rules.ts";
import { keyHash } from "../key_part.ts";
import { aRedisName } from "../redis/client.ts";
import { createRedisLink } from "../redis/link.ts";
import { REDIS_OPTIONS, type RedisOptions } from "../redis/options.ts";
import { RedisScript } from "../redis/script.ts";
import { toDelay } from "../promises.ts";
import type {
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

export type * from "./rate_limit_store.ts";
export type { RedisOptions };

/** Options of {@linkcode createRedisRateLimitStore}. */
export interface RedisRateLimitStoreOptions extends RedisOptions {
  /**
   * The name that all keys of the store begin with, as a hash tag. Processes with
   * the same name share their limits. Applications on one Redis need different
   * names.
   */
  readonly name: string;
}

const OPTIONS: OptionRules<RedisRateLimitStoreOptions> = {
  ...REDIS_OPTIONS,
  name: required(aRedisName),
};

/** A store in Redis. It holds a connection from its first use on. */
export interface RedisRateLimitStore extends RateLimitStore, AsyncDisposable {
  /** Closes the connection. Later events can't be counted. */
  close(): Promise<void>;
}

/** Longer windows would leave the range of Redis's lifetimes: 1,000 years. */
const MAX_MS = 3e13;

const TIME = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function read(key)
  local text = redis.call("GET", key)
  local ends, count = string.match(text or "", "^(%d+) (%d+)$")
  if ends and tonumber(ends) > now then return tonumber(ends), tonumber(count) end
end
local function write(key, ends, count)
  local text = string.format("%.0f %.0f", ends, count)
  redis.call("SET", key, text, "PX", string.format("%.0f", ends - now))
end
`;

// KEYS: the keys, then marks. ARGV, for each key: maximum, length of a window,
// place of its mark in KEYS or 0. Returns the wait, or 0 and the windows' ends.
const TAKE = new RedisScript(`${TIME}
local wait, ends, counts = 0, {}, {}
for i = 1, #ARGV / 3 do
  local max, ms = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
  local mark = tonumber(ARGV[3 * i])
  ends[i] = 0
  if mark == 0 or redis.call("EXISTS", KEYS[mark]) == 0 then
    ends[i], counts[i] = read(KEYS[i])
    if not ends[i] then ends[i], counts[i] = now + ms, 0 end
    -- The clock may have moved back since the window began.
    if counts[i] >= max then wait = math.max(wait, math.min(ends[i] - now, ms)) end
  end
end
if wait > 0 then return { string.format("%.0f", wait) } end
local reply = { "0" }
for i = 1, #ends do
  if counts[i] then write(KEYS[i], ends[i], counts[i] + 1) end
  reply[i + 1] = string.format("%.0f", ends[i])
end
return reply`);

// KEYS: the keys to take back from; if ARGV[1] is 1, one to clear; if ARGV[2]
// isn't 0, a mark that lasts so long. ARGV from 3 on: the windows' ends.
const SETTLE = new RedisScript(`${TIME}
local last = #ARGV - 2
for i = 1, last do
  local ends, count = read(KEYS[i])
  if ends == tonumber(ARGV[i + 2]) and count > 0 then
    write(KEYS[i], ends, count - 1)
  end
end
if ARGV[1] == "1" then
  last = last + 1
  local ends = read(KEYS[last])
  if ends then write(KEYS[last], ends, 0) end
end
if ARGV[2] ~= "0" then redis.call("SET", KEYS[last + 1], "", "PX", ARGV[2]) end
return 1`);

/**
 * Creates a store of rate limits in Redis, for `rateLimit()` and
 * `rateLimitSignIn()`. One store serves any number of limits with different
 * names. Each call takes one round trip.
 *
 * Keys are hashed, so that Redis doesn't hold e-mail addresses as text. All keys
 * of a store are on one shard of a cluster. Redis should not evict
 * (`maxmemory-policy noeviction`, the default): a limit whose key is evicted
 * starts over.
 *
 * @param options The client, and the name of the store.
 * @throws {TypeError} If `client` isn't supported, or another option is wrong.
 *
 * @example
 * ```ts
 * import { procedure, rateLimit } from "@quartet/kit/rpc";
 * import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * await using store = createRedisRateLimitStore({ client, name: "shop" });
 *
 * const limited = procedure.use(
 *   rateLimit({ limit: 100, windowMs: 60_000, store, name: "search" }),
 * );
 * console.assert(limited.query(() => "found").kind === "query");
 * ```
 */
export function createRedisRateLimitStore(
  options: RedisRateLimitStoreOptions,
): RedisRateLimitStore {
  checkOptions(options, OPTIONS, "create rate limit store");
  const { client, name, timeout = 1, onError } = options;
  const keyOf = (group: string, text: string) =>
    `{${name}}:${group}:${keyHash(text)}`;
  const markOf = (mark: string) => keyOf("mark", mark);
  const link = createRedisLink({
    client,
    what: "rate limit store",
    timeout: toDelay(timeout),
    key: markOf(""),
    onError,
  });

  async function take(
    keys: Parameters<RateLimitStore["take"]>[0],
  ): Promise<RateLimitResult> {
    const names = keys.map(({ rule, key }) => keyOf(rule.name, key));
    const args = keys.flatMap(({ rule, unless }) => {
      const ms = lifetime(rule.windowMs);
      const mark = unless === undefined ? 0 : names.push(markOf(unless));
      return [`${rule.max}`, ms, `${mark}`];
    });
    const reply = await link.run(TAKE, names as [string], args) as string[];
    const [wait, ...windows] = reply.map(Number);
    return {
      wait: wait!,
      windows: windows.map((end) => end === 0 ? undefined : end),
    };
  }

  async function settle(
    { keys, windows, clear, mark }: RateLimitSettlement,
  ): Promise<void> {
    const names: string[] = [];
    const ends: string[] = [];
    for (const [i, { rule, key }] of keys.entries()) {
      if (windows[i] === undefined) continue;
      names.push(keyOf(rule.name, key));
      ends.push(`${windows[i]}`);
    }
    if (clear !== undefined) names.push(keyOf(clear.rule.name, clear.key));
    if (mark !== undefined) names.push(markOf(mark.name));
    if (names.length === 0) return;
    await link.run(SETTLE, names as [string], [
      clear === undefined ? "0" : "1",
      mark === undefined ? "0" : lifetime(mark.ms),
      ...ends,
    ]);
  }

  const close = () => link.close();
  return { take, settle, close, [Symbol.asyncDispose]: close };
}

/** Returns a lifetime as Redis takes it: whole milliseconds. */
function lifetime(ms: number): string {
  return `${Math.min(Math.ceil(ms), MAX_MS)}`;
}
