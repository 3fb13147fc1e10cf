import type { Backend, Position } from "../shared/backend.ts";
import type { BackendSettings } from "../shared/shared_options.ts";
import type { Kv, KvEntry } from "./kv.ts";
import { createKvLocks, type Read } from "./kv_locks.ts";
import { createKvLog } from "./kv_log.ts";
import { createKvRecords } from "./kv_records.ts";
import { createKvSpace } from "./kv_space.ts";

/**
 * Creates a backend in Deno KV.
 *
 * `watch()` of a file sees only the writes of its own process. So the store polls
 * for changes from its first use on.
 *
 * @param interval Time between checks whether a lock was released, in milliseconds.
 * @param timeout How long to wait for an answer, in seconds.
 */
export function createKvBackend(
  kv: Kv,
  interval: number,
  timeout: number,
  settings: BackendSettings,
): Backend {
  const { name, maxScopes, now } = settings;
  const stop = new AbortController();
  const space = createKvSpace(kv, name, timeout);
  const log = createKvLog(space, maxScopes);
  const records = createKvRecords(space, now);
  const locks = createKvLocks(space, settings, interval, stop.signal);

  async function ask(since: Position) {
    return await log.changesSince(since, await space.readOne(log.metaKey));
  }

  return {
    ask,

    async get(key, since, request) {
      const head = await records.keyOf(key);
      const lock = await locks.keyOf(key);
      for (;;) {
        const [meta, value, held] = await space.read(
          log.metaKey,
          head,
          lock,
        ) as [KvEntry, Read, Read];
        const changes = await log.changesSince(since, meta);
        const entry = await records.read(value);
        const reading = { changes, entry };
        const isOfUse = entry !== undefined && entry.epoch === changes.epoch &&
          entry.age < entry.freshFor &&
          entry.began > (request?.outdated ?? 0);
        if (request === undefined || isOfUse) return reading;
        if (locks.isHeld(held)) {
          return { ...reading, released: locks.released(held) };
        }
        if (await locks.take(held, value, request.token)) {
          return { ...reading, isLocked: true };
        }
      }
    },

    async set(key, entry, token) {
      try {
        if (entry === undefined) await records.remove(key);
        else await records.write(key, entry);
      } finally {
        if (token !== undefined) await locks.release(key, token);
      }
    },

    async invalidate(scopes, since) {
      await log.append(scopes);
      return await ask(since);
    },

    release: locks.release,

    close() {
      stop.abort();
      return Promise.resolve();
    },
  };
}
