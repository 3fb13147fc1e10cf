/**
 * The life of sessions: begun, proved at each request, refreshed, ended.
 *
 * @module
 */

import { kindOf } from "../../core/check/show.ts";
import { AuthError } from "../error.ts";
import type { Emit } from "../events.ts";
import type { AuthCallbacks, AuthSettings } from "../options.ts";
import type { SessionRecord, SessionStore } from "../stores/session_store.ts";
import type { JWTPayload } from "../tokens/jwt.ts";
import { MAX_TOKEN_LENGTH, signToken } from "../tokens/jwt.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import type { BaseUser, Session } from "../user.ts";
import type { BuildPayload } from "./build_payload.ts";
import { createBuildPayload } from "./build_payload.ts";
import { payloadOf, sessionOf, sessionOfUser, templateOf } from "./claims.ts";
import { RecentResults } from "./recent_results.ts";
import { createSessionId } from "./session_cookie.ts";
import type {
  Evidence,
  Proof,
  ProvedSession,
  SessionProofs,
} from "./session_proofs.ts";
import { beginOf, createSessionProofs } from "./session_proofs.ts";

/** What sessions are made with. */
export interface SessionsOptions<U extends BaseUser> {
  readonly settings: AuthSettings;
  readonly keys: KeyRing;
  /** Absent with the strategy `jwt`. */
  readonly store: SessionStore | undefined;
  readonly callbacks: AuthCallbacks<U>;
  readonly emit: Emit;
  readonly now: () => number;
}

/** For how long after a refresh nobody else needs one, in milliseconds. */
const REFRESH_PAUSE = 30_000;

/** Begins, proves, refreshes and ends sessions. */
export class Sessions<U extends BaseUser> {
  readonly #settings: AuthSettings;
  readonly #keys: KeyRing;
  readonly #store: SessionStore | undefined;
  readonly #callbacks: AuthCallbacks<U>;
  readonly #emit: Emit;
  readonly #now: () => number;
  readonly #buildPayload: BuildPayload<U>;
  readonly #proofs: SessionProofs;
  /** Whoever asks for the same session while one refreshes it, or has, joins. */
  readonly #refreshed = new RecentResults<ProvedSession | undefined>();

  constructor(options: SessionsOptions<U>) {
    const { settings, keys, store, callbacks, emit, now } = options;
    this.#settings = settings;
    this.#keys = keys;
    this.#store = store;
    this.#callbacks = callbacks;
    this.#emit = emit;
    this.#now = now;
    this.#buildPayload = createBuildPayload(callbacks, emit);
    this.#proofs = createSessionProofs(settings, keys, store, now);
  }

  /** Examines a cookie's value, or a bearer token. */
  prove(
    value: string,
    evidence: "cookie" | "bearer",
  ): Proof | Promise<Proof> {
    return this.#proofs.prove(value, evidence);
  }

  /** Begins the session of a user who has authenticated. */
  async begin(user: U, provider: string): Promise<ProvedSession> {
    const { onSessionCreated, onSignIn } = this.#callbacks;
    const time = this.#now();
    const iat = Math.floor(time / 1000);
    const sid = createSessionId();
    const draft: Session<U> = {
      ...sessionOfUser(user, provider),
      sessionId: sid,
      issuedAt: new Date(iat * 1000),
      expiresAt: new Date(this.#expiry(iat, iat) * 1000),
    };
    const session = await onSessionCreated?.(draft) ?? draft;
    const payload = await this.#buildPayload(
      payloadOf(session, {
        ...this.#party,
        sid,
        iat,
        exp: this.#expiryOf(session, iat),
        auth_time: iat,
      }),
      session,
      user,
    );
    const value = await this.#issue(payload, "cookie");
    await onSignIn?.(user);
    const record = this.#recordOf(payload, time, time);
    await this.#store?.set(record);
    return this.#proved(payload, record, value, "cookie");
  }

  /**
   * Whether a session is old enough to be refreshed, and would last longer by it.
   */
  isDue({ payload, record }: ProvedSession): boolean {
    const time = this.#now();
    const now = time / 1000;
    // The response that had the new token may have been lost, so its own age
    // counts. But whoever has just got one need not get another.
    const isRecent = record !== undefined &&
      Math.floor(record.refreshedAt / 1000) > payload.iat &&
      time - record.refreshedAt < REFRESH_PAUSE;
    return now - payload.iat > this.#settings.updateAge && !isRecent &&
      this.#expiryAgain(payload, Math.floor(now)) > payload.exp;
  }

