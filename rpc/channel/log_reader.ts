import { runOutside } from "../../core/request_scope.ts";
import { pause } from "../../core/promises.ts";
import { UnavailableError } from "../../core/error_response.ts";
import type { Tracked } from "../procedure/tracked.ts";
import type { Entry, LogFollower, MessageLog, Page } from "./message_log.ts";
import { MessageRing } from "./message_ring.ts";

/** Time between two checks for a connection, in milliseconds. */
const RETRY_AFTER = 50;

/**
 * Creates a reader that copies the messages of a log into a ring. It isn't
 * started.
 *
 * @param history The capacity of the ring.
 * @param read Returns the message of an entry.
 * @param onFailure Called when reading fails for good.
 */
export function createLogReader<T>(
  log: MessageLog,
  history: number,
  read: (entry: Entry) => Tracked<T> | undefined,
  onFailure: (error: unknown) => void,
) {
  const ring = new MessageRing<T>(history);
  /** Stops the copying. `undefined` while nothing is copied. */
  let running: AbortController | undefined;
  let closed: Promise<unknown> = Promise.resolve();
  /** The entry before the ring's oldest message. */
  let floor = "";
  /** The newest entry that was copied. */
  let newest = "";

  /** Copies the messages after the entry `id`, unless it is copying already. */
  function start(id: string): void {
    if (running !== undefined) return;
    floor = newest = id;
    const { signal } = running = new AbortController();
    closed = Promise.all([closed, runOutside(() => run(signal))]);
  }

  /**
   * Stops copying and forgets the messages.
   *
   * @returns Resolves when its connection is closed.
   */
  function stop(): Promise<unknown> {
    running?.abort();
    running = undefined;
    ring.clear();
    return closed;
  }

  /**
   * Returns the position of the message after the entry `id`, or `undefined` if
   * the ring doesn't have that entry.
   *
   * @param exists Whether the log is known to have the entry. The ring may be
   * behind it then.
   */
  function find(id: string, exists: boolean): number | undefined {
    if (id === newest) return ring.end;
    if (id === floor) return ring.start;
    if (log.compareIds(id, newest) > 0) return exists ? ring.end : undefined;
    let { start: low, end: high } = ring;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (log.compareIds(ring.at(middle).id, id) <= 0) low = middle + 1;
      else high = middle;
    }
    const isThere = low > ring.start && ring.at(low - 1).id === id;
    return isThere ? low : undefined;
  }

  async function run(signal: AbortSignal): Promise<void> {
    const follower = log.follow(signal);
    try {
      await follow(follower, signal);
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      stop();
    } finally {
      await follower.close();
    }
  }

  async function follow(
    follower: LogFollower,
    signal: AbortSignal,
  ): Promise<void> {
    let isBehind = true;
    while (!signal.aborted) {
      try {
        const entries: Page = isBehind
          ? await follower.after(newest)
          : await follower.next(newest);
        if (signal.aborted) return;
        if (entries === undefined) {
          // Entries after it may be gone as well.
          const id = await follower.tail();
          if (signal.aborted) return;
          ring.clear();
          floor = newest = id;
        } else {
          for (const entry of entries) take(entry);
          isBehind = entries.length === log.pageSize;
        }
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        await pause(RETRY_AFTER, signal);
        isBehind = true;
      }
    }
  }

  function take(entry: Entry): void {
    const message = read(entry);
    newest = entry.id;
    if (message === undefined) return;
    if (ring.end - ring.start === ring.capacity) floor = ring.at(ring.start).id;
    ring.push(message);
  }

  return {
    /** The newest messages. */
    ring,
    /** Whether it is copying. */
    get isRunning() {
      return running !== undefined;
    },
    start,
    stop,
    find,
  };
}
