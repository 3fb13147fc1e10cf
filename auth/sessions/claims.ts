/**
 * What a session consists of, in its three forms: the user that a provider
 * gives, the payload of a token, and the session that handlers see.
 *
 * @module
 */

import { kindOf } from "../../core/check/show.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import type { BaseUser, Claims, Session, User } from "../user.ts";
import { fixedDate } from "./fixed_date.ts";
import { copyJSON, keep } from "./kept_values.ts";

/**
 * Claims that only the session decides about: those that RFC 7519, section 4.1,
 * and OpenID Connect give a meaning, and the session's own.
 */
export const PROTECTED: readonly string[] = [
  "sub",
  "iat",
  "exp",
  "nbf",
  "iss",
  "aud",
  "jti",
  "sid",
  "auth_time",
  "provider",
];

/** Claims that are fields of a session rather than custom claims. */
const RESERVED: ReadonlySet<string> = new Set([
  ...PROTECTED,
  "email",
  "name",
  "roles",
]);

/** Whether a claim is a custom one, as in `session.claims`. */
export function isCustomClaim(name: string): boolean {
  return !RESERVED.has(name);
}

/** Whether a payload is one that a session can be built from. */
export function isSessionPayload(payload: JWTPayload): boolean {
  const { email, name, provider, roles, sid, auth_time } = payload;
  return [email, name, provider, sid].every((value) =>
    value === undefined || typeof value === "string"
  ) &&
    (roles === undefined || isRoles(roles)) &&
    (auth_time === undefined || Number.isFinite(auth_time));
}

function isRoles(value: unknown): value is string[] {
  // `every()` alone would skip the holes of an array.
  return Array.isArray(value) &&
    Array.from(value).every((role) => typeof role === "string");
}

/**
 * Makes the session of a user who has just authenticated.
 *
 * @throws {TypeError} If a field of the user is of the wrong type.
 */
export function sessionOfUser<U extends BaseUser>(
  user: U,
  provider: string,
): Session<U> {
  checkUser(
    user,
    "id",
    `of the user that provider ${JSON.stringify(provider)} gave`,
  );
  // Rows of a database have `null` where there is nothing.
  const email = user.email ?? undefined;
  const name = user.name ?? undefined;
  const roles = user.roles ?? undefined;
  const claims: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(user)) {
    if (key !== "id" && isCustomClaim(key)) keep(claims, key, value);
  }
  const session: Session<User> = { userId: user.id, provider };
  if (email !== undefined) session.email = email;
  if (name !== undefined) session.name = name;
  if (roles !== undefined) session.roles = [...roles];
  if (Object.keys(claims).length > 0) session.claims = claims;
  return session as Session<U>;
}

/** The user that a session is of. */
export function userOfSession<U extends BaseUser>(session: Session<U>): U {
  const { userId, email, name, roles, claims } = session;
  const user: User = { ...claims, id: userId };
  if (email !== undefined) user.email = email;
  if (name !== undefined) user.name = name;
  if (roles !== undefined) user.roles = [...roles];
  return user as BaseUser as U;
}

/** What of a payload has to do with time and place, not with the user. */
export interface PayloadFrame {
  readonly sid: string | undefined;
  readonly iat: number;
  readonly exp: number;
  /** When the user has signed in (OpenID Connect Core, section 2). */
  readonly auth_time: number;
  readonly iss: string | undefined;
  readonly aud: string | undefined;
}

/**
 * The payload of a session.
 *
 * @throws {TypeError} If a field of the session is of the wrong type.
 */
export function payloadOf<U extends BaseUser>(
  session: Session<U>,
  frame: PayloadFrame,
): JWTPayload {
  const { userId, email, name, roles, provider, claims } = session;
  checkUser(
    { id: userId, email, name, roles },
    "userId",
    "of the session that onSessionCreated returned",
  );
  const payload: JWTPayload = { sub: userId, iat: frame.iat, exp: frame.exp };
  // A copy of the roles: a callback that changes the session's comes later.
  const rest = { ...frame, email, name, roles: roles?.slice(), provider };
  for (const [key, value] of Object.entries(rest)) {
    if (value !== undefined && value !== null) payload[key] = value;
  }
  for (const [key, value] of Object.entries(claims ?? {})) {
    if (isCustomClaim(key)) keep(payload, key, value);
  }
  return payload;
}

/**
 * What the sessions of a payload have in common. To copy it costs a tenth of
 * going through the payload again.
 */
export type SessionTemplate = Readonly<Session>;

/** The template of a payload. */
export function templateOf(payload: JWTPayload): SessionTemplate {
  const { sub, iat, exp, sid, email, name, roles, provider } = payload as
    & JWTPayload
    & Partial<Record<"email" | "name" | "provider", string>>
    & { roles?: string[] };
  const template: Session = { userId: sub };
  if (email !== undefined) template.email = email;
  if (name !== undefined) template.name = name;
  if (roles !== undefined) template.roles = roles;
  if (sid !== undefined) template.sessionId = sid;
  if (provider !== undefined) template.provider = provider;
  const claims: Claims = {};
  for (const [key, value] of Object.entries(payload)) {
    if (isCustomClaim(key)) keep(claims, key, value);
  }
  if (Object.keys(claims).length > 0) template.claims = claims;
  template.issuedAt = fixedDate(iat);
  template.expiresAt = fixedDate(exp);
  return template;
}

/** A session of its own for whoever asks. */
export function sessionOf<U extends BaseUser>(
  template: SessionTemplate,
): Session<U> {
  const session = { ...template };
  if (session.roles !== undefined) session.roles = session.roles.slice();
  if (session.claims !== undefined) {
    // One level up from where `keep` has begun to count.
    session.claims = copyJSON(session.claims, "claims", -1) as Claims;
  }
  return session as Session<U>;
}

/**
 * Checks what a guard relies on of a session that a callback has built.
 *
 * @throws {TypeError} If a field of the session is of the wrong type.
 */
export function checkSession<U extends BaseUser>(session: Session<U>): void {
  const { userId, email, name, roles } = session;
  checkUser(
    { id: userId, email, name, roles },
    "userId",
    "of what the session callback returned",
  );
}

/**
 * Checks the fields of a user that guards rely on.
 *
 * @param idName The name of the id in the error message.
 * @param whose The source of the fields in the error message.
 * @throws {TypeError} If one is of the wrong type.
 */
export function checkUser(
  user: BaseUser,
  idName: string,
  whose: string,
): void {
  const wrong = (what: string, expected: string, value: unknown) => {
    throw new TypeError(
      `Cannot use session: ${what} ${whose} must be ${expected}, received ${
        value === "" ? "an empty string" : kindOf(value)
      }`,
    );
  };
  const { id, email, name, roles } = user;
  if (typeof id !== "string" || id === "") {
    wrong(idName, "a non-empty string", id);
  }
  if (typeof (email ?? "") !== "string") {
    wrong("email", "a string", email);
  }
  if (typeof (name ?? "") !== "string") {
    wrong("name", "a string", name);
  }
  if (!isRoles(roles ?? [])) {
    wrong("roles", "an array of strings", roles);
  }
}
