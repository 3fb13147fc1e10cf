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

import { withTimeout } from "../../core/runtime/timeouts.ts";
import type { SessionWatch } from "../../core/request_session.ts";
import type { AuthCallbacks } from "../options.ts";
import type { SessionRecord, SessionStore } from "../stores/session_store.ts";
import { runCallbacks } from "./callbacks.ts";
import { isSame } from "./json_copy.ts";
import type { Sessions } from "./sessions.ts";
import {
  isVerified,
  Rejection,
  type VerifiedSession,
} from "./verify_session.ts";

/** The parts that a watcher needs. */
export interface SessionWatcherOptions {
  /** Absent with the strategy `jwt`. Then sessions end only by expiry. */
  readonly store: SessionStore | undefined;
  readonly sessions: Pick<Sessions, "verifyRecord" | "endOf">;
  readonly callbacks: AuthCallbacks;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Time between two looks at the clock, and at what has to be asked again. */
const INTERVAL = 500;
/** Time after which a session is read without notice, in milliseconds. */
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
  /** When it was last read, in milliseconds. */
  readAt: number;
  isRead: PromiseWithResolvers<void>;
  isReading: boolean;
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

/** Watches any number of sessions with one look at each. */
export class SessionWatcher {
  readonly #options: SessionWatcherOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #waiting = new Set<Watched>();
  #reads = 0;
  #isClosed = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #stopListening: (() => void) | undefined;

  /** Creates a watcher that does nothing before it has a session to watch. */
  constructor(options: SessionWatcherOptions) {
    this.#options = options;
  }

  /**
   * Watches a session that has just been verified.
   *
   * @param roles The roles that it must keep.
   * @param onEnd Called once, when it ends or loses one of the roles. At once, if
   * it is known to have lost one since it was verified.
   */
  watch(
    session: VerifiedSession,
    roles: readonly string[],
    onEnd: () => void,
  ): SessionWatch {
    const { store, sessions } = this.#options;
    const key = sessionKeyOf(session)!;
    let watched = this.#watched.get(key);
    const isKnown = watched !== undefined;
    watched ??= {
      session,
      roles,
      end: 0,
      watchers: new Set(),
      readAt: -Infinity,
      isRead: Promise.withResolvers(),
      isReading: false,
      hasFailed: false,
    };
    // A token may have been refreshed, which no store knows with `jwt`.
    const { payload } = session.record ?? session;
    watched.end = Math.max(watched.end, sessions.endOf(payload));
    const watcher = { roles, onEnd };
    watched.watchers.add(watcher);
    if (isOlder(session.record, watched.session.record)) {
      this.#endWithout(watched, watched.roles);
    }
    if (this.#isClosed) watched.isRead.resolve();
    else if (!isKnown) {
      this.#watched.set(key, watched);
      this.#start();
      if (store !== undefined) this.#read(watched);
    }
    return {
      look: () => this.#look(watched),
      stop: () => this.#drop(watched, watcher),
    };
  }

  /** Stops watching all sessions. */
  close(): void {
    this.#isClosed = true;
    for (const { isRead } of this.#watched.values()) isRead.resolve();
    this.#watched.clear();
    this.#waiting.clear();
    this.#stop();
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#tick(), INTERVAL);
    try {
      this.#stopListening = this.#options.store?.onEnded?.((ids) => {
        for (const id of ids ?? this.#watched.keys()) {
          const watched = this.#watched.get(id);
          if (watched !== undefined) this.#read(watched);
        }
      });
    } catch {
      // Without notices, the store is polled.
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #tick(): void {
    const { store, now } = this.#options;
    const isAsking = this.#stopListening === undefined;
    const time = now();
    for (const watched of this.#watched.values()) {
      const isOver = watched.end <= time;
      if (store === undefined) {
        if (isOver) this.#end(watched);
        continue;
      }
      const isOld = time - watched.readAt > LOOK_AGAIN;
      if (isAsking || isOver || isOld || watched.hasFailed) {
        this.#read(watched);
      }
    }
  }

  #look(watched: Watched): Promise<void> | undefined {
    const { store, now } = this.#options;
    const isWatched = this.#watched.has(sessionKeyOf(watched.session)!);
    if (store === undefined || !isWatched) return undefined;
    if (!this.#isBusy(watched) && now() - watched.readAt > FRESH) {
      this.#read(watched);
    }
    return watched.isRead.promise;
  }

  /** Whether a session is being read, or waits for its turn. */
  #isBusy(watched: Watched): boolean {
    return watched.isReading || this.#waiting.has(watched);
  }

  /** Reads a session's record as soon as it is its turn. */
  #read(watched: Watched): void {
    if (!this.#isBusy(watched)) watched.isRead = Promise.withResolvers();
    this.#waiting.add(watched);
    this.#startReads();
  }

  #startReads(): void {
    for (const watched of this.#waiting) {
      if (this.#reads >= MAX_READS) return;
      if (watched.isReading) continue;
      this.#waiting.delete(watched);
      this.#reads++;
      watched.isReading = true;
      this.#check(watched).finally(() => {
        this.#reads--;
        watched.isReading = false;
        watched.isRead.resolve();
        this.#startReads();
      });
    }
  }

  /** Ends a session unless its record is still valid. */
  async #check(watched: Watched): Promise<void> {
    const { store, sessions, callbacks, now } = this.#options;
    const { session } = watched;
    watched.readAt = now();
    try {
      const found = await inTime(store!.get(session.payload.sid!));
      let verified = sessions.verifyRecord(session, found);
      if (verified instanceof Rejection) return this.#end(watched);
      const { record } = verified;
      if (!isSame(record, session.record)) {
        const checked = await inTime(runCallbacks(callbacks, verified));
        if (!isVerified(checked)) return this.#end(watched);
        verified = checked;
        watched.roles = (verified.custom ?? verified.session).roles ?? [];
        this.#endWithout(watched, watched.roles);
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
      if (watched.end <= now()) this.#end(watched);
    }
  }

  /** Ends a session for the watchers of a role that it has lost. */
  #endWithout(watched: Watched, roles: readonly string[]): void {
    for (const watcher of watched.watchers) {
      if (watcher.roles.every((role) => roles.includes(role))) continue;
      this.#drop(watched, watcher);
      watcher.onEnd();
    }
  }

  #end(watched: Watched): void {
    for (const watcher of watched.watchers) {
      this.#drop(watched, watcher);
      watcher.onEnd();
    }
  }

  #drop(watched: Watched, watcher: Watcher): void {
    watched.watchers.delete(watcher);
    const key = sessionKeyOf(watched.session)!;
    if (watched.watchers.size > 0 || this.#watched.get(key) !== watched) return;
    this.#watched.delete(key);
    this.#waiting.delete(watched);
    watched.isRead.resolve();
    if (this.#watched.size === 0) this.#stop();
  }
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
