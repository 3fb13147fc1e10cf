import {
  isPrivate,
  readResponse,
  sharedCacheHeaders,
} from "../../core/http/cache_control.ts";
import { isA } from "../../core/is_a.ts";
import { isResponse } from "../../core/http/is_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import type { Next } from "../../core/middleware.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import { AuthError } from "../error.ts";
import type { RequestAuth } from "../request_auth.ts";

/**
 * Runs the rest of a request and sets the pending cookies with its response. A
 * thrown response gets them too, and so does an {@linkcode AuthError}'s.
 */
export async function withCookies(
  auth: RequestAuth,
  next: Next,
): Promise<Response> {
  const response = await answer(next);
  // A switch of protocols sets no cookies, and its request can't be read.
  if (response.status < 200) return response;
  if (auth.isRefreshDue() && !readResponse(response.headers).isShared) {
    // The old session is still valid, so a failure is only logged.
    await auth.refreshSession().catch((error) => {
      // The store has reported its outage.
      if (isA(error, UnavailableError)) return;
      console.error("A session could not be refreshed:", printableError(error));
    });
  }
  const cookies = auth.takeCookies();
  return cookies.length === 0 ? response : setCookies(response, cookies);
}

async function answer(next: Next): Promise<Response> {
  try {
    return await next();
  } catch (error) {
    if (isResponse(error)) return error;
    if (error instanceof AuthError) return error.toResponse();
    throw error;
  }
}

/**
 * Returns a copy with cookies. A handler may give one response to everybody.
 */
function setCookies(given: Response, cookies: readonly string[]): Response {
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
