import { pause } from "../../core/promises.ts";
import type { Backend, Position } from "../shared/backend.ts";
import type { BackendSettings } from "../shared/shared_options.ts";
import type { Kv, KvEntry, KvKey } from "./kv.ts";
import { createKvLog } from "./kv_log.ts";
import { createKvRecords } from "./kv_records.ts";
import { createKvSpace } from "./kv_space.ts";

/** The value of a lock: its holder, and when it expires. */
interface Held {
  readonly token: string;
  readonly until: number;
}

/**
 * Creates a backend in Deno KV.
 *
 * ```
 *   [name, "cache", "lock", key]    token, until
 * ```
 *
 * See `kv_log.ts` and `kv_records.ts` for its other keys.
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
  const { name, lockTime, maxScopes, now } = settings;
  const stop = new AbortController();
  const space = createKvSpace(kv, name, timeout);
  const log = createKvLog(space, maxScopes);
  const records = createKvRecords(space, now);
  const lockOf = (key: string) => space.keyOf("lock", key);

  async function ask(since: Position) {
    return await log.changesSince(since, await space.readOne(log.metaKey));
  }

  /** Waits until another process releases a lock, or it expires. */
  async function released(lock: KvKey, { token, until }: Held): Promise<void> {
    for (let left = until - now(); left > 0; left = until - now()) {
      await pause(Math.min(interval, left), stop.signal);
      if (stop.signal.aborted) return;
      const { value } = await space.readOne(lock);
      if ((value as Held | null)?.token !== token) return;
    }
  }

  async function release(key: string, token: string): Promise<void> {
    const lock = await lockOf(key);
    const { value, versionstamp } = await space.readOne(lock);
    if ((value as Held | null)?.token !== token) return;
    const change = space.change().check({ key: lock, versionstamp });
    await space.commit(change.delete(lock));
  }

  return {
    ask,

    async get(key, since, request) {
      const head = await records.keyOf(key);
      const lock = await lockOf(key);
      for (;;) {
        const [meta, value, held] = await space.read(
          log.metaKey,
          head,
          lock,
        ) as [KvEntry, KvEntry, KvEntry];
        const changes = await log.changesSince(since, meta);
        const entry = await records.read(value);
        const reading = { changes, entry };
        const isOfUse = entry !== undefined && entry.epoch === changes.epoch &&
          entry.age < entry.freshFor &&
          entry.began > (request?.outdated ?? 0);
        if (request === undefined || isOfUse) return reading;
        const holder = held.value as Held | null;
        if (holder !== null && holder.until > now()) {
          return { ...reading, released: released(lock, holder) };
        }
        const taken: Held = { token: request.token, until: now() + lockTime };
        const change = space.change()
          // If one has changed, another process may have computed.
          .check({ key: head, versionstamp: value.versionstamp })
          .check({ key: lock, versionstamp: held.versionstamp })
          .set(lock, taken, { expireIn: lockTime });
        if (await space.commit(change)) return { ...reading, isLocked: true };
      }
    },

    async set(key, entry, token) {
      try {
        if (entry === undefined) await records.remove(key);
        else await records.write(key, entry);
      } finally {
        if (token !== undefined) await release(key, token);
      }
    },

    async invalidate(scopes, since) {
      await log.append(scopes);
      return await ask(since);
    },

    release,

    close() {
      stop.abort();
      return Promise.resolve();
    },
  };
}
