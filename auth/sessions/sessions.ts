/**
 * The life of sessions: begun, refreshed, ended.
 *
 * @module
 */

import { checkValue } from "../../core/check/options.ts";
import { aNonEmptyString, kindOf } from "../../core/check/rules.ts";
import { GenerationMap } from "../../core/collections/generation_map.ts";
import { findCookie } from "../cookies/cookies.ts";
import type { SessionRecord, SessionStore } from "../stores/session_store.ts";
import { type JWTPayload, MAX_TOKEN_LENGTH, signToken } from "../tokens/jwt.ts";
import type { Session, User } from "../user.ts";
import { callJwt } from "./callbacks.ts";
import { copySession, fromPayload, toPayload } from "./session_claims.ts";
import { createSessionId, signSessionId } from "./session_cookie.ts";
import { sessionFromUser } from "./session_user.ts";
import {
  beginOf,
  createVerifySession,
  type CredentialSource,
  isVerified,
  type SessionParts,
  type VerifiedSession,
} from "./verify_session.ts";

/** Begins, verifies, refreshes and ends sessions. */
export type Sessions = ReturnType<typeof createSessions>;

/** How long the result of a refresh is shared, in milliseconds. */
const REFRESH_PAUSE = 30_000;
/** Maximum refreshes whose results are shared. */
const MAX_REFRESHES = 2_000;

