/**
 * The claims of a user, as an OAuth server sends them.
 *
 * @module
 */

import { textOf } from "../oauth/client.ts";
import { ProviderError } from "../oauth/http.ts";

/**
 * The claims of a user. The standard claims (OpenID Connect Core, section 5.1)
 * are typed: one that a server sends with another type is left out.
 */
export interface OAuthProfile {
  /** The user's id at the server. It never changes. */
  sub?: string | undefined;
  /** The full name. */
  name?: string | undefined;
  /** The first name or names. */
  given_name?: string | undefined;
  /** The last name or names. */
  family_name?: string | undefined;
  /** The middle name or names. */
  middle_name?: string | undefined;
  /** The casual name. */
  nickname?: string | undefined;
  /** The name of the account. It may change, and need not be unique. */
  preferred_username?: string | undefined;
  /** The URL of the profile page. */
  profile?: string | undefined;
  /** The URL of the picture. */
  picture?: string | undefined;
  /** The URL of the website. */
  website?: string | undefined;
  /** The e-mail address. Trust it only if `email_verified` is `true`. */
  email?: string | undefined;
  /** Whether the server has verified that the user owns `email`. */
  email_verified?: boolean | undefined;
  /** The gender. */
  gender?: string | undefined;
  /** The birthday, as `YYYY-MM-DD` or `YYYY`. */
  birthdate?: string | undefined;
  /** The time zone, such as `Europe/Paris`. */
  zoneinfo?: string | undefined;
  /** The language, such as `en-US`. */
  locale?: string | undefined;
  /** The phone number. */
  phone_number?: string | undefined;
  /** Whether the server has verified `phone_number`. */
  phone_number_verified?: boolean | undefined;
  /** Any other claim. */
  [claim: string]: unknown;
}

/** The types of the standard claims, apart from `sub`. */
const TYPES: Readonly<Record<string, "string" | "boolean">> = {
  name: "string",
  given_name: "string",
  family_name: "string",
  middle_name: "string",
  nickname: "string",
  preferred_username: "string",
  profile: "string",
  picture: "string",
  website: "string",
  email: "string",
  email_verified: "boolean",
  gender: "string",
  birthdate: "string",
  zoneinfo: "string",
  locale: "string",
  phone_number: "string",
  phone_number_verified: "boolean",
};

/**
 * Returns claims without the standard ones of a wrong type. A `sub` that is a
 * number becomes a string.
 *
 * @throws {ProviderError} If `sub` can't be an id.
 */
export function readClaims(
  claims: Readonly<Record<string, unknown>>,
): OAuthProfile {
  const { sub, ...rest } = claims;
  const read = Object.entries(rest).filter(([name, value]) => {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    return type === undefined || typeof value === type;
  });
  const profile: OAuthProfile = Object.fromEntries(read);
  if (sub !== undefined && sub !== null) profile.sub = idOf(sub);
  return profile;
}

/**
 * Returns a user's id. A number is an id too, as long as it is exact.
 *
 * @throws {ProviderError} If it isn't an id.
 */
export function idOf(value: unknown): string {
  const id = Number.isSafeInteger(value) ? String(value) : textOf(value);
  if (id !== undefined) return id;
  throw new ProviderError(
    "the provider returned neither sub nor id; return the user's id from profile()",
  );
}
