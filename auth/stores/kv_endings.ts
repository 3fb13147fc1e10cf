/**
 * The sessions in Deno KV that have ended or changed lately.
 *
 * ```
 *   [...prefix, "ended"]               changes with each of them
 *   [...prefix, "ended", time, uuid]   the id of one, for a minute
 * ```
 *
 * `watch()` of a file sees only the writes of its own process. So a listener
 * reads the first key at intervals, and the others when it has changed.
 *
 * @module
 */

import type { KvDatabase, KvKey, KvTransaction } from "./kv_database.ts";

/** How long an id is kept, in milliseconds. */
const KEPT = 60_000;
/** How far the clocks of writers may be behind the reader's, in milliseconds. */
const SKEW = 10_000;

type Listener = (ids: readonly string[] | undefined) => void;

/**
 * Notes which sessions end, and notifies listeners in all processes. Reads
 * nothing until there is a listener.
 *
 * @param interval Time between two looks, in milliseconds.
 * @param now The clock, in milliseconds.
 */
export function createKvEndings(
  kv: KvDatabase,
  prefix: KvKey,
  interval: number,
  now: () => number,
) {
  const base = [...prefix, "ended"];
  const listeners = new Set<Listener>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isLooking = false;
  /** The latest version of the first key that listeners know of. */
  let latest: string | undefined;
  /** When that was, in milliseconds. */
  let latestAt = 0;

  /** Adds the id of a session to the transaction that ends or changes it. */
  function note(transaction: KvTransaction, id: string): KvTransaction {
    const options = { expireIn: KEPT };
    const key = [...base, now(), crypto.randomUUID()];
    return transaction.set(key, id, options).set(base, 1, options);
  }

  /** Calls a listener until the returned function is called. */
  function listen(listener: Listener): () => void {
    const own: Listener = (ids) => listener(ids);
    listeners.add(own);
    latest = undefined;
    timer ??= setInterval(look, interval);
    look();
    return () => {
      listeners.delete(own);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const ids = await read();
      if (ids?.length === 0) return;
      for (const listener of listeners) listener(ids);
    } catch {
      // The next look finds what this one has missed.
    } finally {
      isLooking = false;
    }
  }

  /** Returns the ids since the last look. `undefined`: some may be lost. */
  async function read(): Promise<string[] | undefined> {
    const known = latest;
    const since = latestAt;
    const time = now();
    const { versionstamp } = await kv.get(base);
    // Later commits have a higher version.
    const ids: string[] = [];
    const isLate = known === undefined || time - since > KEPT / 2;
    if (!isLate && versionstamp !== null && versionstamp > known) {
      // The clock may have moved backwards.
      const start = [...base, Math.min(since, time) - SKEW];
      for await (const entry of kv.list({ prefix: base, start })) {
        const { versionstamp: version, value } = entry;
        // Commits after `get` belong to the next look.
        if (version > known && version <= versionstamp) ids.push(String(value));
      }
    }
    // A listener that was added meanwhile may have missed some.
    const isLost = isLate || latest === undefined;
    latest = versionstamp ?? known ?? "";
    latestAt = time;
    return isLost ? undefined : ids;
  }

  return { note, listen };
}
