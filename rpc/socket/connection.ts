/**
 * The data of a connection, and how its subscriptions end. They end with the
 * sessions they need:
 *
 * - All subscriptions need the sessions that were read at the upgrade, for
 *   example by a guard.
 * - A subscription also needs each session that its own code reads, however
 *   late.
 *
 * @module
 */

import type { SpanOpener } from "../../core/observed_span.ts";
import { currentScope, runOutside } from "../../core/request_scope.ts";
import type {
  RequestSession,
  SessionWatch,
} from "../../core/request_session.ts";
import { sessionsOf } from "../../core/session_end.ts";
import type { ServerWebSocket } from "../../core/socket/websocket.ts";
import { RPCError } from "../error.ts";

/** Data of a connection. */
export interface WSConnectionData {
  /** The controllers that abort the running subscriptions, by id. */
  subscriptions: Map<string, AbortController>;
  /** The `ctx` of handlers. */
  // deno-lint-ignore no-explicit-any -- applications type their own context
  ctx: any;
  /** A copy of the request that opened the connection. */
  originalRequest?: Request;
}

/** A connection of a router. */
export type Socket = ServerWebSocket<WSConnectionData>;

/**
 * Returns the bytes that wait to be sent. Bun's sockets have a method for it.
 */
export function unsent(ws: Socket & { getBufferedAmount?(): number }): number {
  return ws.bufferedAmount ?? ws.getBufferedAmount?.() ?? 0;
}

/**
 * Subscriptions run after the request that opened their socket. Each has its
 * own trace, with that request as parent.
 */
const openers = new WeakMap<WSConnectionData, SpanOpener>();

/** Remembers the current span for the subscriptions of a connection. */
export function rememberSpan(data: WSConnectionData): void {
  const span = currentScope()?.span;
  if (span !== undefined) openers.set(data, span.continuation());
}

/** Returns the opener of spans below the request that opened a connection. */
export function spanOpenerOf(data: WSConnectionData): SpanOpener | undefined {
  return openers.get(data);
}

/** How a subscription ended, in `app.rpc.end` of its span. */
export type SubscriptionEnd =
  /** The generator has returned. */
  | "completed"
  /** The procedure failed. */
  | "failed"
  /** The position is no longer in the channel's history. */
  | "gap"
  | "unsubscribed"
  | "session_ended"
  | "socket_closed"
  | "shutdown";

/** The reason of the signal of a subscription that was stopped. */
export class Stopped extends DOMException {
  /** The value for the span. */
  readonly end: SubscriptionEnd;
  /** The close code of its socket, if that has closed. */
  readonly closeCode: number | undefined;

  /** Creates a reason, with a text for the procedure. */
  constructor(end: SubscriptionEnd, message: string, closeCode?: number) {
    super(message, "AbortError");
    this.end = end;
    this.closeCode = closeCode;
  }
}

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
