/**
 * The operations of the store in Redis, as scripts. Each runs atomically.
 *
 * ```
 *   {<name>}:cache-meta        hash        epoch, number (the last one given), run
 *   {<name>}:cache-scopes      sorted set  scope ▶ the number of its last invalidation
 *   {<name>}:cache:<key>       string      epoch, began, freshFor, keepFor, text
 *   {<name>}:cache-lock:<key>  hash        token, epoch, awaited
 *   {<name>}:cache-news        channel     id of the sender, or "u" and an unlocked key
 * ```
 *
 * The sorted set is a log with each scope once, at its latest number. So "all
 * invalidations after 17" is a range. If there are too many scopes, the oldest are
 * removed, and `*`, the scope of everything, gets their number.
 *
 * All keys of a store have one hash tag, so a cluster keeps them on one shard.
 *
 * @module
 */

import { RedisScript } from "../../core/redis/script.ts";
import { MAX_KEPT } from "../shared/backend.ts";

/** The names of a store's keys in Redis. */
export type RedisKeys = ReturnType<typeof keysOf>;

/** Returns the names of a store's keys. */
export function keysOf(name: string) {
  return {
    meta: `{${name}}:cache-meta`,
    scopes: `{${name}}:cache-scopes`,
    channel: `{${name}}:cache-news`,
    value: (key: string) => `{${name}}:cache:${key}`,
    lock: (key: string) => `{${name}}:cache-lock:${key}`,
  } as const;
}

/** Maximum scopes in one answer. */
export const PAGE = 5_000;

/**
 * Starts an epoch if there is none, or if data was lost through FLUSHALL or
 * eviction. KEYS are meta and scopes. ARGV are the epoch and number that the caller
 * knows, and the caller's id. Names of epochs need little randomness, because
 * records are at most 30 days old.
 */
const EPOCH = `
local meta, scopes = KEYS[1], KEYS[2]
local known = redis.call("HMGET", meta, "epoch", "number", "run")
local epoch, number, run = known[1], known[2], known[3]
local isNew = false
local function begin()
  isNew = true
  local time = redis.call("TIME")
  epoch = string.sub(
    redis.sha1hex(ARGV[3] .. ":" .. time[1] .. ":" .. time[2]), 1, 12)
  number = "1"
  redis.call("DEL", scopes)
  redis.call("HSET", meta, "epoch", epoch, "number", number)
  redis.call("ZADD", scopes, number, "*")
end
if not epoch or redis.call("EXISTS", scopes) == 0 then begin() end
local function changes()
  local since = epoch == ARGV[1] and ARGV[2] or "0"
  if since == number then return {} end
  return redis.call("ZRANGEBYSCORE", scopes, "(" .. since, "+inf",
    "WITHSCORES", "LIMIT", 0, ${PAGE})
end
`;

/**
 * Returns the invalidations since a position. After a restart or a failover, Redis
 * may have lost the last invalidations but not the values, so it starts a new
 * epoch. A replica doesn't know all invalidations, so a demoted master counts as
 * away.
 */
export const ASK = new RedisScript(`
if string.find(redis.call("INFO", "replication"), "role:slave", 1, true) then
  return redis.error_reply("READONLY This server is a replica")
end
${EPOCH}
local id = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
if run ~= id then
  if not isNew then begin() end
  redis.call("HSET", meta, "run", id)
end
return { epoch, number, changes() }`);

/**
 * Also returns the record KEYS[3]. With a token ARGV[4], it takes the lock KEYS[4]
 * for ARGV[5] ms, unless the record is fresh and began after ARGV[6]. If another
 * process has the lock, it returns the remaining milliseconds, and asks that
 * process to publish the release. Locks of other epochs are ignored.
 */
