/**
 * Notices when sessions end that are still in use after their requests, for
 * example by a subscription.
 *
 * ```
 *   store.onEnded(ids) ──┐
 *   expiry ──────────────┼─► read the record ─► callbacks ─► roles
 *   every 500 ms ¹ ──────┘
 *
 *   ¹ if the store has no `onEnded`, or has just failed
 * ```
 *
 * While the store fails, sessions continue until their known expiry.
 *
 * @module
 */

import {
  currentScope,
  type RequestScope,
  runInScope,
  runOutside,
} from "../../core/request_scope.ts";
import { Slots, withTimeout } from "../../core/promises.ts";
import type { SessionWatch } from "../../core/request_session.ts";
import type { SessionRecord } from "../stores/session_store.ts";
import { runCallbacks } from "./callbacks.ts";
import { isSame } from "./claims.ts";
import type { Sessions } from "./sessions.ts";
import {
  isVerified,
  Rejection,
  type SessionParts,
  type VerifiedSession,
} from "./verify_session.ts";

/** Time between two looks at the clock, and at what has to be asked again. */
const INTERVAL = 500;
/** Time, also backwards, after which a session is read without notice, in ms. */
const LOOK_AGAIN = 30_000;
/** Maximum age of a read that a subscription trusts, in milliseconds. */
const FRESH = 1_000;
/** Maximum reads at a time, so that requests don't wait behind thousands. */
const MAX_READS = 64;
/** Time after which a read has failed, in ms. Stores usually fail earlier. */
const READ_TIMEOUT = 2_000;

interface Watcher {
  /** The roles that the session must keep. */
  readonly roles: readonly string[];
  readonly onEnd: () => void;
}

interface Watched {
  /** The session as it was last found. */
  session: VerifiedSession;
  /** Its roles then. */
  roles: readonly string[];
  /** When it ends unless it is refreshed, in milliseconds. */
  end: number;
  readonly watchers: Set<Watcher>;
  /** The scope of the first watcher. Callbacks need one of the session's own. */
  readonly scope: RequestScope | undefined;
  /** When it was last read, in milliseconds. */
  readAt: number;
  /** Whether it may have changed since. */
  isStale: boolean;
  /** Resolves when it has been read, if it is being read or waits for its turn. */
  reading: Promise<void> | undefined;
  hasFailed: boolean;
}

/**
 * Returns a name that all requests of a session share. `undefined`: it lasts no
 * longer than the request.
 */
export function sessionKeyOf(
  { payload, value, credentialSource }: VerifiedSession,
): string | undefined {
  return credentialSource === "request" ? undefined : payload.sid ?? value;
}

/**
 * Creates a watcher of any number of sessions, with one look at each. It does
 * nothing before it has a session to watch. Without a store, sessions end only by
 * expiry.
 */
