/**
 * The auth of one request: its user, and the cookies of its response.
 *
 * @module
 */

import type { ConnectionInfo, RequestContext } from "../core/context.ts";
import { observe } from "../core/observe.ts";
import { printableError } from "../core/redact/printable.ts";
import { noteSession } from "../core/session_end.ts";
import type { AuthContext, SignInAsOptions } from "./auth_context.ts";
import { PendingCookies } from "./cookies/pending_cookies.ts";
import type { AuthCore } from "./core.ts";
import { isCrossSite } from "./csrf.ts";
import type { DenialReason } from "./events.ts";
import type { OAuthCallbackParameters } from "./oauth/callback.ts";
import { checkSignInAs } from "./sign_in/check_sign_in_as.ts";
import { findProvider, shownId } from "./read_providers.ts";
import { RequestUser } from "./request_user.ts";
import { callSession } from "./sessions/callbacks.ts";
import {
  type AuthResult,
  isVerified,
  Rejection,
  type VerifiedSession,
} from "./sessions/verify_session.ts";
import { authorize } from "./sign_in/authorize.ts";
import { networkOfAddress } from "./sign_in/client_network.ts";
import { reportFailure, reportLateFailure } from "./sign_in/report_failure.ts";
import type { Session, User } from "./user.ts";

/** The {@linkcode AuthContext} of a request, and what the plugin does with it. */
export class RequestAuth extends RequestUser implements AuthContext {
  readonly #core: AuthCore;
  readonly #request: Request;
  readonly #info: ConnectionInfo | undefined;
  #pending: PendingCookies | undefined;
  #isAnswered = false;
  /** Whether the request has become a socket, whose response sets no cookies. */
  isUpgraded = false;
  #returnTo: string | null = null;

  constructor(
    core: AuthCore,
    request: Request,
    info: ConnectionInfo | undefined,
    result: AuthResult,
    context: RequestContext | undefined,
  ) {
    super(core, result, context);
    this.#core = core;
    this.#request = request;
    this.#info = info;
    if (result instanceof Rejection) {
      const { credentialSource, reason } = result;
      core.emit({ type: "session_rejected", reason });
      if (credentialSource === "cookie") this.#cookies.dropSession();
    } else if (isVerified(result) && context !== undefined) {
      // authenticate() notes it by the request.
      noteSession(this);
    }
  }

