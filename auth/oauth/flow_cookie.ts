/**
 * The cookie in which a browser keeps a sign-in that is under way. Each has one
 * of its own, so that tabs don't disturb each other.
 *
 * @module
 */

import type { CookieSettings } from "../cookies/cookie_settings.ts";
import { formatCookie } from "../cookies/cookie_settings.ts";
import { findCookie } from "../cookies/cookies.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import { isRandomValue } from "./pkce.ts";

/** How long a sign-in may take, in milliseconds. */
export const LIFETIME = 10 * 60 * 1000;
/** How many may be under way in a browser. */
const MAX_COOKIES = 8;
/** How many are looked at; what is beyond is for the next sign-in. */
const MAX_LOOKED_AT = 20;
/** Nothing that is sealed for another purpose can pass for one of these. */
const PURPOSE = "oauth state";
/** How much of the state is in the cookie's name: enough to tell them apart. */
const NAME_LENGTH = 16;

/** A sign-in that is under way. */
export interface PendingSignIn {
  /** Comes back from the provider in the user's browser. */
  readonly state: string;
  /** The provider's id. */
  readonly provider: string;
  /** The digest of the redirect URI, which may be long. */
  readonly redirect: string;
  /** The verifier of the PKCE challenge. */
  readonly verifier: string;
  /** Ties the id token to it. */
  readonly nonce: string;
  /** When it was begun, in milliseconds of the Unix epoch. */
  readonly begun: number;
  /** The authorization URL without its query, unless it is too long. */
  readonly server?: string | undefined;
  /** Whether the callback must have `iss`. */
  readonly isIssuerRequired?: boolean | undefined;
}

/** Sets, finds and removes the cookies. */
export interface FlowCookies {
  /** The values of `Set-Cookie` for a new one, and for those in its way. */
  add(pending: PendingSignIn, header: string | null): string[];
  /** What the browser keeps for a state, or why that is nothing. */
  find(state: string | null, header: string | null): PendingSignIn | string;
  /** The values of `Set-Cookie` that remove the cookie of a state. */
  remove(state: string | null): string[];
}

/** Makes the {@linkcode FlowCookies} of a plugin. */
export function createFlowCookies(
  keys: KeyRing,
  session: CookieSettings,
): FlowCookies {
  const prefix = `${session.name}.oauth.`;
  // The callback may be anywhere on the host, and the browser comes there from
  // another site: `Strict` would keep the cookie back.
  const settings: CookieSettings = {
    ...session,
    path: "/",
    sameSite: "Lax",
    httpOnly: true,
  };
  const nameOf = (state: string) => prefix + state.slice(0, NAME_LENGTH);
  const removeName = (name: string) => formatCookie(settings, name, "", 0);

  function open(value: string): PendingSignIn | undefined {
    const text = keys.open(PURPOSE, value);
    return text === undefined ? undefined : JSON.parse(text) as PendingSignIn;
  }

  return {
    add(pending, header) {
      const kept: { name: string; begun: number }[] = [];
      const removed: string[] = [];
      for (const [name, value] of cookiesOf(header, prefix)) {
        const begun = open(value)?.begun;
        if (begun !== undefined && pending.begun - begun < LIFETIME) {
          kept.push({ name, begun });
        } else {
          removed.push(name);
        }
      }
      // A stable sort; the newest stay, and one is about to join them.
      kept.sort((a, b) => b.begun - a.begun);
      removed.push(...kept.splice(MAX_COOKIES - 1).map(({ name }) => name));
      const value = keys.seal(PURPOSE, JSON.stringify(pending));
      return [
        ...removed.map(removeName),
        formatCookie(settings, nameOf(pending.state), value, LIFETIME / 1000),
      ];
    },
    find(state, header) {
      if (!isRandomValue(state)) return "the state is not one that we make";
      const { value, isAmbiguous } = findCookie(header, nameOf(state));
      if (isAmbiguous) return "the browser has several cookies for the state";
      if (value === undefined) {
        return "the browser has no cookie for the state: the sign-in was begun in another browser, under another host name, more than 10 minutes ago, or is finished already";
      }
      return open(value) ??
        "the cookie for the state was not made with any of our secrets, or was changed";
    },
    remove: (state) => isRandomValue(state) ? [removeName(nameOf(state))] : [],
  };
}

/**
 * The cookies of sign-ins of a browser, which holds few of them: each costs a
 * decryption, and one that is of no use a header of the response.
 */
function cookiesOf(
  header: string | null,
  prefix: string,
): Map<string, string> {
  const found = new Map<string, string>();
  if (header === null || !header.includes(prefix)) return found;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals).trim();
    const isOurs = name.startsWith(prefix) &&
      name.length === prefix.length + NAME_LENGTH;
    if (equals === -1 || !isOurs) continue;
    found.set(name, pair.slice(equals + 1).trim());
    if (found.size === MAX_LOOKED_AT) break;
  }
  return found;
}
