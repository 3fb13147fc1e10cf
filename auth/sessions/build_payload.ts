/**
 * Calls the `jwt` callback, which builds the payload of a session.
 *
 * @module
 */

import { isSecretField } from "../../core/redact/secret_names.ts";
import { kindOf } from "../../core/check/show.ts";
import type { Emit } from "../events.ts";
import type { AuthCallbacks } from "../options.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import type { BaseUser, Session } from "../user.ts";
import { checkUser, isCustomClaim, PROTECTED } from "./claims.ts";
import { keep } from "./kept_values.ts";

/** Builds a session's payload from the default payload. */
export type BuildPayload<U extends BaseUser> = (
  payload: JWTPayload,
  session: Session<U>,
  user?: U,
) => JWTPayload | Promise<JWTPayload>;

/** Creates the {@linkcode BuildPayload} of the `jwt` callback. */
export function createBuildPayload<U extends BaseUser>(
  { jwt }: AuthCallbacks<U>,
  emit: Emit,
): BuildPayload<U> {
  if (jwt === undefined) return (payload) => payload;
  return async (payload, session, user) => {
    const token = structuredClone(payload);
    const built = await jwt(
      user === undefined ? { token, session } : { token, session, user },
    );
    if (typeof built !== "object" || built === null || Array.isArray(built)) {
      throw new TypeError(
        `Cannot keep session: the jwt callback must return a payload, received ${
          kindOf(built)
        }`,
      );
    }
    return protect(
      payload,
      built,
      (name) => emit({ type: "claim_ignored", name }),
    );
  };
}

/**
 * Returns the payload that the callback has built, with the session's protected
 * claims and without secrets.
 *
 * @param ignored Called with the name of each claim whose change is ignored.
 * @throws {TypeError} If `email`, `name` or `roles` is of the wrong type.
 */
function protect(
  payload: JWTPayload,
  built: JWTPayload,
  ignored: (name: string) => void,
): JWTPayload {
  const result = {} as JWTPayload;
  for (const name of PROTECTED) {
    if (Object.hasOwn(payload, name)) result[name] = payload[name];
    if (!isEqual(built[name], payload[name])) ignored(name);
  }
  Object.assign(result, readProfile(payload.sub, built));
  for (const [key, value] of Object.entries(built)) {
    if (!isCustomClaim(key)) continue;
    if (isSecretField(key)) ignored(key);
    keep(result, key, value);
  }
  return result;
}

/** Returns the user fields that the callback may change. */
function readProfile(
  id: string,
  built: JWTPayload,
): Record<string, unknown> {
  const { email, name, roles } = built as Partial<BaseUser>;
  checkUser(
    { id, email, name, roles },
    "sub",
    "of the payload that the jwt callback returned",
  );
  const profile: Record<string, unknown> = {};
  // The callback may change its array of roles later, so it is copied.
  const fields = Object.entries({ email, name, roles: roles?.slice() });
  for (const [key, value] of fields) {
    if (value !== undefined && value !== null) profile[key] = value;
  }
  return profile;
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