export function createSessionWatcher(
  { store, callbacks, now }: SessionParts,
  sessions: Sessions,
) {
  const all = new Map<string, Watched>();
  const slots = new Slots(MAX_READS);
  let isClosed = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  let stopListening: (() => void) | undefined;

  /**
   * Watches a session that has just been verified.
   *
   * @param roles The roles that it must keep.
   * @param onEnd Called once, when it ends or loses one of the roles. At once, if
   * it is known to have lost one since it was verified.
   */
  function watch(
    session: VerifiedSession,
    roles: readonly string[],
    onEnd: () => void,
  ): SessionWatch {
    const key = sessionKeyOf(session)!;
    const known = all.get(key);
    const watched: Watched = known ?? {
      session,
      roles,
      end: 0,
      watchers: new Set(),
      scope: currentScope(),
      readAt: -Infinity,
      isStale: true,
      reading: undefined,
      hasFailed: false,
    };
    // A token may have been refreshed, which no store knows with `jwt`.
    const { payload } = session.record ?? session;
    watched.end = Math.max(watched.end, sessions.endOf(payload));
    const watcher = { roles, onEnd };
    watched.watchers.add(watcher);
    if (isOlder(session.record, watched.session.record)) endLost(watched);
    if (!isClosed && known === undefined) {
      all.set(key, watched);
      runOutside(start);
      if (store !== undefined) read(watched);
    }
    return {
      look: () => look(watched),
      stop: () => drop(watched, watcher),
    };
  }

  /** Stops watching all sessions. */
  function close(): void {
    isClosed = true;
    all.clear();
    stop();
  }

  function start(): void {
    if (timer !== undefined) return;
    timer = setInterval(tick, INTERVAL);
    try {
      stopListening = store?.onEnded?.((ids) => {
        for (const id of ids ?? all.keys()) {
          const watched = all.get(id);
          if (watched !== undefined) read(watched);
        }
      });
    } catch {
      // Without notices, the store is polled.
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    stopListening?.();
    stopListening = undefined;
  }

  function tick(): void {
    const isAsking = stopListening === undefined;
    const time = now();
    for (const watched of all.values()) {
      const isOver = watched.end <= time;
      if (store === undefined) {
        if (isOver) end(watched);
        continue;
      }
      const isOld = Math.abs(time - watched.readAt) > LOOK_AGAIN;
      if (isAsking || isOver || isOld || watched.hasFailed) read(watched);
    }
  }

  function look(watched: Watched): Promise<void> | undefined {
    if (store === undefined || !isWatched(watched)) return undefined;
    const age = Math.abs(now() - watched.readAt);
    return watched.reading ?? (age > FRESH ? read(watched) : undefined);
  }

  function isWatched(watched: Watched): boolean {
    return all.get(sessionKeyOf(watched.session)!) === watched;
  }

  /**
   * Reads a session's record as soon as it is its turn. If it is being read, it is
   * read again after that.
   */
  function read(watched: Watched): Promise<void> {
    watched.isStale = true;
    return watched.reading ??= readInTurn(watched);
  }

  async function readInTurn(watched: Watched): Promise<void> {
    await slots.acquire();
    try {
      watched.isStale = false;
      if (isWatched(watched)) await runInScope(watched.scope, check, watched);
    } finally {
      slots.release();
      watched.reading = undefined;
      // Behind the sessions that wait, which a slow store must not starve.
      if (watched.isStale && isWatched(watched)) read(watched);
    }
  }

  /** Ends a session unless its record is still valid. */
  async function check(watched: Watched): Promise<void> {
    const { session } = watched;
    watched.readAt = now();
    try {
      const found = await inTime(store!.get(session.payload.sid!));
      let verified = sessions.verifyRecord(session, found);
      if (verified instanceof Rejection) return end(watched);
      const { record } = verified;
      if (!isSame(record, session.record)) {
        const checked = await inTime(runCallbacks(callbacks, verified));
        if (!isVerified(checked)) return end(watched);
        verified = checked;
        watched.roles = (verified.custom ?? verified.session).roles ?? [];
        endLost(watched);
      }
      watched.session = verified;
      watched.end = Math.min(
        sessions.endOf(record!.payload),
        record!.expiresAt,
      );
      watched.hasFailed = false;
    } catch {
      // The request that the callback or the store failed for has its error.
      watched.hasFailed = true;
      if (watched.end <= now()) end(watched);
    }
  }

  /** Ends a session for all watchers. */
  function end(watched: Watched): void {
    for (const watcher of watched.watchers) endFor(watched, watcher);
  }

  /** Ends a session for the watchers of a role that it has lost. */
  function endLost(watched: Watched): void {
    const { roles, watchers } = watched;
    for (const watcher of watchers) {
      const hasAll = watcher.roles.every((role) => roles.includes(role));
      if (!hasAll) endFor(watched, watcher);
    }
  }

  function endFor(watched: Watched, watcher: Watcher): void {
    drop(watched, watcher);
    watcher.onEnd();
  }

  function drop(watched: Watched, watcher: Watcher): void {
    watched.watchers.delete(watcher);
    if (watched.watchers.size > 0 || !isWatched(watched)) return;
    all.delete(sessionKeyOf(watched.session)!);
    if (all.size === 0) stop();
  }

  return { watch, close };
}

/** Whether a session was refreshed between two looks at its record. */
function isOlder(a?: SessionRecord, b?: SessionRecord): boolean {
  return a !== undefined && b !== undefined && a.refreshedAt < b.refreshedAt;
}

/** Waits for a value, but not for ever. */
function inTime<T>(value: T | Promise<T>): T | Promise<T> {
  return value instanceof Promise
    ? withTimeout(value, READ_TIMEOUT, () => new Error("it takes too long"))
    : value;
}
