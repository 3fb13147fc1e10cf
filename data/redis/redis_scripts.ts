/**
 * The operations of the store in Redis, as scripts. Each runs atomically.
 *
 * ```
 *   <name>:meta        hash        epoch, number (the last one given), run
 *   <name>:scopes      sorted set  scope ▶ the number of its last invalidation
 *   <name>:value:<key> hash        epoch, began, text, ms (its lifetime)
 *   <name>:lock:<key>  hash        token, epoch, awaited
 *   <name>:news        channel     "" for changes, or "u" and an unlocked key
 * ```
 *
 * The sorted set is a log that has each scope once, at its latest
 * place. So it is bounded by how many scopes there are, and "what came after
 * 17" is a range. When there are too many, the oldest go, and `*`, the scope of
 * everything, gets their number.
 *
 * @module
 */

/** The names of a store's keys in Redis. */
export type RedisKeys = ReturnType<typeof keysOf>;

/** Returns the names of a store's keys. */
export function keysOf(name: string) {
  return {
    meta: `${name}:meta`,
    scopes: `${name}:scopes`,
    channel: `${name}:news`,
    value: (key: string) => `${name}:value:${key}`,
    lock: (key: string) => `${name}:lock:${key}`,
  } as const;
}

/** Maximum scopes in one answer. */
export const PAGE = 1_000;

/**
 * Begins an epoch if there is none, or if a part of it was lost: by FLUSHALL,
 * or by eviction, where Redis is set to evict what has no lifetime. KEYS are
 * meta and scopes, ARGV the epoch and number that the caller knows, and a name
 * that nobody has used.
 */
const EPOCH = `
local meta, scopes = KEYS[1], KEYS[2]
local epoch = redis.call("HGET", meta, "epoch")
if not epoch or redis.call("EXISTS", scopes) == 0 then
  local time = redis.call("TIME")
  epoch = ARGV[3] .. ":" .. time[1] .. ":" .. time[2]
  redis.call("DEL", scopes)
  redis.call("HSET", meta, "epoch", epoch, "number", 1)
  redis.call("ZADD", scopes, 1, "*")
end
local function changes()
  local number = redis.call("HGET", meta, "number")
  local since = epoch == ARGV[1] and ARGV[2] or "0"
  if since == number then return epoch, number, {} end
  return epoch, number, redis.call("ZRANGEBYSCORE", scopes, "(" .. since,
    "+inf", "WITHSCORES", "LIMIT", 0, ${PAGE})
end
`;

/**
 * The first script on a connection. A Redis that was started since, or another
 * one that took over, may have lost the last invalidations though it has the
 * values: that is what most settings of persistence and all of replication
 * allow. So it begins a new epoch.
 */
export const HELLO = `
local run = string.match(redis.call("INFO", "server"), "run_id:(%w+)")
if redis.call("HGET", KEYS[1], "run") ~= run then
  redis.call("DEL", KEYS[1])
end
${EPOCH}
redis.call("HSET", meta, "run", run)
return { changes() }`;

/** Returns the invalidations since a position. */
export const ASK = `${EPOCH} return { changes() }`;

/** The same, and the record KEYS[3]. */
export const GET = `${EPOCH}
local entry = redis.call("HMGET", KEYS[3], "epoch", "began", "text", "ms")
local epoch, number, list = changes()
return { epoch, number, list, entry, redis.call("PTTL", KEYS[3]) }`;

/**
 * Keeps the record KEYS[2] for ARGV[4] ms: ARGV[1] and [2] are its epoch and
 * the number that it began with, [3] is its text. KEYS[1] is meta.
 */
export const SET = `
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
local other = redis.call("HMGET", KEYS[2], "epoch", "began")
if other[1] == ARGV[1] and tonumber(other[2]) > tonumber(ARGV[2]) then
  return 0
end
redis.call("HSET", KEYS[2], "epoch", ARGV[1], "began", ARGV[2], "text", ARGV[3],
  "ms", ARGV[4])
redis.call("PEXPIRE", KEYS[2], ARGV[4])
return 1`;

/** Drops the record KEYS[1]. */
export const DELETE = `return redis.call("DEL", KEYS[1])`;

/**
 * Assigns the next number to each scope, from ARGV[6] on. ARGV[4] is the maximum
 * of scopes, [5] the channel.
 */
export const INVALIDATE = `${EPOCH}
local max = tonumber(ARGV[4])
for i = 6, #ARGV do
  local number = redis.call("HINCRBY", meta, "number", 1)
  if ARGV[i] == "*" then redis.call("DEL", scopes) end
  redis.call("ZADD", scopes, number, ARGV[i])
end
local extra = redis.call("ZCARD", scopes) - max
if extra > 0 then
  local last = redis.call("ZRANGE", scopes, extra - 1, extra - 1, "WITHSCORES")
  redis.call("ZREMRANGEBYRANK", scopes, 0, extra - 1)
  if not redis.call("ZSCORE", scopes, "*") then
    redis.call("ZADD", scopes, last[2], "*")
  end
end
redis.call("PUBLISH", ARGV[5], "")
return { changes() }`;

/**
 * Takes the lock KEYS[1] with the token ARGV[1] for ARGV[2] ms, or gives for
 * how many more somebody else has it, who is asked to say when it is free. A
 * lock of another epoch than KEYS[2] has can't be released any more.
 */
export const LOCK = `
local epoch = redis.call("HGET", KEYS[2], "epoch") or ""
if redis.call("HGET", KEYS[1], "epoch") == epoch then
  redis.call("HSET", KEYS[1], "awaited", 1)
  return redis.call("PTTL", KEYS[1])
end
redis.call("DEL", KEYS[1])
redis.call("HSET", KEYS[1], "token", ARGV[1], "epoch", epoch)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return -1`;

/** Releases the lock, and publishes ARGV[3] on the channel ARGV[2]. */
export const RELEASE = `
local lock = redis.call("HMGET", KEYS[1], "token", "awaited")
if lock[1] ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
if lock[2] then redis.call("PUBLISH", ARGV[2], ARGV[3]) end
return 1`;
