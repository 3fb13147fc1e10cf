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

import { WorkCounter } from "../../core/closing.ts";
import { currentScope, runOutside } from "../../core/request_scope.ts";
import type {
  RequestSession,
  SessionWatch,
} from "../../core/request_session.ts";
import { sessionsOf } from "../../core/session_end.ts";
import type { ServerWebSocket } from "../../core/socket/websocket.ts";
import { RPCError } from "../error.ts";
import { describe } from "../server/read_message.ts";

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

/** Ends a subscription with the error of its ended session, unless it is over. */
export type EndSubscription = (error: RPCError) => void;

interface Watched {
  /** The subscriptions that need the session. */
  readonly members: Set<EndSubscription>;
  /** Whether the request that opened the connection brought it. */
  readonly isFirst: boolean;
  watch?: SessionWatch;
  hasEnded: boolean;
}

/**
 * Creates the sessions that the subscriptions of a connection need. They begin with
 * the sessions of the request that opens it, of which none is watched yet.
 */
function createSessions(request: Request | undefined) {
  const brought = (request === undefined ? [] : sessionsOf(request))
    // Later, code of a subscription may have asked for one.
    .map((session) => ({ session, isAsked: session.isAsked }));
  const watched = new Map<string, Watched>();
  let isClosed = false;

  /**
   * Checks the sessions of the upgrade before a subscription begins.
   *
   * @returns A promise that resolves when it is known which have ended.
   */
  function begin(): Promise<unknown> | undefined {
    const looks = brought.flatMap(({ session }) =>
      watch(session, true)?.watch?.look() ?? []
    );
    return looks.length > 0 ? Promise.all(looks) : undefined;
  }

  /**
   * Adds a subscription that is about to run.
   *
   * @throws {RPCError} If a session that all subscriptions need has ended.
   */
  function add(end: EndSubscription): void {
    for (const { session, isAsked } of brought) {
      if (isAsked) join(session, end);
    }
  }

  /**
   * Makes a subscription need a session.
   *
   * @throws {RPCError} If the session has ended, and with it the subscription.
   */
  function join(session: RequestSession, end: EndSubscription): void {
    const found = watch(session, false);
    if (found?.hasEnded) {
      const error = sessionEnded();
      end(error);
      throw error;
    }
    found?.members.add(end);
  }

  /** Removes a subscription that has ended. */
  function leave(end: EndSubscription): void {
    for (const [key, { members, isFirst, watch }] of watched) {
      if (!members.delete(end) || members.size > 0 || isFirst) continue;
      watch?.stop();
      watched.delete(key);
    }
  }

  /** Stops watching. */
  function close(): void {
    isClosed = true;
    for (const { watch } of watched.values()) watch?.stop();
    watched.clear();
  }

  /** Watches a session, unless it can't end. */
  function watch(
    session: RequestSession,
    isFirst: boolean,
  ): Watched | undefined {
    const { sessionKey } = session;
    if (sessionKey === undefined || isClosed) return undefined;
    const known = watched.get(sessionKey);
    if (known !== undefined) return known;
    const members = new Set<EndSubscription>();
    const added: Watched = { members, isFirst, hasEnded: false };
    watched.set(sessionKey, added);
    added.watch = session.watchSession(() => {
      added.hasEnded = true;
      // Code that reads another session has just verified it.
      if (!isFirst) watched.delete(sessionKey);
      for (const end of members) end(sessionEnded());
      members.clear();
    });
    return added;
  }

  return { begin, add, join, leave, close };
}

/** The router's state of a connection. */
export type ConnectionState = ReturnType<typeof createState>;

const states = new WeakMap<WSConnectionData, ConnectionState>();

/**
 * Creates the state of a connection, with the current span, and the sessions of
 * the request that opens it.
 *
 * @param endWithSession Whether subscriptions end with their sessions.
 * @param work Counts the running generators.
 */
export function createState(
  data: WSConnectionData,
  request: Request | undefined,
  endWithSession: boolean,
  work = new WorkCounter(),
) {
  const state = {
    /**
     * The number of running generators. An aborted one may still wait for
     * something. It has no id then, but a cost.
     */
    generators: 0,
    /** The running generators of all connections that close together. */
    work,
    /** Bytes of answers since the client had read everything. */
    unread: 0,
    /** At most this many bytes of subscriptions' messages are unsent. */
    waiting: 0,
    /** The sessions that end subscriptions, unless that is turned off. */
    sessions: endWithSession ? createSessions(request) : undefined,
    /**
     * Opens spans. Subscriptions run after the request that opened their socket, so
     * each has its own trace, with that request as parent.
     */
    openSpan: currentScope()?.span?.continuation(),
  };
  states.set(data, state);
  return state;
}

/**
 * Returns the state of a connection, also of one without the plugin.
 *
 * @throws {TypeError} If the server hasn't set the socket's data.
 */
export function stateOf(data: WSConnectionData): ConnectionState {
  const known = states.get(data);
  if (known !== undefined) return known;
  if (!(Object(data).subscriptions instanceof Map)) {
    throw new TypeError(
      `Cannot serve socket: ws.data must be a WSConnectionData, received ${
        describe(data)
      }; set it before the first message`,
    );
  }
  // A message isn't part of the request that opened its socket.
  return runOutside(() => createState(data, data.originalRequest, true));
}

function sessionEnded(): RPCError {
  const details = { reason: "SESSION_ENDED" };
  return new RPCError("UNAUTHORIZED", "The session has ended", 401, {
    details,
  });
}
