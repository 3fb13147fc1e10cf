/**
 * Maps sessions to the claims of a token, and back. Copies sessions.
 *
 * @module
 */

import type { JWTPayload } from "../tokens/jwt.ts";
import type { Session } from "../user.ts";
import { customClaims, definedFields } from "./claims.ts";
import { checkUser, someRoles } from "./session_user.ts";

/**
 * Returns the payload of a session.
 *
 * @param token The claims that don't come from the user.
 * @throws {TypeError} If a field of the session is of the wrong type.
 */
export function toPayload(
  session: Session,
  token: Partial<JWTPayload> & Pick<JWTPayload, "iat" | "exp">,
): JWTPayload {
  const { userId, email, name, roles, provider, claims } = session;
  checkUser(
    { id: userId, email, name, roles },
    "userId",
    "of the session that onSessionCreated returned",
  );
  const payload: JWTPayload = definedFields({
    sub: userId,
    ...token,
    email,
    name,
    // A copy: a callback that changes the session's comes later.
    roles: roles?.slice(),
    provider,
  });
  return Object.assign(payload, customClaims(claims ?? {}));
}

/**
 * Returns the session of a payload. Requests share it, and their handlers get
 * copies, which cost a tenth of going through the payload again.
 */
export function fromPayload(payload: JWTPayload): Readonly<Session> {
  const { sub, iat, exp, sid, email, name, roles, provider } = payload as
    & JWTPayload
    & Pick<Session, "email" | "name" | "roles" | "provider">;
  const session: Session = { userId: sub };
  if (email !== undefined) session.email = email;
  if (name !== undefined) session.name = name;
  if (roles !== undefined) session.roles = roles;
  if (sid !== undefined) session.sessionId = sid;
  if (provider !== undefined) session.provider = provider;
  const claims = customClaims(payload);
  if (claims !== undefined) session.claims = claims;
  session.issuedAt = fixedDate(iat);
  session.expiresAt = fixedDate(exp);
  return session;
}

/**
 * Returns the session of a payload that any issuer may have signed, or
 * `undefined` if no session can have such claims.
 */
export function fromForeignPayload(
  payload: JWTPayload,
): Readonly<Session> | undefined {
  const { email, name, provider, roles, sid, auth_time } = payload;
  const isSession =
    [email, name, provider, sid].every((value) =>
      value === undefined || typeof value === "string"
    ) &&
    (roles === undefined || someRoles.test(roles)) &&
    (auth_time === undefined || Number.isFinite(auth_time));
  if (!isSession) return undefined;
  try {
    return fromPayload(payload);
  } catch {
    // Nested deeper than sessions are.
    return undefined;
  }
}

/** Returns a copy of a shared session, for one request. */
export function copySession(shared: Readonly<Session>): Session {
  const session = { ...shared };
  if (session.roles !== undefined) session.roles = session.roles.slice();
  if (session.claims !== undefined) {
    session.claims = customClaims(session.claims);
  }
  return session;
}

/**
 * A `Date` that can't be changed, so that all copies of a session share it.
 * Creating two dates costs as much as finding the session.
 */
class FixedDate extends Date {}

for (const name of Object.getOwnPropertyNames(Date.prototype)) {
  if (!name.startsWith("set")) continue;
  Object.defineProperty(FixedDate.prototype, name, {
    value(): never {
      throw new TypeError(
        `Cannot ${name} a session's date: make a copy with new Date(date)`,
      );
    },
  });
}
// Comparing and printing treat it like any other date.
Object.defineProperty(FixedDate.prototype, "constructor", { value: Date });

/** Returns a date that can't be changed, from seconds of the Unix epoch. */
function fixedDate(seconds: number): Date {
  return new FixedDate(seconds * 1000);
}
