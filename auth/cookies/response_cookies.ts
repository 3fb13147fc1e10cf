import {
  isPrivate,
  isShared,
  sharedCacheHeaders,
} from "../../core/http/cache_control.ts";
import { isResponse } from "../../core/http/is_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import type { Next } from "../../core/middleware.ts";
import { AuthError } from "../error.ts";
import type { RequestAuth } from "../request_auth.ts";

/**
 * Runs the rest of a request and has its response set the cookies that came up
 * meanwhile: also if it was thrown, and also if it tells of an
 * {@linkcode AuthError}.
 */
export async function withCookies(
  auth: RequestAuth,
  next: Next,
): Promise<Response> {
  const response = await answer(next);
  // What switches protocols sets no cookies, and its request can't be read.
  if (response.status < 200) return response;
  if (auth.isRefreshDue() && !isShared(response.headers)) await refresh(auth);
  const cookies = auth.pendingCookies();
  return cookies.length === 0 ? response : setCookies(response, cookies);
}

/** The session still holds, and so does the response. */
async function refresh(
  auth: RequestAuth,
): Promise<void> {
  try {
    await auth.refreshSession();
  } catch (error) {
    console.error("A session could not be refreshed:", printableError(error));
  }
}

async function answer(next: Next): Promise<Response> {
  try {
    return await next();
  } catch (error) {
    if (isResponse(error)) return error;
    // What was set up wrongly is the server's fault: its host logs it.
    if (error instanceof AuthError && error.code !== "CONFIG") {
      return error.toResponse();
    }
    throw error;
  }
}

/**
 * A response of its own: the handler's may be one that it gives to everybody,
 * whom the cookies are nothing to.
 */
function setCookies(given: Response, cookies: readonly string[]): Response {
  const response = new Response(given.body, given);
  const { headers } = response;
  const present = new Set(headers.getSetCookie());
  for (const cookie of cookies) {
    if (!present.has(cookie)) headers.append("set-cookie", cookie);
  }
  // A shared cache would hand the session to strangers: that a response sets a
  // cookie doesn't keep it from being stored (RFC 9111, section 7.3).
  const control = headers.get("cache-control");
  if (control === null) headers.set("cache-control", "private");
  else if (!isPrivate(control)) {
    headers.set("cache-control", "private, no-cache");
  }
  for (const name of sharedCacheHeaders(headers)) headers.delete(name);
  return response;
}
