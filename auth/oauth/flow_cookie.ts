/**
 * The cookies of a browser's pending sign-ins. Each sign-in has its own, so that
 * tabs don't disturb each other.
 *
 * @module
 */

import {
  type CookieSettings,
  formatCookie,
} from "../cookies/cookie_settings.ts";
import { cookiesOf, findCookie } from "../cookies/cookies.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import { isRandomValue } from "./pkce.ts";

/** How long a sign-in may take, in milliseconds. */
export const LIFETIME = 10 * 60 * 1000;
/** Maximum pending sign-ins of a browser. */
const MAX_COOKIES = 8;
/**
 * Maximum characters of all of them. Node and nginx refuse requests with 8 or
 * 16 KB of headers. Links of another site could otherwise lock a user out.
 */
const MAX_TOTAL = 6 * 1024;
/** Maximum cookies that are decrypted. The rest is for the next sign-in. */
const MAX_OPENED = 20;
/** Values that are sealed for another purpose don't open. */
const PURPOSE = "oauth state";
/** Characters of the state in the cookie's name, enough to be unique. */
const NAME_LENGTH = 16;

/** A pending sign-in. */
export interface PendingSignIn {
  /** Comes back from the provider in the user's browser. */
  readonly state: string;
  /** The provider's id. */
  readonly provider: string;
  /** The digest of the redirect URI, which may be long. */
  readonly redirect: string;
  /** The verifier of the PKCE challenge. */
  readonly verifier: string;
  /** Ties the id token to this sign-in. */
  readonly nonce: string;
  /** When it was begun, in milliseconds of the Unix epoch. */
  readonly begun: number;
  /** The authorization URL without its query, unless it is too long. */
  readonly server?: string | undefined;
  /** Whether the callback must have `iss`. */
  readonly isIssuerRequired?: boolean | undefined;
  /** The path of this server to go to afterwards. */
  readonly returnTo?: string | undefined;
}

/**
 * Creates what sets, finds and removes the cookies of a plugin.
 *
 * @param session The settings of the session's cookie.
 */
export function createFlowCookies(keys: KeyRing, session: CookieSettings) {
  const prefix = `${session.name}.oauth.`;
  // The callback may be anywhere on the host, and the browser comes there from
  // another site. It wouldn't send a `Strict` cookie.
  const forCallback = { path: "/", sameSite: "Lax", httpOnly: true } as const;
  const settings = { ...session, ...forCallback };

  /** Returns `Set-Cookie` values for a new sign-in, and for those to remove. */
  function add(pending: PendingSignIn, header: string | null): string[] {
    const opened = received(header).map(([name, value]) => {
      const begun = open(value)?.begun ?? -Infinity;
      const isValid = pending.begun - begun < LIFETIME;
      return { name, begun, isValid, length: name.length + value.length };
    });
    const name = nameOf(pending.state);
    const value = keys.seal(PURPOSE, JSON.stringify(pending));
    let total = name.length + value.length;
    // A stable sort. The newest stay, and one is about to join them.
    const kept = opened.filter(({ isValid }) => isValid)
      .sort((a, b) => b.begun - a.begun).slice(0, MAX_COOKIES - 1)
      .filter(({ length }) => (total += length) <= MAX_TOTAL);
    const removed = opened.filter((cookie) => !kept.includes(cookie));
    return [
      ...removed.map(({ name }) => formatCookie(settings, name, "", 0)),
      formatCookie(settings, name, value, LIFETIME / 1000),
    ];
  }

  /** Returns the sign-in of a state, or why there is none. */
  function find(
    state: string | null,
    header: string | null,
  ): PendingSignIn | string {
    if (!isRandomValue(state)) return "the state is not one that we make";
    const found = findCookie(header, nameOf(state));
    if (found?.isAmbiguous) {
      return "the browser has several cookies for the state";
    }
    if (found?.value === undefined) {
      return "the browser has no cookie for the state: the sign-in was begun in another browser, under another host name, more than 10 minutes ago, or is finished already";
    }
    return open(found.value) ??
      "the cookie for the state was not made with any of our secrets, or was changed";
  }

  /** Returns `Set-Cookie` values that remove the cookie of a state. */
  function remove(state: string | null): string[] {
    if (!isRandomValue(state)) return [];
    return [formatCookie(settings, nameOf(state), "", 0)];
  }

  /** Returns names and values of a browser's sign-in cookies. */
  function received(header: string | null): [name: string, value: string][] {
    const length = prefix.length + NAME_LENGTH;
    const isOurs = (name: string) => name.length === length;
    const found = new Map<string, string>();
    for (const [name, value] of cookiesOf(header ?? "", prefix, isOurs)) {
      found.set(name, value.trim());
      if (found.size === MAX_OPENED) break;
    }
    return [...found];
  }

  function nameOf(state: string): string {
    return prefix + state.slice(0, NAME_LENGTH);
  }

  function open(value: string): PendingSignIn | undefined {
    const text = keys.open(PURPOSE, value);
    return text === undefined ? undefined : JSON.parse(text) as PendingSignIn;
  }

  return { add, find, remove };
}
