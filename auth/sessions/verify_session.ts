/**
 * Verifies session cookies and tokens.
 *
 *     signature ─► claims ─► store, if there is one
 *     remembered   checked each time
 *
 * @module
 */

import { whenDone } from "../../core/promises.ts";
import type { UnavailableError } from "../../core/error_response.ts";
import type { Emit, RejectionReason } from "../events.ts";
import type { AuthCallbacks } from "../options.ts";
import type { AuthSettings } from "../read_options.ts";
import type { SessionRecord, SessionStore } from "../stores/session_store.ts";
import { areClaimsValid, type JWTPayload, verifyToken } from "../tokens/jwt.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import { VerifiedValues } from "../tokens/verified_values.ts";
import type { Session } from "../user.ts";
import { fromForeignPayload, fromPayload } from "./session_claims.ts";
import { verifySessionId } from "./session_cookie.ts";

/**
 * Where a credential came from: the session's cookie, a bearer token, or
 * something else in the request that a provider reads.
 */
export type CredentialSource = "cookie" | "bearer" | "request";

/** A session whose signature or record was checked. Requests share it. */
export interface VerifiedSession {
  /** The claims of the session. */
  readonly payload: JWTPayload;
  /** The claims of its token, if the session has been refreshed since. */
  readonly oldPayload?: JWTPayload;
  /** The session of the payload. Handlers get copies. */
  readonly session: Readonly<Session>;
  /**
   * The session that the `session` callback returned, for this request only.
   */
  readonly custom?: Session;
  /** The record in the store, if there is a store. */
  readonly record: SessionRecord | undefined;
  /** The cookie's value, or the token. */
  readonly value: string;
  readonly credentialSource: CredentialSource;
  /** Whether browsers send a credential of the request by themselves. */
  readonly isSentByBrowsers?: boolean;
}

/** The reason why a credential isn't accepted. */
export class Rejection {
  readonly reason: RejectionReason;
  readonly credentialSource: CredentialSource;
  /** The id of the provider that refused, if one did. */
  readonly provider: string | undefined;

  constructor(
    reason: RejectionReason,
    credentialSource: CredentialSource,
    provider?: string,
  ) {
    this.reason = reason;
    this.credentialSource = credentialSource;
    this.provider = provider;
  }
}

/** A credential whose session couldn't be looked up. */
export class Unverified {
  readonly error: UnavailableError;
  readonly credentialSource: CredentialSource;

  constructor(error: UnavailableError, credentialSource: CredentialSource) {
    this.error = error;
    this.credentialSource = credentialSource;
  }
}

/** The result of checking a request's credentials. `undefined`: it has none. */
export type AuthResult = VerifiedSession | Rejection | Unverified | undefined;

/** Whether a request has a session that holds. */
export function isVerified(result: AuthResult): result is VerifiedSession {
  return result !== undefined && !(result instanceof Rejection) &&
    !(result instanceof Unverified);
}

/** The places of the plugin's own cookies and tokens. */
export type SignedSource = Exclude<CredentialSource, "request">;
type Verification = VerifiedSession | Rejection;

/** The content of a verified value: a session, or the id of one. */
type Content = VerifiedSession | string;

