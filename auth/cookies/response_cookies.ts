import {
  isPrivate,
  readResponse,
  sharedCacheHeaders,
} from "../../core/http/cache_control.ts";
import { attempt, type MaybePromise, whenDone } from "../../core/promises.ts";
import { isA } from "../../core/check/rules.ts";
import { copyResponse, isUnread } from "../../core/http/message.ts";
import { printableError } from "../../core/redact/printable.ts";
import type { DirectNext } from "../../core/middleware.ts";
import { UnavailableError } from "../../core/error_response.ts";
import type { AuthCore } from "../core.ts";
import { AuthError } from "../error.ts";
import type { RequestAuth } from "../request_auth.ts";
import { isPieceOf } from "./cookies.ts";

/**
 * How long after the start of a request its response refreshes the session, in
 * milliseconds. During a long poll, a user may sign out or in as somebody else.
 * Then the late cookie would bring the old user back. Most requests are quicker,
 * and one that isn't leaves the refresh to the next.
 */
const MAX_REFRESH_DELAY = 5_000;

/**
 * Runs the rest of a request and sets the pending cookies with its response. A
 * thrown response gets them too, and so does an {@linkcode AuthError}'s.
 *
 * @param begun The time at which the request came.
 */
export function withCookies(
  auth: RequestAuth,
  core: AuthCore,
  begun: number,
  next: DirectNext,
): MaybePromise<Response> {
  return whenDone(attempt(next, recover), finish, auth, core, begun);
}

function finish(
  response: Response,
  auth: RequestAuth,
  { settings, now }: AuthCore,
  begun: number,
): MaybePromise<Response> {
  const { name } = settings.cookie;
  // A switch of protocols sets no cookies, and its request can't be read.
  auth.isUpgraded = response.status < 200;
  if (auth.isUpgraded) return response;
  const isDue = auth.isRefreshDue() && now() - begun <= MAX_REFRESH_DELAY &&
    !readResponse(response.headers).isShared &&
    !isSetInside(response, name, []);
  return isDue
    ? refresh(auth, name, response)
    : setCookies(response, name, auth.takeCookies());
}

function recover(error: unknown): Response {
  if (isUnread(error)) return error;
  if (error instanceof AuthError) return error.toResponse();
  throw error;
}

/** Refreshes the session. The old one is still valid, so a failure is only logged. */
async function refresh(
  auth: RequestAuth,
  name: string,
  response: Response,
): Promise<Response> {
  try {
    await auth.refreshSession();
  } catch (error) {
    // The store has reported its outage.
    if (!isA(error, UnavailableError)) {
      console.error("A session could not be refreshed:", printableError(error));
    }
  }
  return setCookies(response, name, auth.takeCookies());
}

/**
 * Whether auth inside, as of a nested app, has set the session's cookie. It knows
 * what the handler did, such as a sign-out.
 *
 * @param own The cookies of this auth, which a handler may have set itself.
 */
function isSetInside(
  { headers }: Response,
  name: string,
  own: readonly string[],
): boolean {
  return headers.getSetCookie().some((cookie) =>
    isPieceOf(nameOf(cookie), name) && !own.includes(cookie)
  );
}

function nameOf(cookie: string): string {
  return cookie.slice(0, cookie.indexOf("="));
}

/**
 * Returns a copy with cookies. A handler may give one response to everybody.
 */
function setCookies(
  given: Response,
  name: string,
  pending: readonly string[],
): Response {
  if (pending.length === 0) return given;
  const cookies = isSetInside(given, name, pending)
    ? pending.filter((cookie) => !isPieceOf(nameOf(cookie), name))
    : pending;
  const response = copyResponse(given);
  const { headers } = response;
  const present = new Set(headers.getSetCookie());
  for (const cookie of cookies) {
    if (!present.has(cookie)) headers.append("set-cookie", cookie);
  }
  // A shared cache would give the session to other users: it may store
  // responses that set cookies (RFC 9111, section 7.3).
  const control = headers.get("cache-control");
  if (control === null) headers.set("cache-control", "private");
  else if (!isPrivate(control)) {
    headers.set("cache-control", "private, no-cache");
  }
  for (const name of sharedCacheHeaders(headers)) headers.delete(name);
  return response;
}
