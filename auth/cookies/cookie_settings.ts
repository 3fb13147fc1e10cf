import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aBoolean, matching, oneOf } from "../../core/check/rules.ts";
import { isProduction } from "../../core/runtime/environment.ts";
import { configError, OPERATION } from "../error.ts";

/** How the session's cookie is set. */
export interface CookieOptions {
  /** Its name. Default `app.session`. */
  readonly name?: string;
  /** Whether it is sent over HTTPS only. Default: `true` in production. */
  readonly secure?: boolean;
  /** Whether it is sent with requests from other sites. Default `lax`. */
  readonly sameSite?: "strict" | "lax" | "none";
  /** The domain whose subdomains get it too. Default: none, only this host. */
  readonly domain?: string;
  /** The path below which it is sent. Default `/`. */
  readonly path?: string;
  /** Whether the page's scripts can't read it. Default `true`. */
  readonly httpOnly?: boolean;
}

/** The same, checked and complete. */
export interface CookieSettings
  extends Required<Omit<CookieOptions, "sameSite" | "domain">> {
  readonly sameSite: "Strict" | "Lax" | "None";
  readonly domain: string | undefined;
}

const SAME_SITE = { strict: "Strict", lax: "Lax", none: "None" } as const;
/** A token as in RFC 9110, section 5.6.2, which RFC 6265 asks names to be. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const DOMAIN =
  /^\.?[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;
/** Browsers ignore longer attributes (RFC 6265bis, section 5.6). */
const PATH = /^\/[\x21-\x3a\x3c-\x7e]{0,1023}$/;
/** Maximum characters of a host name (RFC 1035, section 2.3.4). */
const MAX_DOMAIN = 253;
/** Names of this length leave room for a value in what browsers take. */
const MAX_NAME = 128;

const COOKIE: OptionRules<CookieOptions> = {
  name: matching(`a token of at most ${MAX_NAME} characters`, TOKEN, MAX_NAME),
  secure: aBoolean,
  sameSite: oneOf("strict", "lax", "none"),
  domain: matching("a host name", DOMAIN, MAX_DOMAIN),
  path: matching(
    'a path of at most 1024 characters that begins with "/"',
    PATH,
  ),
  httpOnly: aBoolean,
};

/**
 * Checks the options of the cookie, and completes them.
 *
 * @throws {TypeError} If browsers would refuse or misread it.
 */
export function resolveCookie(options: CookieOptions = {}): CookieSettings {
  checkOptions(options, COOKIE, OPERATION, "cookie");
  const {
    name = "app.session",
    secure = isProduction(),
    sameSite = "lax",
    domain,
    path = "/",
    httpOnly = true,
  } = options;
  const refused = (problem: string) =>
    configError(`${problem}: browsers refuse the cookie otherwise`);
  if (sameSite === "none" && !secure) {
    throw refused('cookie.secure must be true with sameSite "none"');
  }
  // The prefixes promise something (RFC 6265bis, section 4.1.3).
  const prefix = /^__(host|secure)-/i.exec(name)?.[1]?.toLowerCase();
  if (prefix !== undefined && !secure) {
    throw refused(`cookie.secure must be true with the name "${name}"`);
  }
  if (prefix === "host" && (domain !== undefined || path !== "/")) {
    throw refused(
      `cookie.domain must be absent and cookie.path "/" with the name "${name}"`,
    );
  }
  return {
    name,
    secure,
    sameSite: SAME_SITE[sameSite],
    domain,
    path,
    httpOnly,
  };
}

/**
 * Returns a value of `Set-Cookie`. Name, value and settings were checked, so
 * nothing is escaped.
 *
 * @param maxAge How long it is kept, in seconds; 0 removes it.
 */
export function formatCookie(
  settings: CookieSettings,
  name: string,
  value: string,
  maxAge: number,
): string {
  const { secure, sameSite, domain, path, httpOnly } = settings;
  const parts = [`${name}=${value}`];
  if (secure) parts.push("Secure");
  if (httpOnly) parts.push("HttpOnly");
  parts.push(`Max-Age=${maxAge}`);
  if (domain !== undefined) parts.push(`Domain=${domain}`);
  parts.push(`SameSite=${sameSite}`, `Path=${path}`);
  return parts.join("; ");
}
