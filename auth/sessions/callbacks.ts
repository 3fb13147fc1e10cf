/**
 * Calls the callbacks that shape and check sessions: `jwt`, `session` and
 * `onSessionValidate`.
 *
 * @module
 */

import { isObject, kindOf } from "../../core/check/rules.ts";
import { isSecretField } from "../../core/redact/redact_url.ts";
import type { Emit } from "../events.ts";
import type { AuthCallbacks } from "../options.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import type { BaseUser, Session, User } from "../user.ts";
import {
  definedFields,
  isCustomClaim,
  isSame,
  keep,
  PROTECTED_CLAIMS,
} from "./claims.ts";
import { copySession } from "./session_claims.ts";
import { checkUser } from "./session_user.ts";
import {
  type AuthResult,
  isVerified,
  Rejection,
  type VerifiedSession,
} from "./verify_session.ts";

/**
 * Calls the `jwt` callback, which builds a session's payload from the default.
 * The result has the session's protected claims, and no secrets.
 *
 * @throws {TypeError} If `email`, `name` or `roles` is of the wrong type.
 */
export async function callJwt(
  { jwt }: AuthCallbacks,
  emit: Emit,
  payload: JWTPayload,
  session: Session,
  user?: User,
): Promise<JWTPayload> {
  if (jwt === undefined) return payload;
  const token = structuredClone(payload);
  const built = await jwt({ token, session, ...(user && { user }) });
  if (!isObject(built)) {
    const received = kindOf(built);
    throw new TypeError(
      `Cannot keep session: the jwt callback must return a payload, received ${received}`,
    );
  }
  const ignore = (name: string) => emit({ type: "claim_ignored", name });
  const result = {} as JWTPayload;
  for (const name of PROTECTED_CLAIMS) {
    if (Object.hasOwn(payload, name)) result[name] = payload[name];
    if (!isSame(built[name], payload[name])) ignore(name);
  }
  const { email, name, roles } = built as Partial<BaseUser>;
  checkUser(
    { id: payload.sub, email, name, roles },
    "sub",
    "of the payload that the jwt callback returned",
  );
  // The callback may change its array of roles later, so it is copied.
  Object.assign(result, definedFields({ email, name, roles: roles?.slice() }));
  for (const [key, value] of Object.entries(built)) {
    if (!isCustomClaim(key)) continue;
    if (isSecretField(key)) ignore(key);
    keep(result, key, value);
  }
  return result;
}

/**
 * Calls the `session` callback, which builds the session that handlers see.
 *
 * @throws {TypeError} If it returns no session. A string of roles would
 * otherwise be roles of one letter each.
 */
export async function callSession(
  { session: build }: AuthCallbacks,
  verified: VerifiedSession,
): Promise<VerifiedSession> {
  if (build === undefined) return verified;
  const custom = await build({
    token: structuredClone(verified.payload),
    session: copySession(verified.session),
  });
  if (typeof custom !== "object" || custom === null) {
    const received = kindOf(custom);
    throw new TypeError(
      `Cannot read session: the session callback must return one, received ${received}`,
    );
  }
  checkUser(
    { ...custom, id: custom.userId },
    "userId",
    "of what the session callback returned",
  );
  return { ...verified, custom };
}

/** In all strategies: the `session` callback, then `onSessionValidate`. */
export function runCallbacks(
  callbacks: AuthCallbacks,
  result: AuthResult | Promise<AuthResult>,
): AuthResult | Promise<AuthResult> {
  const { session, onSessionValidate } = callbacks;
  return result === undefined || !(session ?? onSessionValidate)
    ? result
    : validate(callbacks, result);
}

async function validate(
  callbacks: AuthCallbacks,
  result: AuthResult | Promise<AuthResult>,
): Promise<AuthResult> {
  const { onSessionValidate } = callbacks;
  const checked = await result;
  if (!isVerified(checked)) return checked;
  const verified = await callSession(callbacks, checked);
  const session = verified.custom ?? copySession(verified.session);
  // Only a truthy answer means yes.
  return onSessionValidate === undefined || await onSessionValidate(session)
    ? verified
    : new Rejection("refused", verified.credentialSource);
}
