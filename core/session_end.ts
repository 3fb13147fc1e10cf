/**
 * Notifies code that outlives its request, such as a subscription, of the end of
 * the request's session. Auth and RPC know only this file of each other:
 *
 * ```
 *   request that opens a socket
 *     auth: a session was verified ──► noteSession(), noteSessionOf()
 *     rpc:  sessionsOf() ──► the sessions of the socket
 *
 *   subscription on the socket, in a WatchScope
 *     getUser() ──► markPersonal() ──► the session, for as long as it lasts
 * ```
 *
 * @module
 */

import { hasHeader } from "./http/message.ts";
import { currentScope } from "./request_scope.ts";
import type { RequestSession } from "./request_session.ts";

/** Sessions by the request that opens a socket. */
const byRequest = new WeakMap<Request, RequestSession[]>();

/** Notes the session of the request that begins in the current scope. */
export function noteSession(session: RequestSession): void {
  const scope = currentScope();
  if (scope === undefined) return;
  if (scope.sessions === undefined) scope.sessions = [session];
  else scope.sessions.push(session);
}

/**
 * Notes the session of a request that passes no middleware, if the request opens
 * a socket. The scope may be missing, or end before the upgrade.
 *
 * @param session A session that code has asked for.
 */
export function noteSessionOf(request: Request, session: RequestSession): void {
  if (
    session.sessionKey === undefined || !hasHeader(request.headers, "upgrade")
  ) {
    return;
  }
  const known = byRequest.get(request);
  if (known === undefined) byRequest.set(request, [session]);
  else addAsked(known, session);
  for (let scope = currentScope(); scope !== undefined; scope = scope.outer) {
    addAsked(scope.sessions ??= [], session);
  }
}

/** A subscription may ask again and again, so each session is kept once. */
function addAsked(sessions: RequestSession[], session: RequestSession): void {
  const isKnown = sessions.some(({ sessionKey, isAsked }) =>
    isAsked && sessionKey === session.sessionKey
  );
  if (!isKnown) sessions.push(session);
}

/** Returns the sessions that a request to open a socket has brought. */
export function sessionsOf(request: Request): RequestSession[] {
  const sessions = new Set(byRequest.get(request));
  for (let scope = currentScope(); scope !== undefined; scope = scope.outer) {
    for (const session of scope.sessions ?? []) sessions.add(session);
  }
  return [...sessions];
}
