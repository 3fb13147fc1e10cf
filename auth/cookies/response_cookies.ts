import {
  isPrivate,
  readResponse,
  sharedCacheHeaders,
} from "../../core/http/cache_control.ts";
import {
  attempt,
  type MaybePromise,
  whenDone,
} from "../../core/maybe_async.ts";
import { isA } from "../../core/is_a.ts";
import { isUnread } from "../../core/http/is_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import type { DirectNext } from "../../core/middleware.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import { AuthError } from "../error.ts";
import type { RequestAuth } from "../request_auth.ts";

/**
 * Runs the rest of a request and sets the pending cookies with its response. A
 * thrown response gets them too, and so does an {@linkcode AuthError}'s.
 */
export function withCookies(
  auth: RequestAuth,
  next: DirectNext,
): MaybePromise<Response> {
  return whenDone(attempt(next, recover), finish, auth);
}

function finish(response: Response, auth: RequestAuth): MaybePromise<Response> {
  // A switch of protocols sets no cookies, and its request can't be read.
  if (response.status < 200) return response;
  return auth.isRefreshDue() && !readResponse(response.headers).isShared
    ? refresh(auth, response)
    : setCookies(response, auth.takeCookies());
}

function recover(error: unknown): Response {
  if (isUnread(error)) return error;
  if (error instanceof AuthError) return error.toResponse();
  throw error;
}

/** Refreshes the session. The old one is still valid, so a failure is only logged. */
async function refresh(
  auth: RequestAuth,
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
  return setCookies(response, auth.takeCookies());
}

/**
 * Returns a copy with cookies. A handler may give one response to everybody.
 */
function setCookies(given: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return given;
  const response = new Response(given.body, given);
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
