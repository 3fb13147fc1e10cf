/**
 * Tracks whether a response depends on who sent the request.
 *
 * Modules that know the user call {@linkcode markPersonal} whenever code asks
 * for the user. The mark goes from that code to all scopes around it:
 *
 * ```
 *   request ◀─── page cache ◀─── request of an inner app ◀─── getUser()
 *   marked       keeps nothing   marked
 *
 *   request ◀─── cached() ◀──────────────────────────────── getUser()
 *                throws: its value would go to every caller
 *
 *   request ◀─── cached() ◀───── anonymous request of its own ◀─── getUser()
 *   not marked   goes on         marked
 * ```
 *
 * @module
 */

import type { RequestContext } from "./context.ts";
import { currentScope, type RequestScope } from "./request_scope.ts";
import type { RequestSession } from "./request_session.ts";

const KEY = "quartet:personal";

/**
 * Marks the response as personal, in all scopes around.
 *
 * @param context The context of the request whose user is asked for, if known.
 * @param isAnonymous Whether that request is known to be anonymous.
 * @param begun The scope where the request was first seen. It is marked as well,
 * in case the code that asks runs elsewhere.
 * @param session The session that the code gets, if known.
 * @throws If the code is part of a shared computation that the request did not
 * begin in, or was given a user's credentials.
 */
export function markPersonal(
  context?: RequestContext,
  isAnonymous = false,
  begun?: RequestScope,
  session?: RequestSession,
): void {
  const isFound = mark(currentScope(), context, isAnonymous, session);
  if (context === undefined || isFound) return;
  // Without a scope for the context, the context itself is the only place.
  if (begun === undefined || !mark(begun, context, isAnonymous, session)) {
    context.set(KEY, true);
  }
  for (let scope = begun; scope !== undefined; scope = scope.outer) {
    scope.isAskedElsewhere ||= scope.isPersonal;
  }
}

/** Whether the request of `context` begins in one of the scopes. */
function mark(
  innermost: RequestScope | undefined,
  context: RequestContext | undefined,
  isAnonymous: boolean,
  session: RequestSession | undefined,
): boolean {
  let isInside = false;
  for (let scope = innermost; scope !== undefined; scope = scope.outer) {
    if (!scope.asked(isInside && isAnonymous, session)) return isInside;
    isInside ||= context !== undefined && scope.ownContext === context;
  }
  return isInside;
}

/**
 * Whether earlier code of this request has asked for the user, such as a
 * middleware that kept the answer.
 */
export function isPersonal(context: RequestContext): boolean {
  const innermost = currentScope();
  const computation = innermost?.computation;
  for (let scope = innermost; scope !== undefined; scope = scope.outer) {
    // A shared computation doesn't depend on the user outside of it, unless the
    // code that asked may have done so for the computation.
    const isInside = scope.computation === computation;
    if (isInside ? scope.isPersonal : scope.isAskedElsewhere) return true;
  }
  return context.get(KEY) === true;
}

/**
 * Notes in all scopes around that only the kit's auth reads these cookies.
 *
 * @param names Names of cookies. A trailing `*` matches any ending. Pass the
 * same array in each call.
 */
export function claimCookies(names: readonly string[]): void {
  for (let scope = currentScope(); scope; scope = scope.outer) {
    scope.ownCookies = joinNames(scope.ownCookies, names);
  }
}

/** Returns the cookies that auth has claimed in the scopes around. */
export function claimedCookies(): readonly string[] {
  let claimed: readonly string[] = [];
  for (let scope = currentScope(); scope; scope = scope.outer) {
    claimed = joinNames(claimed, scope.ownCookies);
  }
  return claimed;
}

/** Merges two lists. Returns one of them if it contains the other. */
export function joinNames(
  a: readonly string[],
  b: readonly string[],
): readonly string[] {
  if (a === b || b.length === 0) return a;
  if (a.length === 0) return b;
  const more = b.filter((name) => !a.includes(name));
  return more.length === 0 ? a : [...a, ...more];
}

/**
 * Marks a request as one that changes nothing, in its scope and in the scopes of
 * hosts around that handle the same request.
 *
 * @param refused The response of a guard that refused it. All scopes around store
 * the response's form, because a host may pass it on under another URL.
 */
export function markIdle({ method, url }: Request, refused?: Response): void {
  const refusal = refused &&
    { status: refused.status, location: refused.headers.get("location") };
  // A scope without a context belongs to the request of the next one with one.
  let undecided: RequestScope[] = [];
  let isSame = true;
  for (let scope = currentScope(); scope; scope = scope.outer) {
    scope.refusal = refusal ?? scope.refusal;
    undecided.push(scope);
    if (scope.ownContext === undefined && scope.outer !== undefined) continue;
    const { request } = Object(scope.ownContext) as { request?: Request };
    isSame &&= request === undefined ||
      request.method === method && request.url === url;
    if (isSame) { for (const one of undecided) one.isIdle = true; }
    undecided = [];
  }
}

/**
 * Whether a request changes nothing: it was marked so, or the response is a
 * guard's refusal.
 */
export function isIdle(
  { isIdle, refusal }: RequestScope,
  { status, headers }: Response,
): boolean {
  return isIdle ||
    refusal?.status === status && refusal.location === headers.get("location");
}

/**
 * Notes in the scopes around which `Cache-Control` the kit has added to a
 * response.
 */
export function noteCacheControl(value: string): void {
  for (let scope = currentScope(); scope; scope = scope.outer) {
    scope.givenCacheControl = value;
  }
}