  /**
   * Gives the session a new term, if it {@linkcode isDue}. All that ask for the
   * same session at about the same time get the same result.
   *
   * @returns The session as it is now; `undefined` if it was revoked meanwhile.
   */
  async refresh(session: ProvedSession): Promise<ProvedSession | undefined> {
    if (!this.isDue(session)) return session;
    const { payload, evidence, value } = session;
    // With the strategy `cookie` the value stays the same.
    const key = `${evidence} ${payload.iat} ${value}`;
    return await this.#refreshed.get(
      key,
      this.#now(),
      () => this.#renew(session),
    );
  }

  async #renew(old: ProvedSession): Promise<ProvedSession | undefined> {
    const time = this.#now();
    const iat = Math.floor(time / 1000);
    const payload = await this.#buildPayload(
      {
        ...old.payload,
        iat,
        exp: this.#expiryAgain(old.payload, iat),
        // Tokens of other makers may have none, and must end all the same.
        auth_time: beginOf(old.payload),
      },
      sessionOf<U>(old.template),
    );
    const createdAt = old.record?.createdAt ?? beginOf(old.payload) * 1000;
    const record = this.#recordOf(payload, createdAt, time);
    const value = await this.#issue(payload, old.evidence);
    if (this.#store !== undefined && !await this.#touch(record)) {
      return undefined;
    }
    this.#emit({ type: "session_refreshed", userId: payload.sub });
    return this.#proved(payload, record, value, old.evidence);
  }

  #proved(
    payload: JWTPayload,
    record: SessionRecord,
    value: string,
    evidence: Evidence,
  ): ProvedSession {
    return {
      payload,
      template: templateOf(payload),
      record: this.#store && record,
      value,
      evidence,
    };
  }

  async #touch(record: SessionRecord): Promise<boolean> {
    const store = this.#store!;
    if (store.touch !== undefined) return await store.touch(record);
    // A store without types may well give `null`.
    if ((await store.get(record.id) ?? undefined) === undefined) return false;
    await store.set(record);
    return true;
  }

  /** Ends a session, as far as the strategy knows of it. */
  async end({ payload }: ProvedSession): Promise<void> {
    if (payload.sid !== undefined) await this.#store?.delete(payload.sid);
  }

  /** A token of the session, whatever its strategy. */
  async token({ payload, value, evidence }: ProvedSession): Promise<string> {
    return this.#settings.strategy === "cookie" && evidence === "cookie"
      ? await signToken(payload, this.#keys)
      : value;
  }

  /** For how long from now on the cookie is of use, in seconds. */
  cookieAge({ payload }: ProvedSession): number {
    return Math.max(0, Math.ceil(payload.exp - this.#now() / 1000));
  }

  /** The sessions of a user, the oldest first. */
  async list(userId: string): Promise<readonly SessionRecord[]> {
    const now = this.#now();
    const records = await this.#demandStore("list").listByUser(userId);
    return records.filter(({ expiresAt }) => expiresAt > now);
  }

  /** Ends the session of an id. */
  async revokeOne(id: string): Promise<void> {
    const store = this.#demandStore("revoke");
    const record = await store.get(id) ?? undefined;
    if (record === undefined) return;
    await store.delete(id);
    const { userId } = record;
    this.#emit({ type: "sessions_revoked", userId, count: 1 });
  }

  /** Ends all sessions of a user. */
  async revoke(userId: string): Promise<number> {
    const count = await this.#demandStore("revoke").deleteByUser(userId);
    this.#emit({ type: "sessions_revoked", userId, count });
    return count;
  }

  #demandStore(what: string): SessionStore {
    if (this.#store !== undefined) return this.#store;
    throw new AuthError(
      "CONFIG",
      `Cannot ${what} sessions: the strategy "jwt" keeps none on the server; use "hybrid" or "cookie"`,
    );
  }

  get #party() {
    const { issuer, audience } = this.#settings;
    return { iss: issuer, aud: audience };
  }

  /** When a session ends that begins its term at `iat`, in seconds. */
  #expiry(iat: number, begin: number): number {
    const { maxAge, absoluteMaxAge } = this.#settings;
    return Math.min(iat + maxAge, begin + absoluteMaxAge);
  }

  /** The same when it is refreshed: it keeps the term that it was given. */
  #expiryAgain(payload: JWTPayload, iat: number): number {
    const begin = beginOf(payload);
    const term = payload.exp - payload.iat;
    return Math.min(iat + term, begin + this.#settings.absoluteMaxAge);
  }

  #expiryOf({ expiresAt }: Session<U>, iat: number): number {
    const { absoluteMaxAge } = this.#settings;
    if (!(expiresAt instanceof Date) || !(expiresAt.getTime() > iat * 1000)) {
      throw new TypeError(
        `Cannot sign in: expiresAt of the session that onSessionCreated returned must be a Date in the future, received ${
          expiresAt instanceof Date ? "one that is over" : kindOf(expiresAt)
        }`,
      );
    }
    return Math.min(
      Math.floor(expiresAt.getTime() / 1000),
      iat + absoluteMaxAge,
    );
  }

  async #issue(payload: JWTPayload, evidence: Evidence): Promise<string> {
    const value = await this.#proofs.issue(payload, evidence);
    if (value.length <= MAX_TOKEN_LENGTH) return value;
    throw new TypeError(
      `Cannot keep session: its token has ${value.length} characters, more than the ${MAX_TOKEN_LENGTH} that are accepted; keep less in the session, or use the strategy "cookie"`,
    );
  }

  #recordOf(
    payload: JWTPayload,
    createdAt: number,
    refreshedAt: number,
  ): SessionRecord {
    return {
      id: payload.sid!,
      userId: payload.sub,
      payload,
      createdAt,
      refreshedAt,
      // The clocks of those who look it up may be behind.
      expiresAt: (payload.exp + this.#settings.clockTolerance) * 1000,
    };
  }
}