export const GET = new RedisScript(`${EPOCH}
local text, left = redis.call("GET", KEYS[3]), redis.call("PTTL", KEYS[3])
local list, lock, token = changes(), false, ARGV[4]
if token then
  local of, began, fresh, keep = string.match(text or "",
    "^(%w+) (%d+) (%S+) (%S+) ")
  local isLater = of == epoch and tonumber(began) > tonumber(ARGV[6])
  if text and not isLater then text = false end
  local age = math.min(tonumber(keep) or ${MAX_KEPT}, ${MAX_KEPT}) - left
  if not isLater or fresh ~= "-" and age >= tonumber(fresh) then
    if redis.call("HGET", KEYS[4], "epoch") == epoch then
      redis.call("HSET", KEYS[4], "awaited", 1)
      lock = redis.call("PTTL", KEYS[4])
    else
      redis.call("DEL", KEYS[4])
      redis.call("HSET", KEYS[4], "token", token, "epoch", epoch)
      redis.call("PEXPIRE", KEYS[4], ARGV[5])
      lock = -1
    end
  end
end
return { epoch, number, list, text, left, lock }`);

/**
 * Releases the lock \`lock\`, and publishes ARGV[3] on the channel ARGV[2] if others
 * may wait for it: also if the lock was lost, for example by FLUSHALL.
 */
const UNLOCK = `
local held = redis.call("HMGET", lock, "token", "awaited")
if held[1] == ARGV[1] then redis.call("DEL", lock) end
if held[2] or ARGV[1] ~= "" and held[1] ~= ARGV[1] then
  redis.call("PUBLISH", ARGV[2], ARGV[3])
end
return 1`;

/** Releases the lock KEYS[1] with the token ARGV[1]. */
export const RELEASE = new RedisScript(`local lock = KEYS[1] ${UNLOCK}`);

/**
 * Stores ARGV[7] under KEYS[3] for ARGV[6] ms, unless the present record began
 * later. ARGV[4] and [5] are the epoch and number of the new one. KEYS[2] is meta.
 * Without these arguments, it deletes the present record. Then it releases the lock
 * KEYS[1].
 */
export const SET = new RedisScript(`
local lock, meta, key = KEYS[1], KEYS[2], KEYS[3]
if not ARGV[4] then
  redis.call("DEL", key)
elseif redis.call("HGET", meta, "epoch") == ARGV[4] then
  local of, began = string.match(redis.call("GETRANGE", key, 0, 63),
    "^(%w+) (%d+) ")
  if of ~= ARGV[4] or tonumber(began) <= tonumber(ARGV[5]) then
    redis.call("SET", key, ARGV[7], "PX", ARGV[6])
  end
end
${UNLOCK}`);

/**
 * Assigns the next number to each scope, from ARGV[6] on. ARGV[4] is the maximum
 * number of scopes, [5] the channel. Returns earlier invalidations by others, and
 * the number before the first new one.
 */
export const INVALIDATE = new RedisScript(`${EPOCH}
local list, max, skip = changes(), tonumber(ARGV[4]), 5
local last = redis.call("HINCRBY", meta, "number", #ARGV - skip)
local before = last - (#ARGV - skip)
if ARGV[skip + 1] == "*" then redis.call("DEL", scopes) end
for from = skip + 1, #ARGV, 1000 do
  local pairs = {}
  for i = from, math.min(from + 999, #ARGV) do
    pairs[#pairs + 1] = before + i - skip
    pairs[#pairs + 1] = ARGV[i]
  end
  redis.call("ZADD", scopes, unpack(pairs))
end
local extra = redis.call("ZCARD", scopes) - max
if extra > 0 then
  local oldest = redis.call("ZRANGE", scopes, extra - 1, extra - 1, "WITHSCORES")
  redis.call("ZREMRANGEBYRANK", scopes, 0, extra - 1)
  if not redis.call("ZSCORE", scopes, "*") then
    redis.call("ZADD", scopes, oldest[2], "*")
  end
end
redis.call("PUBLISH", ARGV[5], ARGV[3])
return { epoch, tostring(last), list, before }`);
