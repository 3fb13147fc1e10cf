/**
 * The scripts of the session store in Redis. `base` is the start of all keys.
 * They make the keys that they use from it: all are on one shard, which its hash
 * tag decides.
 *
 * @module
 */

import { RedisScript } from "../../core/redis/script.ts";

/**
 * Reads the first two lines of a session: when it expires, and its user. The
 * third result is its text.
 */
const HEAD = `
local function head(key)
  local text = redis.call("GET", key) or ""
  local ends, user = string.match(text, "^(%S+)\\n([^\\n]*)\\n")
  ends = tonumber(ends)
  if ends then return ends, user, text end
end
local function tell(ids)
  redis.call("PUBLISH", ARGV[1] .. "ended", '["' .. table.concat(ids, '","') .. '"]')
end`;

/**
 * Keeps a session, and notes it in the list of its user. By the clock of Redis,
 * which is the same for all processes. A process with a fast clock would
 * otherwise drop ids of sessions that must be revocable.
 *
 * KEYS: session, list. ARGV: base, id, user, text, time left, now, refreshedAt.
 * With the last two, only if the user has this session then, and it wasn't
 * refreshed later. Returns 1 if it was kept.
 */
export const KEEP: RedisScript = new RedisScript(`
${HEAD}
local ends, user, kept = head(KEYS[1])
if ARGV[6] then
  if not (user == ARGV[3] and ends > tonumber(ARGV[6])
    and redis.call("ZSCORE", KEYS[2], ARGV[2])) then return 0 end
  local refreshed = string.match(kept, '"refreshedAt":([%d.]+),"expiresAt":[^,]+}$')
  if (tonumber(refreshed) or 0) > tonumber(ARGV[7]) then return 0 end
end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = tonumber(ARGV[5])
redis.call("SET", KEYS[1], ARGV[4], "PX", ARGV[5])
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
redis.call("ZADD", KEYS[2], now + left, ARGV[2])
if redis.call("PTTL", KEYS[2]) < left then
  redis.call("PEXPIRE", KEYS[2], ARGV[5])
end
if user then tell({ ARGV[2] }) end
return 1`);

/** Drops a session. KEYS: session. ARGV: base, id. */
export const DROP: RedisScript = new RedisScript(`
${HEAD}
local _, user = head(KEYS[1])
if redis.call("DEL", KEYS[1]) == 0 then return end
if user then redis.call("ZREM", ARGV[1] .. "user:" .. user, ARGV[2]) end
tell({ ARGV[2] })`);

/**
 * Drops sessions of a user, up to a limit: a script blocks Redis.
 *
 * KEYS: list. ARGV: base, user, now, limit. Returns how many were valid, and how
 * many are left.
 */
export const DROP_ALL: RedisScript = new RedisScript(`
${HEAD}
local ids = redis.call("ZRANGE", KEYS[1], 0, ARGV[4] - 1)
local dropped, count = {}, 0
for _, id in ipairs(ids) do
  local key = ARGV[1] .. "id:" .. id
  local ends, user = head(key)
  -- The id may have another user by now. Then only the note is dropped.
  if user == ARGV[2] then
    redis.call("DEL", key)
    table.insert(dropped, id)
    if ends > tonumber(ARGV[3]) then count = count + 1 end
  end
end
if #ids > 0 then redis.call("ZREM", KEYS[1], unpack(ids)) end
if #dropped > 0 then tell(dropped) end
return { count, redis.call("ZCARD", KEYS[1]) }`);

/**
 * Lists sessions of a user.
 *
 * KEYS: list. ARGV: base, limit. Returns all ids, and the texts of the first
 * ones.
 */
export const LIST: RedisScript = new RedisScript(`
local ids = redis.call("ZRANGE", KEYS[1], 0, -1)
local keys = {}
for i = 1, math.min(#ids, ARGV[2]) do keys[i] = ARGV[1] .. "id:" .. ids[i] end
return { ids, #keys > 0 and redis.call("MGET", unpack(keys)) or {} }`);
