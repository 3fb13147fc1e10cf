/**
 * Turns users into sessions, and back.
 *
 * @module
 */

import {
  anArrayOf,
  aNonEmptyString,
  aString,
  kindOf,
  type Rule,
} from "../../core/check/rules.ts";
import type { BaseUser, Session, User } from "../user.ts";
import { customClaims, definedFields } from "./claims.ts";

/** The rule for roles. */
export const someRoles: Rule = anArrayOf("strings", aString);

/**
 * Creates the session of a user who has just authenticated.
 *
 * @throws {TypeError} If a field of the user is of the wrong type.
 */
export function sessionFromUser(
  user: User,
  provider: string | undefined,
): Session {
  checkUser(
    user,
    "id",
    provider === undefined
      ? "of the user"
      : `of the user that provider ${JSON.stringify(provider)} returned`,
  );
  const { id: userId, email, name, roles, ...others } = user;
  return definedFields({
    userId,
    provider,
    email,
    name,
    roles: roles?.slice(),
    claims: customClaims(others),
  });
}

/** Returns the user of a session. */
export function userFromSession(session: Session): User {
  const { userId, email, name, roles, claims } = session;
  const user: User = { ...claims, id: userId };
  // The session callback may have returned a database row, which has `null`.
  if (typeof email === "string") user.email = email;
  if (typeof name === "string") user.name = name;
  if (roles) user.roles = [...roles];
  return user;
}

/**
 * Checks the fields of a user that guards rely on.
 *
 * @param idName The name of the id in the error message.
 * @param whose The source of the fields in the error message.
 * @throws {TypeError} If one is of the wrong type.
 */
export function checkUser(
  { id, email, name, roles }: BaseUser,
  idName: string,
  whose: string,
): void {
  const fields: [name: string, rule: Rule, value: unknown][] = [
    [idName, aNonEmptyString, id],
    ["email", aString, email ?? ""],
    ["name", aString, name ?? ""],
    ["roles", someRoles, roles ?? []],
  ];
  for (const [name, rule, value] of fields) {
    if (rule.test(value)) continue;
    const received = value === "" ? "an empty string" : kindOf(value);
    throw new TypeError(
      `Cannot use session: ${name} ${whose} must be ${rule.expected}, received ${received}`,
    );
  }
}
