/**
 * Checks the credentials of a request:
 *
 *     Authorization: Bearer ─┐
 *     providers, API keys   ─┼─► verified session ─► session callback
 *     session cookie        ─┘                     ─► onSessionValidate
 *
 * It stays synchronous where nothing waits. Most cookies were verified before.
 *
 * @module
 */

import { hasHeader } from "../core/http/message.ts";
import { isA } from "../core/check/rules.ts";
import { attempt, whenDone } from "../core/promises.ts";
import { observe } from "../core/observe.ts";
import type { ObservedSpan } from "../core/observed_span.ts";
import { UnavailableError } from "../core/error_response.ts";
import { findCookie } from "./cookies/cookies.ts";
import type { AuthCore } from "./core.ts";
import type { RejectionReason } from "./events.ts";
import type { AuthProvider } from "./provider.ts";
import { runCallbacks } from "./sessions/callbacks.ts";
import { toPayload } from "./sessions/session_claims.ts";
import { sessionFromUser } from "./sessions/session_user.ts";
import {
  type AuthResult,
  isVerified,
  Rejection,
  type SignedSource,
  Unverified,
} from "./sessions/verify_session.ts";
import type { User } from "./user.ts";

const BEARER = /^bearer(?: +|$)/i;

/** Checks the credentials of a request, in a span if it is traced. */
export function authenticate(
  core: AuthCore,
  request: Request,
): AuthResult | Promise<AuthResult> {
  return observe("auth:session", "auth", check, core, request);
}

function check(
  span: ObservedSpan | undefined,
  core: AuthCore,
  request: Request,
): AuthResult | Promise<AuthResult> {
  const result = runCallbacks(core.callbacks, checkCredentials(core, request));
  return span === undefined ? result : whenDone(result, note, span);
}

/** Notes the result of a check on its span. */
function note(result: AuthResult, span: ObservedSpan): AuthResult {
  span.setAttribute("app.auth.result", nameOf(result));
  const provider = providerOf(result);
  if (typeof provider === "string") {
    span.setAttribute("app.auth.provider", provider);
  }
  if (result !== undefined && !isVerified(result)) {
    const why = result instanceof Rejection ? REJECTED[result.reason] : AWAY;
    span.setAttribute("app.reason", `anonymous: ${why}`);
  }
  return result;
}

function nameOf(result: AuthResult): string {
  if (result === undefined) return "anonymous";
  if (result instanceof Unverified) return "unavailable";
  return result instanceof Rejection ? result.reason : result.credentialSource;
}

const REJECTED: Readonly<Record<RejectionReason, string>> = {
  malformed: "the session is malformed, or signed with another secret",
  expired: "the session has expired",
  revoked: "the store doesn't know the session",
  refused: "onSessionValidate refused the session",
  ambiguous: "the request has several different session cookies",
  invalid_key: "the provider refused the key",
};

const AWAY = "the session store can't be reached";

function providerOf(result: AuthResult): unknown {
  if (isVerified(result)) return result.payload["provider"];
  return result instanceof Rejection ? result.provider : undefined;
}

/**
 * A bearer token decides alone. Then come the providers, then the cookie:
 * explicit credentials win over those that browsers add.
 */
function checkCredentials(
  core: AuthCore,
  request: Request,
): AuthResult | Promise<AuthResult> {
  const { headers } = request;
  const authorization = headers.get("authorization");
  if (authorization !== null && BEARER.test(authorization)) {
    const token = authorization.replace(BEARER, "").trimEnd();
    return verifySigned(core, request, token, "bearer");
  }
  for (const provider of core.providers.values()) {
    const user = provider.authenticate?.(request);
    if (user !== undefined) return verifyUser(core, provider, request, user);
  }
  const found = findCookie(headers.get("cookie"), core.settings.cookie.name);
  if (found === undefined) return undefined;
  const { value, isAmbiguous } = found;
  return value === undefined
    ? new Rejection(isAmbiguous ? "ambiguous" : "malformed", "cookie")
    : verifySigned(core, request, value, "cookie");
}

/** Verifies a cookie or a token, and decides what happens if that is impossible. */
function verifySigned(
  core: AuthCore,
  request: Request,
  value: string,
  source: SignedSource,
): AuthResult | Promise<AuthResult> {
  return attempt(verify, recover, core, request, value, source);
}

function verify(
  { sessions }: AuthCore,
  _request: Request,
  value: string,
  source: SignedSource,
): AuthResult | Promise<AuthResult> {
  return sessions.verify(value, source);
}

function recover(
  error: unknown,
  { settings }: AuthCore,
  { headers }: Request,
  _value: string,
  source: SignedSource,
): AuthResult {
  // A socket would stay anonymous even after the store is back.
  const isRefused = settings.fallback === "refuse" ||
    hasHeader(headers, "upgrade");
  if (isRefused || !isA(error, UnavailableError)) throw error;
  return new Unverified(error, source);
}

/** Returns the session of a user whom a provider has found by the request. */
async function verifyUser(
  { now }: AuthCore,
  provider: AuthProvider,
  request: Request,
  authenticated: Promise<User | null>,
): Promise<AuthResult> {
  const user = await authenticated;
  // Untyped code may return `undefined` instead of `null`.
  if (user === null || user === undefined) {
    return new Rejection("invalid_key", "request", provider.id);
  }
  const session = sessionFromUser(user, provider.id);
  // It ends with the request, so it needs no expiry.
  const iat = Math.floor(now() / 1000);
  const isSentByBrowsers = typeof provider.isSentByBrowsers === "function"
    ? provider.isSentByBrowsers(request)
    : provider.isSentByBrowsers;
  return {
    payload: toPayload(session, { iat, exp: iat, auth_time: iat }),
    session,
    record: undefined,
    value: "",
    credentialSource: "request",
    // Only `false` turns the CSRF checks off.
    isSentByBrowsers: isSentByBrowsers !== false,
  };
}
