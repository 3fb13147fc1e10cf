/**
 * What a session consists of, in its three forms: the user that a provider
 * gives, the payload of a token, and the session that handlers see.
 *
 * @module
 */

import { kindOf } from "../../app/internal/show.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import type { BaseUser, Claims, Session, User } from "../user.ts";
import { fixedDate } from "./fixed_date.ts";

/**
 * Claims that only the session decides about: those that RFC 7519, section 4.1,
 * and OpenID Connect give a meaning, and the session's own.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "sub",
  "iat",
  "exp",
  "nbf",
  "iss",
  "aud",
  "jti",
  "sid",
  "auth_time",
  "email",
  "name",
  "roles",
  "provider",
]);

/** Keys that mean something to JavaScript, and to nobody else. */
const TREACHEROUS = new Set(["__proto__", "constructor", "prototype"]);

/** Keys of secrets, in lower case and without separators. */
const SECRET =
  /passw(or)?d|passphrase|^pwd|(pwd|hash|salt|tokens?|secrets?|(api|private|secret|signing)keys?|(backup|recovery)codes?)$/;

/** Whether a key sounds like that of a secret: `passwordHash`, `access_token`. */
function soundsSecret(key: string): boolean {
  return SECRET.test(key.replace(/[^a-z\d]/gi, "").toLowerCase());
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
  return Array.isArray(value) &&
    value.every((role) => typeof role === "string");
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
    if (key !== "id" && !RESERVED.has(key)) keep(claims, key, value);
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
    if (!RESERVED.has(key)) keep(payload, key, value);
  }
  return payload;
}

/**
 * The payload, with what a callback has added to it.
 *
 * @param ignored Gets the names of what it has added or changed in vain.
 */
export function withClaims(
  payload: JWTPayload,
  changed: JWTPayload,
  ignored: (name: string) => void,
): JWTPayload {
  const result = {} as JWTPayload;
  for (const name of RESERVED) {
    if (Object.hasOwn(payload, name)) result[name] = payload[name];
    if (!isEqual(changed[name], payload[name])) ignored(name);
  }
  for (const [key, value] of Object.entries(changed)) {
    if (RESERVED.has(key)) continue;
    if (soundsSecret(key)) ignored(key);
    keep(result, key, value);
  }
  return result;
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
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
    if (!RESERVED.has(key)) keep(claims, key, value);
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

/** Keeps a copy of what JSON carries of a value, unless it may be a secret. */
function keep(
  target: Record<string, unknown>,
  key: string,
  value: unknown,
): void {
  if (TREACHEROUS.has(key) || soundsSecret(key)) return;
  const copy = copyJSON(value, key);
  if (copy !== undefined) target[key] = copy;
}

function copyJSON(value: unknown, key: string, depth = 0): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "object":
      break;
    case "bigint":
      throw new TypeError(
        `Cannot keep ${
          JSON.stringify(key)
        } in a session: JSON doesn't carry a bigint; make it a string`,
      );
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth >= 20) {
    throw new TypeError(
      `Cannot keep ${
        JSON.stringify(key)
      } in a session: it is nested deeper than 20 levels, or contains itself`,
    );
  }
  if (Array.isArray(value)) {
    return value.map((item) => copyJSON(item, key, depth + 1) ?? null);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copyJSON(value.toJSON(key), key, depth + 1);
  }
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (TREACHEROUS.has(name) || soundsSecret(name)) continue;
    const kept = copyJSON(item, key, depth + 1);
    if (kept !== undefined) copy[name] = kept;
  }
  return copy;
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

function checkUser(user: BaseUser, idName: string, whose: string): void {
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