/** The parts of a plugin that sessions need. */
export interface SessionParts {
  readonly settings: AuthSettings;
  readonly keys: KeyRing;
  /** Absent with the strategy `jwt`. */
  readonly store: SessionStore | undefined;
  readonly callbacks: AuthCallbacks;
  readonly emit: Emit;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Creates the functions that verify cookies, bearer tokens and records. */
export function createVerifySession(
  { settings, keys, store, now }: SessionParts,
) {
  const { strategy, absoluteMaxAge } = settings;
  const remembered = {
    cookie: new VerifiedValues<Content>(),
    bearer: new VerifiedValues<Content>(),
  };

  function verify(
    value: string,
    source: SignedSource,
  ): Verification | Promise<Verification> {
    const known = remembered[source].get(value);
    if (known !== undefined) return check(known, value, source);
    return readValue(value, source).then((content) => {
      if (content === undefined) return new Rejection("malformed", source);
      remembered[source].add(value, content);
      return check(content, value, source);
    });
  }

  async function readValue(
    value: string,
    credentialSource: SignedSource,
  ): Promise<Content | undefined> {
    if (strategy === "cookie" && credentialSource === "cookie") {
      return await verifySessionId(value, keys);
    }
    const payload = await verifyToken(value, keys);
    const session = payload && fromForeignPayload(payload);
    if (session === undefined) return undefined;
    return {
      payload: payload!,
      session,
      record: undefined,
      value,
      credentialSource,
    };
  }

  function check(
    content: Content,
    value: string,
    source: SignedSource,
  ): Verification | Promise<Verification> {
    const token = typeof content === "string" ? undefined : content;
    const reason = token && problemOf(token.payload);
    if (reason !== undefined) return new Rejection(reason, source);
    if (store === undefined) return token!;
    const id = token === undefined ? content as string : token.payload.sid;
    // Nobody could revoke the session of a token without an id.
    if (id === undefined) return new Rejection("malformed", source);
    const checkFound = (found: SessionRecord | null | undefined) => {
      const record = checkRecord(id, found, token?.payload.sub);
      if (typeof record === "string") return new Rejection(record, source);
      // With the strategy `cookie`, only the store knows the present claims.
      if (strategy === "cookie") return readRecord(record, value, source);
      const { payload } = token!;
      // A refresh may have taken away roles.
      return record.payload.iat > payload.iat
        ? { ...fromRecord(record, value, source), oldPayload: payload }
        : { ...token!, record };
    };
    return whenDone(store.get(id), checkFound);
  }

  /** Returns the record of a session, or the reason why it can't be used. */
  function checkRecord(
    id: string,
    // An untyped store may return `null`.
    record: SessionRecord | null | undefined,
    owner: string | undefined,
  ): SessionRecord | RejectionReason {
    if (
      !record || record.payload.sid !== id ||
      record.payload.sub !== record.userId ||
      owner !== undefined && owner !== record.userId
    ) {
      return "revoked";
    }
    return record.expiresAt <= now() ? "expired" : record;
  }

  function readRecord(
    record: SessionRecord,
    value: string,
    source: SignedSource,
  ): Verification {
    const reason = problemOf(record.payload);
    return reason === undefined
      ? fromRecord(record, value, source)
      : new Rejection(reason, source);
  }

  function fromRecord(
    record: SessionRecord,
    value: string,
    credentialSource: SignedSource,
  ): VerifiedSession {
    const { payload } = record;
    const session = fromPayload(payload);
    return { payload, session, record, value, credentialSource };
  }

  /** Verifies a session again, by the record that is in the store now. */
  function verifyRecord(
    { payload, value, credentialSource }: VerifiedSession,
    found: SessionRecord | null | undefined,
  ): Verification {
    const source = credentialSource as SignedSource;
    const record = checkRecord(payload.sid!, found, payload.sub);
    return typeof record === "string"
      ? new Rejection(record, source)
      : readRecord(record, value, source);
  }

  /** Returns when claims cease to hold, in milliseconds of the Unix epoch. */
  function endOf(payload: JWTPayload): number {
    const end = payload.exp + settings.clockTolerance;
    return 1000 * Math.min(end, beginOf(payload) + absoluteMaxAge);
  }

  /** Returns the reason why claims don't hold now, if they don't. */
  function problemOf(payload: JWTPayload): RejectionReason | undefined {
    const seconds = now() / 1000;
    if (!areClaimsValid(payload, seconds, settings)) {
      return payload.exp <= seconds ? "expired" : "malformed";
    }
    return beginOf(payload) + absoluteMaxAge <= seconds ? "expired" : undefined;
  }

  return { verify, verifyRecord, endOf };
}

/** Returns when the user has signed in, in seconds of the Unix epoch. */
export function beginOf({ auth_time, iat }: JWTPayload): number {
  return auth_time as number | undefined ?? iat;
}