/** Creates the {@linkcode Sessions} of a plugin. */
export function createSessions(parts: SessionParts) {
  const { settings, keys, store, callbacks, emit, now } = parts;
  const { strategy, absoluteMaxAge } = settings;
  /** By the session's value. `until` is in milliseconds. */
  const refreshes = new GenerationMap<
    string,
    { result: Promise<VerifiedSession | undefined>; until: number }
  >({ maxSize: MAX_REFRESHES });

  const verifier = createVerifySession(parts);

  /** Creates what proves a session, and the record in the store. */
  async function issue(
    payload: JWTPayload,
    credentialSource: CredentialSource,
    createdAt: number,
    refreshedAt: number,
  ): Promise<VerifiedSession & { readonly record: SessionRecord }> {
    const value = strategy === "cookie" && credentialSource === "cookie"
      ? await signSessionId(payload.sid!, keys)
      : await signToken(payload, keys);
    if (value.length > MAX_TOKEN_LENGTH) {
      throw new TypeError(
        `Cannot keep session: its token has ${value.length} characters, more than the ${MAX_TOKEN_LENGTH} that are accepted; keep less in the session, or use the strategy "cookie"`,
      );
    }
    const record = {
      id: payload.sid!,
      userId: payload.sub,
      payload,
      createdAt,
      refreshedAt,
      // The clocks of other servers may be behind.
      expiresAt: (payload.exp + settings.clockTolerance) * 1000,
    };
    const session = fromPayload(payload);
    return { payload, session, record, value, credentialSource };
  }

  /** Begins the session of a user who has authenticated. */
  async function begin(
    user: User,
    provider: string | undefined,
  ): Promise<VerifiedSession> {
    const time = now();
    const iat = Math.floor(time / 1000);
    const sid = createSessionId();
    const exp = iat + Math.min(settings.maxAge, absoluteMaxAge);
    const draft: Session = {
      ...sessionFromUser(user, provider),
      sessionId: sid,
      issuedAt: new Date(iat * 1000),
      expiresAt: new Date(exp * 1000),
    };
    const session = await callbacks.onSessionCreated?.(draft) ?? draft;
    const token = {
      sid,
      iat,
      exp: Math.min(readExpiry(session, iat), iat + absoluteMaxAge),
      auth_time: iat,
      iss: settings.issuer,
      aud: settings.audience,
    };
    const payload = await callJwt(
      callbacks,
      emit,
      toPayload(session, token),
      session,
      user,
    );
    const verified = await issue(payload, "cookie", time, time);
    await callbacks.onSignIn?.(user);
    await store?.set(verified.record);
    return verified;
  }

  /** Returns when a session ends after a refresh. Its term stays the same. */
  function renewedExpiry(payload: JWTPayload, iat: number): number {
    const term = payload.exp - payload.iat;
    return Math.min(iat + term, beginOf(payload) + absoluteMaxAge);
  }

  /** Whether a session is old enough to be refreshed, and would last longer. */
  function isDue(
    { record, payload: claims, oldPayload: payload = claims }: VerifiedSession,
  ): boolean {
    const time = now();
    const seconds = time / 1000;
    // The response with the new token may have been lost, so the age of the old
    // one counts. A client that has just got one doesn't need another.
    const isRecent = record !== undefined &&
      Math.floor(record.refreshedAt / 1000) > payload.iat &&
      time - record.refreshedAt < REFRESH_PAUSE;
    return seconds - payload.iat > settings.updateAge && !isRecent &&
      renewedExpiry(payload, Math.floor(seconds)) > payload.exp;
  }

  async function renew(
    { payload: old, session, record, credentialSource }: VerifiedSession,
  ): Promise<VerifiedSession | undefined> {
    const time = now();
    const iat = Math.floor(time / 1000);
    const begin = beginOf(old);
    const exp = renewedExpiry(old, iat);
    // Tokens of other makers may have no `auth_time`, and must end all the same.
    const draft = { ...old, iat, exp, auth_time: begin };
    const copy = copySession(session);
    const payload = await callJwt(callbacks, emit, draft, copy);
    const createdAt = record?.createdAt ?? begin * 1000;
    const renewed = await issue(payload, credentialSource, createdAt, time);
    if (store !== undefined && !await touch(store, renewed.record)) {
      return await latest(renewed, await store.get(renewed.record.id));
    }
    emit({ type: "session_refreshed", userId: payload.sub });
    return renewed;
  }

  /** Returns what another process has made of a session since, if it's valid. */
  async function latest(
    ours: VerifiedSession & { readonly record: SessionRecord },
    found: SessionRecord | null | undefined,
  ): Promise<VerifiedSession | undefined> {
    const isLater = found && found.refreshedAt > ours.record.refreshedAt;
    if (!isLater || !isVerified(verifier.verifyRecord(ours, found))) return;
    const { payload, createdAt, refreshedAt } = found;
    return await issue(payload, ours.credentialSource, createdAt, refreshedAt);
  }

  /**
   * Renews the session, if it {@linkcode isDue}. Refreshes of the same session
   * at about the same time share their result.
   *
   * @returns The present session, or `undefined` if it was revoked meanwhile.
   */
  async function refresh(
    session: VerifiedSession,
  ): Promise<VerifiedSession | undefined> {
    if (!isDue(session)) return session;
    const { payload, credentialSource, value } = session;
    // With the strategy `cookie` the value stays the same.
    const key = `${credentialSource} ${payload.iat} ${value}`;
    const time = now();
    const known = refreshes.peek(key);
    if (known !== undefined && time < known.until) return await known.result;
    const started = { result: renew(session), until: time + REFRESH_PAUSE };
    refreshes.set(key, started);
    try {
      return await started.result;
    } catch (error) {
      if (refreshes.peek(key) === started) refreshes.delete(key);
      throw error;
    }
  }

  function requireStore(what: string): SessionStore {
    if (store !== undefined) return store;
    throw new TypeError(
      `Cannot ${what} sessions: the strategy "jwt" keeps none on the server; use "hybrid" or "cookie"`,
    );
  }

  return {
    ...verifier,
    begin,
    isDue,
    refresh,

    /**
     * Ends a session, if there is a store. Users of API keys have none.
     *
     * @param cookies The `Cookie` header of a request that loses its cookie. An
     * API key or a bearer token hides the session of that cookie.
     */
    async end(
      verified: VerifiedSession | undefined,
      cookies: string | null = null,
    ): Promise<void> {
      const header = verified?.credentialSource === "cookie" ? null : cookies;
      const { value } = findCookie(header, settings.cookie.name) ?? {};
      const hidden = value && await verifier.verify(value, "cookie");
      for (const ended of [verified, hidden || undefined]) {
        const id = isVerified(ended) && ended.payload.sid;
        if (id) await store?.delete(id);
      }
    },

    /** Returns a token of the session, with any strategy. */
    async token(
      { payload, value, credentialSource }: VerifiedSession,
    ): Promise<string> {
      return strategy === "cookie" && credentialSource === "cookie"
        ? await signToken(payload, keys)
        : value;
    },

    /** Returns the remaining lifetime of the cookie, in seconds. */
    cookieAge({ payload }: VerifiedSession): number {
      return Math.max(0, Math.ceil(payload.exp - now() / 1000));
    },

    /** Returns the sessions of a user, oldest first. */
    async list(userId: string): Promise<readonly SessionRecord[]> {
      checkValue(userId, "userId", aNonEmptyString, "list sessions");
      const time = now();
      const records = await requireStore("list").listByUser(userId);
      return records.filter(({ expiresAt }) => expiresAt > time);
    },

    /** Ends the session of an id. */
    async revokeOne(id: string): Promise<void> {
      const store = requireStore("revoke");
      const record = await store.get(id) ?? undefined;
      if (record === undefined) return;
      await store.delete(id);
      emit({ type: "sessions_revoked", userId: record.userId, count: 1 });
    },

    /** Ends all sessions of a user, and returns their number. */
    async revoke(userId: string): Promise<number> {
      // The number 1 would match none of the sessions of the user "1".
      checkValue(userId, "userId", aNonEmptyString, "revoke sessions");
      const count = await requireStore("revoke").deleteByUser(userId);
      emit({ type: "sessions_revoked", userId, count });
      return count;
    },

    /** Closes the store, if it has a `close` method. */
    async close(): Promise<void> {
      await store?.close?.();
    },
  };
}

/** Returns when a session ends, in seconds of the Unix epoch. */
function readExpiry({ expiresAt }: Session, iat: number): number {
  if (expiresAt instanceof Date && expiresAt.getTime() > iat * 1000) {
    return Math.floor(expiresAt.getTime() / 1000);
  }
  throw new TypeError(
    `Cannot sign in: expiresAt of the session that onSessionCreated returned must be a Date in the future, received ${
      expiresAt instanceof Date ? "one that is over" : kindOf(expiresAt)
    }`,
  );
}

/** Replaces a record, unless its session has ended or was refreshed later. */
async function touch(
  store: SessionStore,
  record: SessionRecord,
): Promise<boolean> {
  if (store.touch !== undefined) return await store.touch(record);
  // An untyped store may return `null`.
  const kept = await store.get(record.id) ?? undefined;
  if (kept === undefined || kept.refreshedAt > record.refreshedAt) return false;
  await store.set(record);
  return true;
}
