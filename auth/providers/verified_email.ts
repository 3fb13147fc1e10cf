import { textOf } from "../oauth/client.ts";

/**
 * The e-mail address of OpenID Connect's claims (Core, section 5.1), if they
 * say that it is verified. Whoever says nothing of that may let users type in
 * any address, also that of somebody else.
 */
export function verifiedEmail(
  claims: Readonly<Record<string, unknown>>,
): string | undefined {
  return claims["email_verified"] === true
    ? textOf(claims["email"])
    : undefined;
}
