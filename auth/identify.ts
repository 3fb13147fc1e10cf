/**
 * Finds out who a request is from. Without waiting, where nothing has to be
 * waited for: most requests bring a cookie that was verified before.
 *
 * @module
 */

import { findCookie } from "./cookies/cookies.ts";
import type { AuthCore } from "./core.ts";
import type { AuthProvider } from "./provider.ts";
import { payloadOf, sessionOf, sessionOfUser } from "./sessions/claims.ts";
import type { Identity } from "./sessions/describe.ts";
import type { Proof } from "./sessions/session_proofs.ts";
import { Rejection } from "./sessions/session_proofs.ts";
import type { BaseUser, Session } from "./user.ts";

/** Who a request is from; `undefined` if it doesn't say. */
export type Finding<U extends BaseUser> = Identity<U> | Rejection | undefined;

const BEARER = /^bearer(?: +|$)/i;

/**
 * Who a request is from. A bearer token decides alone, then whatever the
 * providers read of requests, then the cookie: who shows something explicitly
 * doesn't mean what the browser adds.
 *
 * @param now The time, in milliseconds.
 */
export function identify<U extends BaseUser>(
  core: AuthCore<U>,
  request: Request,
  now: () => number,
): Finding<U> | Promise<Finding<U>> {
  const { headers } = request;
  const authorization = headers.get("authorization");
  if (authorization !== null && BEARER.test(authorization)) {
    const token = authorization.replace(BEARER, "").trimEnd();
    return accept(core, core.sessions.prove(token, "bearer"));
  }
  for (const provider of core.requestProviders) {
    const user = provider.authenticate!(request);
    if (user !== undefined) {
      return acceptUser(core, provider, request, user, now);
    }
  }
  const cookies = headers.get("cookie");
  if (cookies === null) return undefined;
  const { value, isAmbiguous, isPresent } = findCookie(
    cookies,
    core.settings.cookie.name,
  );
  if (!isPresent) return undefined;
  if (value === undefined) {
    return new Rejection(isAmbiguous ? "ambiguous" : "malformed", "cookie");
  }
  return accept(core, core.sessions.prove(value, "cookie"));
}

function accept<U extends BaseUser>(
  core: AuthCore<U>,
  proof: Proof | Promise<Proof>,
): Finding<U> | Promise<Finding<U>> {
  if (proof instanceof Promise) {
    return proof.then((proof) => accept(core, proof));
  }
  return proof instanceof Rejection ? proof : validate(core, proof);
}

/** In all strategies: the `session` callback, then `onSessionValidate`. */
function validate<U extends BaseUser>(
  core: AuthCore<U>,
  identity: Identity<U>,
): Identity<U> | Rejection | Promise<Identity<U> | Rejection> {
  const { callbacks: { session, onSessionValidate }, describe } = core;
  if (session === undefined && onSessionValidate === undefined) {
    return identity;
  }
  return (async () => {
    const described = await describe(identity);
    const { template, evidence } = described;
    const session = described.session ?? sessionOf<U>(template);
    // A callback that finds nobody, and gives `undefined`, has not said yes.
    if (onSessionValidate === undefined || await onSessionValidate(session)) {
      return described;
    }
    return new Rejection("refused", evidence);
  })();
}

async function acceptUser<U extends BaseUser>(
  core: AuthCore<U>,
  provider: AuthProvider<U>,
  request: Request,
  promise: Promise<U | null>,
  now: () => number,
): Promise<Finding<U>> {
  const user = await promise;
  if (user === null || user === undefined) {
    return new Rejection("invalid_key", "request");
  }
  const session = sessionOfUser(user, provider.id);
  const time = Math.floor(now() / 1000);
  // It lasts as long as the request, which nobody's clock has to measure.
  const payload = payloadOf(session, {
    sid: undefined,
    iat: time,
    exp: time,
    auth_time: time,
    iss: undefined,
    aud: undefined,
  });
  return await validate(core, {
    payload,
    template: session as Session,
    record: undefined,
    value: "",
    evidence: "request",
    session,
    isSentByBrowsers: isSentByBrowsers(provider, request),
  });
}

/** Whether CSRF checks apply. Only `false` turns them off. */
function isSentByBrowsers<U extends BaseUser>(
  provider: AuthProvider<U>,
  request: Request,
): boolean {
  const answer = typeof provider.isSentByBrowsers === "function"
    ? provider.isSentByBrowsers(request)
    : provider.isSentByBrowsers;
  return answer !== false;
}
