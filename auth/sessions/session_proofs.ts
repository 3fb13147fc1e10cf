/**
 * What a client shows to prove its session, by strategy: how it is made, and
 * what it is found to be.
 *
 * @module
 */

import { isThenable } from "../../core/observe.ts";
import type { RejectionReason } from "../events.ts";
import type { AuthSettings } from "../options.ts";
import type { SessionRecord, SessionStore } from "../stores/session_store.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import { areClaimsValid, signToken, verifyToken } from "../tokens/jwt.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import { VerifiedValues } from "../tokens/verified_values.ts";
import type { SessionTemplate } from "./claims.ts";
import { isSessionPayload, templateOf } from "./claims.ts";
import { signSessionId, verifySessionId } from "./session_cookie.ts";

/** What has shown who a request is from. */
export type Evidence = "cookie" | "bearer" | "request";

/** A session that was proved. Requests share it: it is never changed. */
export interface ProvedSession {
  /** What the session is built from. */
  readonly payload: JWTPayload;
  /** What the sessions that handlers see are copies of. */
  readonly template: SessionTemplate;
  /** What the store keeps of it. */
  readonly record: SessionRecord | undefined;
  /** The cookie's value or the token. */
  readonly value: string;
  /** By what it was proved. */
  readonly evidence: Evidence;
}

/** Why there is no session. */
export class Rejection {
  /** The reason. */
  readonly reason: RejectionReason;
  /** What was not accepted. */
  readonly evidence: Evidence;

  /** Makes a rejection. */
  constructor(reason: RejectionReason, evidence: Evidence) {
    this.reason = reason;
    this.evidence = evidence;
  }
}

/** A session that was proved, or why there is none. */
export type Proof = ProvedSession | Rejection;

/** Makes and examines what clients show. */
export interface SessionProofs {
  /** Examines a cookie's value, or a bearer token. */
  prove(value: string, evidence: "cookie" | "bearer"): Proof | Promise<Proof>;
  /** What proves a session in the same way. */
  issue(payload: JWTPayload, evidence: Evidence): Promise<string>;
}

/** Makes the {@linkcode SessionProofs} of a strategy. */
export function createSessionProofs(
  settings: AuthSettings,
  keys: KeyRing,
  store: SessionStore | undefined,
  now: () => number,
): SessionProofs {
  const { strategy, absoluteMaxAge } = settings;
  const tokens = {
    cookie: new VerifiedValues<ProvedSession>(),
    bearer: new VerifiedValues<ProvedSession>(),
  };
  const ids = new VerifiedValues<string>();

  function proveToken(
    value: string,
    evidence: "cookie" | "bearer",
  ): Proof | Promise<Proof> {
    const known = tokens[evidence].get(value);
    if (known !== undefined) return check(known);
    return verifyToken(value, keys).then((payload) => {
      const template = payload && readTemplate(payload);
      if (payload === undefined || template === undefined) {
        return new Rejection("malformed", evidence);
      }
      const session: ProvedSession = {
        payload,
        template,
        record: undefined,
        value,
        evidence,
      };
      tokens[evidence].add(value, session);
      return check(session);
    });
  }

  /** In all strategies: signature, then expiry, then store. */
  function check(session: ProvedSession): Proof | Promise<Proof> {
    const { payload, evidence } = session;
    const time = now();
    const reason = reject(payload, time);
    if (reason !== undefined) return new Rejection(reason, evidence);
    if (store === undefined) return session;
    // A token without an id is of a session that nobody could revoke.
    if (payload.sid === undefined) return new Rejection("malformed", evidence);
    return withRecord(store.get(payload.sid), (record) => {
      if (record === undefined || record.userId !== payload.sub) {
        return new Rejection("revoked", evidence);
      }
      if (record.expiresAt <= time) return new Rejection("expired", evidence);
      // What this strategy's sessions consist of is what the store has.
      return strategy === "cookie"
        ? judge(record, session.value, evidence, time)
        : { ...session, record };
    });
  }

  function reject(
    payload: JWTPayload,
    time: number,
  ): RejectionReason | undefined {
    const seconds = time / 1000;
    if (!areClaimsValid(payload, seconds, settings)) {
      return payload.exp <= seconds ? "expired" : "malformed";
    }
    return beginOf(payload) + absoluteMaxAge <= seconds ? "expired" : undefined;
  }

  function proveId(value: string): Proof | Promise<Proof> {
    const known = ids.get(value);
    if (known !== undefined) return lookUp(known, value);
    return verifySessionId(value, keys).then((id) => {
      if (id === undefined) return new Rejection("malformed", "cookie");
      ids.add(value, id);
      return lookUp(id, value);
    });
  }

  function lookUp(id: string, value: string): Proof | Promise<Proof> {
    return withRecord(store!.get(id), (record) => {
      if (
        record === undefined || record.payload.sid !== id ||
        record.payload.sub !== record.userId
      ) {
        return new Rejection("revoked", "cookie");
      }
      return judge(record, value, "cookie", now());
    });
  }

  function judge(
    record: SessionRecord,
    value: string,
    evidence: Evidence,
    time: number,
  ): Proof {
    const { payload } = record;
    const reason = record.expiresAt <= time ? "expired" : reject(payload, time);
    if (reason !== undefined) return new Rejection(reason, evidence);
    const template = templateOf(payload);
    return { payload, template, record, value, evidence };
  }

  return {
    prove: (value, evidence) =>
      strategy === "cookie" && evidence === "cookie"
        ? proveId(value)
        : proveToken(value, evidence),
    issue: (payload, evidence) =>
      strategy === "cookie" && evidence === "cookie"
        ? signSessionId(payload.sid!, keys)
        : signToken(payload, keys),
  };
}

/** The template of a payload, if a session can be built from it. */
function readTemplate(payload: JWTPayload): SessionTemplate | undefined {
  if (!isSessionPayload(payload)) return undefined;
  try {
    return templateOf(payload);
  } catch {
    // Nested deeper than sessions are. Other makers of tokens may not know.
    return undefined;
  }
}

/** When the user of a session has signed in, in seconds of the Unix epoch. */
export function beginOf({ auth_time, iat }: JWTPayload): number {
  return auth_time as number | undefined ?? iat;
}

/** Goes on with what a store gives, at once if it gives it at once. */
function withRecord(
  found: ReturnType<SessionStore["get"]>,
  judge: (record: SessionRecord | undefined) => Proof,
): Proof | Promise<Proof> {
  // A store without types may well give `null` where there is nothing.
  return isThenable(found)
    ? Promise.resolve(found).then((record) => judge(record ?? undefined))
    : judge(found ?? undefined);
}
