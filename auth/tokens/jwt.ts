/**
 * JSON Web Tokens by HS256 (RFC 7519). The algorithm in a token's header is
 * never followed (RFC 8725, section 3.1).
 *
 * @module
 */

import { decodeBase64url, encodeBase64url } from "../../core/bytes/base64.ts";
import { isObject } from "../../core/check/rules.ts";
import type { KeyRing } from "./key_ring.ts";

/** The claims of a session token. */
export interface JWTPayload {
  /** Subject: the user's id (RFC 7519, section 4.1.2). */
  sub: string;
  /** Issued at, in seconds of the Unix epoch (section 4.1.6). */
  iat: number;
  /** Expires at, in seconds of the Unix epoch (section 4.1.4). */
  exp: number;
  /** The session's id. */
  sid?: string;
  /** Any other claim. */
  [key: string]: unknown;
}

/** The requirements for the claims of a token. */
interface TokenRules {
  /** Allowed difference between servers' clocks, in seconds. */
  readonly clockTolerance: number;
  /** The required `iss`. If absent, a token must have no `iss`. */
  readonly issuer: string | undefined;
  /**
   * The value that `aud` must be or contain. If absent, a token must have no
   * `aud`.
   */
  readonly audience: string | undefined;
}

/** Maximum characters of a token. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

const HEADER = encodeBase64url(JSON.stringify({ alg: "HS256", typ: "JWT" }));
const SIGNATURE_LENGTH = 43;
/** The last second that a `Date` can hold (ECMA-262, section 21.4.1.1). */
const MAX_TIME = 8.64e12;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns a token with the claims. */
export async function signToken(
  payload: JWTPayload,
  keys: KeyRing,
): Promise<string> {
  const data = `${HEADER}.${encodeBase64url(JSON.stringify(payload))}`;
  return `${data}.${await keys.sign(data)}`;
}

/**
 * Returns the claims of a token whose form and signature are right, or
 * `undefined`. {@linkcode areClaimsValid} checks whether they hold now.
 */
export async function verifyToken(
  token: string,
  keys: KeyRing,
): Promise<JWTPayload | undefined> {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const headerEnd = token.indexOf(".");
  const payloadEnd = token.length - SIGNATURE_LENGTH - 1;
  // Exactly two dots, the second one where the signature of 32 bytes begins.
  if (
    headerEnd < 1 || payloadEnd <= headerEnd + 1 ||
    token.indexOf(".", headerEnd + 1) !== payloadEnd
  ) {
    return undefined;
  }
  if (!isHeader(token.slice(0, headerEnd))) return undefined;
  const payload = decodeBase64url(token.slice(headerEnd + 1, payloadEnd));
  if (payload === undefined) return undefined;
  const signature = token.slice(payloadEnd + 1);
  const isGenuine = keys.verify(signature, token.slice(0, payloadEnd));
  // Parsed while another thread verifies it, and not used before that.
  const claims = parsePayload(payload);
  return await isGenuine ? claims : undefined;
}

/**
 * Whether the claims hold, for this issuer and audience.
 *
 * @param now The time, in seconds of the Unix epoch.
 */
export function areClaimsValid(
  payload: JWTPayload,
  now: number,
  { clockTolerance: tolerance, issuer, audience }: TokenRules,
): boolean {
  const { exp, iat, nbf, iss, aud } = payload;
  // RFC 7519, section 4.1.4: on or after `exp`, it is over.
  return now - tolerance < exp &&
    iat <= now + tolerance &&
    (nbf === undefined || typeof nbf === "number" && nbf <= now + tolerance) &&
    iss === issuer &&
    (aud === audience ||
      audience !== undefined && Array.isArray(aud) && aud.includes(audience));
}

/** Headers of other issuers may lack `typ` or have it first, and no more. */
function isHeader(text: string): boolean {
  if (text === HEADER) return true;
  if (text.length > 100) return false;
  const header = parseObject(decodeBase64url(text));
  if (header === undefined || header["alg"] !== "HS256") return false;
  const { alg: _, typ, ...rest } = header;
  return (typ === undefined || typ === "JWT") && Object.keys(rest).length === 0;
}

function parsePayload(bytes: Uint8Array): JWTPayload | undefined {
  const payload = parseObject(bytes);
  if (payload === undefined) return undefined;
  const { sub, iat, exp, sid } = payload;
  const isOurs = typeof sub === "string" && sub !== "" && isTime(iat) &&
    isTime(exp) && (sid === undefined || typeof sid === "string");
  return isOurs ? payload as JWTPayload : undefined;
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value <= MAX_TIME;
}

function parseObject(
  bytes: Uint8Array | undefined,
): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
