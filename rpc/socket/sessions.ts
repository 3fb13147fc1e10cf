/**
 * Ends the subscriptions of a connection with the sessions they need:
 *
 * - All subscriptions need the sessions that were read at the upgrade, for
 *   example by a guard.
 * - A subscription also needs each session that its own code reads, however
 *   late.
 *
 * @module
 */

import type {
  RequestSession,
  SessionWatch,
} from "../../core/request_session.ts";
import { runOutside } from "../../core/request_scope.ts";
import { sessionsOf } from "../../core/session_end.ts";
import { RPCError } from "../error.ts";
import type { WSConnectionData } from "./connection.ts";

/** A running subscription. */
export interface SessionMember {
  /** The error of the ended session, if any. */
  error: RPCError | undefined;
  /** Ends the subscription, unless it has ended. */
  end(error: RPCError): void;
}

interface Watched {
  readonly members: Set<SessionMember>;
  /** Whether the request that opened the connection brought it. */
  readonly isFirst: boolean;
  watch?: SessionWatch;
  hasEnded: boolean;
}

/** The sessions that the subscriptions of a connection need. */
export class ConnectionSessions {
  /** The sessions of the upgrade, and whether code has read them. */
  readonly #brought: { session: RequestSession; isAsked: boolean }[];
  readonly #watched = new Map<string, Watched>();
  #isClosed = false;

  /** Remembers the sessions of a request. None is watched yet. */
  constructor(request: Request | undefined) {
    const sessions = request === undefined ? [] : sessionsOf(request);
    this.#brought = sessions.map((session) => ({
      session,
      isAsked: session.isAsked,
    }));
  }

  /**
   * Checks the sessions of the upgrade before a subscription begins.
   *
   * @returns A promise that resolves when it is known which have ended.
   */
  begin(): Promise<unknown> | undefined {
    const looks: Promise<void>[] = [];
    for (const { session } of this.#brought) {
      const { sessionKey } = session;
      if (sessionKey === undefined || this.#isClosed) continue;
      const look = this.#watch(sessionKey, session, true).watch?.look();
      if (look !== undefined) looks.push(look);
    }
    return looks.length > 0 ? Promise.all(looks) : undefined;
  }

  /**
   * Adds a subscription that is about to run.
   *
   * @throws {RPCError} If a session that all subscriptions need has ended.
   */
  add(member: SessionMember): void {
    for (const { session, isAsked } of this.#brought) {
      if (isAsked) this.join(session, member);
    }
  }

  /**
   * Makes a subscription need a session.
   *
   * @throws {RPCError} If the session has ended, and with it the subscription.
   */
  join(session: RequestSession, member: SessionMember): void {
    const { sessionKey } = session;
    if (sessionKey === undefined || this.#isClosed) return;
    const watched = this.#watch(sessionKey, session, false);
    if (watched.hasEnded) {
      const error = sessionEnded();
      member.end(error);
      throw error;
    }
    watched.members.add(member);
  }

  /** Removes a subscription that has ended. */
  leave(member: SessionMember): void {
    for (const [key, { members, isFirst, watch }] of this.#watched) {
      if (!members.delete(member) || members.size > 0 || isFirst) continue;
      watch?.stop();
      this.#watched.delete(key);
    }
  }

  /** Stops watching. */
  close(): void {
    this.#isClosed = true;
    for (const { watch } of this.#watched.values()) watch?.stop();
    this.#watched.clear();
  }

  #watch(key: string, session: RequestSession, isFirst: boolean): Watched {
    const known = this.#watched.get(key);
    if (known !== undefined) return known;
    const members = new Set<SessionMember>();
    const watched: Watched = { members, isFirst, hasEnded: false };
    this.#watched.set(key, watched);
    watched.watch = session.watchSession(() => {
      watched.hasEnded = true;
      // Code that reads another session has just verified it.
      if (!isFirst) this.#watched.delete(key);
      for (const member of members) member.end(sessionEnded());
      members.clear();
    });
    return watched;
  }
}

/** By connection. `undefined`: `endWithSession` is off. */
const byConnection = new WeakMap<
  WSConnectionData,
  ConnectionSessions | undefined
>();

/**
 * Remembers the sessions of the request that opens a connection.
 *
 * @param isOn Whether subscriptions end with their sessions.
 */
export function rememberSessions(
  data: WSConnectionData,
  request: Request,
  isOn: boolean,
): void {
  byConnection.set(data, isOn ? new ConnectionSessions(request) : undefined);
}

/** Returns the sessions of a connection, also of one without the plugin. */
export function connectionSessions(
  data: WSConnectionData,
): ConnectionSessions | undefined {
  return byConnection.has(data)
    ? byConnection.get(data)
    // A message isn't part of the request that opened its socket.
    : runOutside(() => new ConnectionSessions(data.originalRequest));
}

function sessionEnded(): RPCError {
  const details = { reason: "SESSION_ENDED" };
  return new RPCError("UNAUTHORIZED", "The session has ended", 401, {
    details,
  });
}
