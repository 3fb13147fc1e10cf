import { setCookie } from "@std/http/cookie";
import { show } from "../../core/check/show.ts";
import { isProduction } from "../../core/runtime/environment.ts";
import { configError } from "../error.ts";

/** How the session's cookie is set. */
export interface CookieOptions {
  /** Its name. Default `app.session`. */
  readonly name?: string;
  /** Whether it is sent over HTTPS only. Default: `true` in production. */
  readonly secure?: boolean;
  /** Whether it is sent with requests from other sites. Default `lax`. */
  readonly sameSite?: "strict" | "lax" | "none";
  /** The domain whose subdomains get it too. Default: none, this host alone. */
  readonly domain?: string;
  /** The path below which it is sent. Default `/`. */
  readonly path?: string;
  /** Whether the page's scripts can't read it. Default `true`. */
  readonly httpOnly?: boolean;
}

/** The same, checked and complete. */
export interface CookieSettings {
  readonly name: string;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
  readonly domain: string | undefined;
  readonly path: string;
  readonly httpOnly: boolean;
}

const SAME_SITE = { strict: "Strict", lax: "Lax", none: "None" } as const;
/** A token as in RFC 9110, section 5.6.2, which RFC 6265 asks names to be. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const DOMAIN =
  /^\.?[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;
/** Browsers ignore longer attributes (RFC 6265bis, section 5.6). */
const PATH = /^\/[\x21-\x3a\x3c-\x7e]{0,1023}$/;
/** What RFC 1035, section 2.3.4, allows of a name. */
const MAX_DOMAIN = 253;
/** Names of this length leave room for a value in what browsers take. */
const MAX_NAME = 128;

/**
 * Checks the options of the cookie.
 *
 * @throws {AuthError} `CONFIG` if browsers would refuse or misread it.
 */
export function resolveCookie(options: CookieOptions = {}): CookieSettings {
  const {
    name = "app.session",
    secure = isProduction(),
    sameSite = "lax",
    domain,
    path = "/",
    httpOnly = true,
  } = options;
  check(
    typeof name === "string" && TOKEN.test(name) && name.length <= MAX_NAME,
    "name",
    `a token of at most ${MAX_NAME} characters`,
    name,
  );
  check(typeof secure === "boolean", "secure", "a boolean", secure);
  check(typeof httpOnly === "boolean", "httpOnly", "a boolean", httpOnly);
  check(
    typeof sameSite === "string" && Object.hasOwn(SAME_SITE, sameSite),
    "sameSite",
    '"strict", "lax" or "none"',
    sameSite,
  );
  check(
    domain === undefined ||
      typeof domain === "string" && domain.length <= MAX_DOMAIN &&
        DOMAIN.test(domain),
    "domain",
    "a host name",
    domain,
  );
  check(
    typeof path === "string" && PATH.test(path),
    "path",
    'a path of at most 1024 characters that begins with "/"',
    path,
  );
  if (sameSite === "none" && !secure) {
    throw configError(
      'cookie.secure must be true with sameSite "none": browsers refuse the cookie otherwise',
    );
  }
  checkPrefix(name, secure, domain, path);
  return {
    name,
    secure,
    sameSite: SAME_SITE[sameSite],
    domain,
    path,
    httpOnly,
  };
}

/** The prefixes promise something (RFC 6265bis, section 4.1.3). */
function checkPrefix(
  name: string,
  secure: boolean,
  domain: string | undefined,
  path: string,
): void {
  const prefix = /^__(host|secure)-/i.exec(name)?.[1]?.toLowerCase();
  if (prefix === undefined) return;
  if (!secure) {
    throw configError(
      `cookie.secure must be true with the name ${
        JSON.stringify(name)
      }: browsers refuse the cookie otherwise`,
    );
  }
  if (prefix === "host" && (domain !== undefined || path !== "/")) {
    throw configError(
      `cookie.domain must be absent and cookie.path "/" with the name ${
        JSON.stringify(name)
      }: browsers refuse the cookie otherwise`,
    );
  }
}

/**
 * A value of `Set-Cookie`.
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
  const headers = new Headers();
  setCookie(headers, {
    name,
    value,
    maxAge,
    path,
    secure,
    httpOnly,
    sameSite,
    ...(domain === undefined ? {} : { domain }),
  });
  return headers.get("set-cookie")!;
}

function check(
  isRight: boolean,
  name: string,
  expected: string,
  value: unknown,
): void {
  if (isRight) return;
  throw configError(
    `cookie.${name} must be ${expected}, received ${show(value)}`,
  );
}