  /** Created when needed: most requests set no cookies. */
  get #cookies(): PendingCookies {
    const { cookie } = this.#core.settings;
    return this.#pending ??= new PendingCookies(cookie, this.#request);
  }

  get returnTo(): string | null {
    return this.#returnTo;
  }

  async getToken(): Promise<string | null> {
    const verified = this.ask();
    return verified === undefined || verified.credentialSource === "request"
      ? null
      : await this.#core.sessions.token(verified);
  }

  getCookieHeader(): string | null {
    return this.getCookieHeaders()[0] ?? null;
  }

  getCookieHeaders(): string[] {
    this.ask();
    return this.#cookies.headers;
  }

  /**
   * Returns the cookies for the response, without marking it as personal. It
   * can't carry cookies that are set later.
   */
  takeCookies(): readonly string[] {
    this.#isAnswered = true;
    return this.#pending?.headers ?? [];
  }

  signIn(
    provider: string,
    credentials: Record<string, unknown>,
  ): Promise<Session> {
    return this.#enter("auth:signIn", provider, () => {
      const core = this.#core;
      const found = findProvider(core.providers, provider);
      return authorize(core, found, credentials, this.#request, this.#info);
    });
  }

  signInAs(user: User, options: SignInAsOptions = {}): Promise<Session> {
    try {
      checkSignInAs(user, options, this.#core.providers);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#enter("auth:signInAs", options.provider, () => user);
  }

  /** Returns the URL at which a browser signs in with an OAuth provider. */
  oauthUrl(
    provider: string,
    redirectUri: string | undefined,
    returnTo?: unknown,
  ): string {
    const { flow, emit, providers } = this.#core;
    // The state in it belongs to this browser only.
    this.ask();
    const found = findProvider(providers, provider);
    const { url, cookies } = flow.begin(
      found,
      redirectUri,
      this.#cookies.received,
      returnTo,
    );
    this.#cookies.add(cookies);
    emit({ type: "oauth_started", provider: found.id });
    return url;
  }

  /** Signs in the user whom an OAuth provider has sent back. */
  oauthCallback(
    provider: string,
    callback: OAuthCallbackParameters,
  ): Promise<Session> {
    return this.#enter("auth:callback", provider, async () => {
      const { flow, providers } = this.#core;
      const found = findProvider(providers, provider);
      const sent = flow.finish(found, callback, this.#cookies.received);
      this.#cookies.add(sent.cookies);
      this.#returnTo = sent.returnTo ?? null;
      return await sent.user;
    });
  }

  /**
   * Begins the session of a user.
   *
   * @param provider The id of the provider, if any. It may be unknown.
   * @param findUser Authenticates the user, or throws.
   */
  #enter(
    spanName: string,
    provider: string | undefined,
    findUser: () => User | Promise<User>,
  ): Promise<Session> {
    const { sessions, emit, providers } = this.#core;
    const done: Promise<Session> = observe(spanName, "auth", async (span) => {
      this.ask();
      try {
        // Otherwise the old session would continue.
        this.demandVerified();
        const named = provider !== undefined && providers.has(provider);
        if (named) span?.setAttribute("app.auth.provider", provider);
        const user = await findUser();
        const begun = await sessions.begin(user, provider);
        try {
          await this.#replace(begun);
        } catch (error) {
          // Nobody gets this session, so the store needn't keep it.
          await sessions.end(begun);
          throw error;
        }
        this.#setSessionCookie(begun);
        this.#reportLate("sign-in");
        emit({ type: "sign_in", ...(named && { provider }), userId: user.id });
        return this.session!;
      } catch (error) {
        reportFailure(emit, shownId(provider), error, span);
        if (this.#isAnswered) reportLateFailure(() => done);
        throw error;
      }
    });
    return done;
  }

  /** Replaces the old session by a new one, once the old one has ended. */
  async #replace(begun: VerifiedSession): Promise<void> {
    const { sessions, callbacks } = this.#core;
    const verified = await callSession(callbacks, begun);
    let old: VerifiedSession | undefined;
    do {
      old = this.verified;
      await sessions.end(old, this.#cookies.received);
      // The same request may have signed in again meanwhile.
    } while (this.verified !== old);
    this.become(verified);
  }

  signOut(): Promise<void> {
    return observe("auth:signOut", "auth", async () => {
      const { sessions, settings, callbacks, emit } = this.#core;
      this.demandVerified();
      const { session, verified } = this;
      this.become(undefined);
      this.#cookies.clearSession();
      // A store ends the session, even if its cookie stays.
      const isEnded = session === null || settings.strategy !== "jwt";
      if (!this.isUpgraded || !isEnded) this.#reportLate("sign-out");
      await sessions.end(verified, this.#cookies.received);
      if (session === null) return;
      emit({ type: "sign_out", userId: session.userId });
      try {
        await callbacks.onSignOut?.(session);
      } catch (error) {
        // Rethrowing would lose the response that removes the cookie.
        console.error(
          "onSignOut of the auth plugin failed:",
          printableError(error),
        );
      }
    });
  }

  async refreshSession(): Promise<Session | null> {
    const { sessions, callbacks } = this.#core;
    this.demandVerified();
    const old = this.verified;
    if (old === undefined || old.credentialSource === "request") {
      return this.session;
    }
    const renewed = await sessions.refresh(old);
    if (renewed === old || this.verified !== old) return this.session;
    const verified = renewed && await callSession(callbacks, renewed);
    // The request may have signed out, or in as another user, meanwhile.
    if (this.verified !== old) return this.session;
    this.become(verified);
    if (old.credentialSource === "cookie") {
      if (verified === undefined) this.#cookies.dropSession();
      else this.#setSessionCookie(verified);
    }
    return this.session;
  }

  /** The network that the request came from, if known. */
  get network(): string | undefined {
    return networkOfAddress(this.#core.addressOf(this.#request, this.#info));
  }

  /**
   * Whether a page of another site may have made the browser send a request.
   * Browsers send cookies by themselves, and bearer tokens never.
   */
  isCrossSite(request: Request): boolean {
    this.markPersonal();
    return this.isSentByBrowsers &&
      isCrossSite(request, this.#core.trustedOrigins);
  }

  /** Emits `access_denied`. */
  deny(reason: DenialReason): void {
    const user = this.verified && { userId: this.verified.payload.sub };
    this.#core.emit({ type: "access_denied", reason, ...user });
  }

  /** Whether the response should set the session's cookie again. */
  isRefreshDue(): boolean {
    const verified = this.verified;
    return verified?.credentialSource === "cookie" &&
      this.#pending?.isEmpty !== false &&
      this.#core.sessions.isDue(verified);
  }

  /** Reports a cookie that no response can carry: a missing `await`, or a socket. */
  #reportLate(operation: string): void {
    if (!this.#isAnswered && !this.isUpgraded) return;
    const problem = this.isUpgraded
      ? `a WebSocket can't carry it; use an HTTP request for the ${operation}`
      : `the response was ready before the ${operation} was; await it in the handler`;
    console.error(`Cannot set the session's cookie: ${problem}`);
  }

  #setSessionCookie(verified: VerifiedSession): void {
    const maxAge = this.#core.sessions.cookieAge(verified);
    this.#cookies.setSession(verified.value, maxAge);
  }
}
