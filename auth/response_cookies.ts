import type { Next } from "../app/middleware.ts";
import { AuthError } from "./error.ts";
import type { RequestAuth } from "./request_auth.ts";
import type { BaseUser } from "./user.ts";

/**
 * Runs the rest of a request and has its response set the cookies that came up
 * meanwhile: also if it was thrown, and also if it tells of an
 * {@linkcode AuthError}.
 */
export async function withCookies<U extends BaseUser>(
  auth: RequestAuth<U>,
  next: Next,
): Promise<Response> {
  const response = await answer(next);
  // What switches protocols sets no cookies, and its request can't be read.
  if (response.status < 200) return response;
  if (auth.isRefreshDue() && !isShared(response)) await refresh(auth);
  const cookies = auth.getCookieHeaders();
  return cookies.length === 0 ? response : setCookies(response, cookies);
}

/** The session still holds, and so does the response. */
async function refresh<U extends BaseUser>(
  auth: RequestAuth<U>,
): Promise<void> {
  try {
    await auth.refreshSession();
  } catch (error) {
    console.error("A session could not be refreshed:", error);
  }
}

async function answer(next: Next): Promise<Response> {
  try {
    return await next();
  } catch (error) {
    if (error instanceof Response) return error;
    // What was set up wrongly is the server's fault: its host logs it.
    if (error instanceof AuthError && error.code !== "CONFIG") {
      return error.toResponse();
    }
    throw error;
  }
}

function setCookies(response: Response, cookies: readonly string[]): Response {
  const present = new Set(response.headers.getSetCookie());
  const missing = cookies.filter((cookie) => !present.has(cookie));
  try {
    return addTo(response, missing);
  } catch (error) {
    // The headers of `Response.redirect()` and of `fetch()` can't be changed.
    if (!(error instanceof TypeError)) throw error;
    return addTo(new Response(response.body, response), missing);
  }
}

function addTo(response: Response, cookies: readonly string[]): Response {
  const { headers } = response;
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  // A shared cache would hand the session to strangers (RFC 9111, section 7.3).
  if (isShared(response)) headers.set("cache-control", "private, no-cache");
  else if (!headers.has("cache-control")) {
    headers.set("cache-control", "private");
  }
  return response;
}

/** Whether caches may give the response to others (RFC 9111, section 5.2.2). */
function isShared({ headers }: Response): boolean {
  const control = headers.get("cache-control");
  return control !== null && /\bpublic\b|\bs-maxage\b/i.test(control);
}
