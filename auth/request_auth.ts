/**
 * The auth of one request: who it is from, and what its response has to tell
 * the browser.
 *
 * @module
 */

import type { ConnectionInfo, RequestContext } from "../core/context.ts";
import { markPersonal } from "../core/personal.ts";
import { printableError } from "../core/redact/printable.ts";
import { observe } from "../core/observe.ts";
import { currentScope } from "../core/request_scope.ts";
import type { ObservedSpan } from "../core/observed_span.ts";
import type { AuthContext } from "./auth_context.ts";
import { PendingCookies } from "./cookies/pending_cookies.ts";
import type { AuthCore } from "./core.ts";
import type { DenialReason } from "./events.ts";
import { findProvider, MAX_ID } from "./find_provider.ts";
import { isForged } from "./forgery.ts";
import type { OAuthCallbackParameters } from "./oauth/callback_parameters.ts";
import type { AuthProvider } from "./provider.ts";
import { sessionOf, userOfSession } from "./sessions/claims.ts";
import type { Identity } from "./sessions/describe.ts";
import type { ProvedSession } from "./sessions/session_proofs.ts";
import { authorize } from "./sign_in/authorize.ts";
import { networkOfAddress } from "./sign_in/network_of_address.ts";
import { tellFailure } from "./sign_in/tell_failure.ts";
import type { BaseUser, Session } from "./user.ts";

const NO_ROLES: readonly string[] = [];

/** The {@linkcode AuthContext} of a request, and what the plugin does with it. */
export class RequestAuth<U extends BaseUser> implements AuthContext<U> {
  readonly #core: AuthCore<U>;
  readonly #request: Request;
  readonly #info: ConnectionInfo | undefined;
  /** The context of the request, unless it was passed without one. */
  readonly #context: RequestContext | undefined;
  readonly #scope = currentScope();
  #identity: Identity<U> | undefined;
  #session: Session<U> | undefined;
  /** Those that count, whatever a handler does to `session.roles`. */
  #roles: readonly string[] = NO_ROLES;
  readonly #cookies: PendingCookies;

  constructor(
    core: AuthCore<U>,
    request: Request,
    info: ConnectionInfo | undefined,
    identity: Identity<U> | undefined,
    context?: RequestContext,
  ) {
    this.#core = core;
    this.#request = request;
    this.#info = info;
    this.#context = context;
    this.#cookies = new PendingCookies(core.settings.cookie, request);
    this.#become(identity);
  }

  get session(): Session<U> | null {
    const identity = this.ask();
    if (identity === undefined) return null;
    // Not before somebody asks: many requests never do.
    return this.#session ??= sessionOf<U>(identity.template);
  }

  isAuthenticated(): boolean {
    return this.ask() !== undefined;
  }

  hasRole(role: string): boolean {
    this.ask();
    return this.#roles.includes(role);
  }

  hasAnyRole(roles: readonly string[]): boolean {
    this.ask();
    return roles.some((role) => this.#roles.includes(role));
  }

  hasAllRoles(roles: readonly string[]): boolean {
    return this.isAuthenticated() &&
      roles.every((role) => this.#roles.includes(role));
  }

  getUser(): U | null {
    const { session } = this;
    return session && userOfSession(session);
  }

  async getToken(): Promise<string | null> {
    const identity = this.ask();
    if (identity === undefined || identity.evidence === "request") return null;
    return await this.#core.sessions.token(identity);
  }

  getCookieHeader(): string | null {
    return this.getCookieHeaders()[0] ?? null;
  }

  getCookieHeaders(): string[] {
    this.ask();
    return this.pendingCookies();
  }

  /** The same, for the plugin itself. */
  pendingCookies(): string[] {
    return this.#cookies.headers;
  }

  signIn(
    provider: string,
    credentials: Record<string, unknown>,
  ): Promise<Session<U>> {
    return observe("auth:signIn", "auth", async (span) => {
      return await this.#enter(
        provider,
        span,
        (found) =>
          authorize(
            this.#core,
            found,
            credentials,
            this.#request,
            this.#info,
          ),
      );
    });
  }

  /** The address that a browser is sent to, to sign in there. */
  oauthUrl(provider: string, redirectUri: string | undefined): string {
    const { flow, emit } = this.#core;
    // The state in it belongs to this browser only.
    this.ask();
    const found = findProvider(this.#core, provider);
    const { url, cookies } = flow.begin(
      found,
      redirectUri,
      this.#cookies.received,
    );
    this.#cookies.add(cookies);
    emit({ type: "oauth_started", provider: found.id });
    return url;
  }

  /** Signs in whom an OAuth provider has sent back. */
  oauthCallback(
    provider: string,
    callback: OAuthCallbackParameters,
  ): Promise<Session<U>> {
    return observe("auth:callback", "auth", async (span) => {
      return await this.#enter(provider, span, async (found) => {
        const { flow } = this.#core;
        const { user, cookies } = flow.finish(
          found,
          callback,
          this.#cookies.received,
        );
        this.#cookies.add(cookies);
        return await user;
      });
    });
  }

  /** Begins the session of whoever a provider finds this to be. */
  async #enter(
    id: string,
    span: ObservedSpan | undefined,
    authenticate: (provider: AuthProvider<U>) => Promise<U>,
  ): Promise<Session<U>> {
    const { sessions, emit } = this.#core;
    this.ask();
    try {
      const provider = findProvider(this.#core, id);
      span?.setAttribute("app.auth.provider", provider.id);
      const user = await authenticate(provider);
      const proved = await sessions.begin(user, provider.id);
      try {
        await this.#replace(proved);
      } catch (error) {
        // Nobody will have it, and its place in the store is somebody else's.
        await sessions.end(proved);
        throw error;
      }
      this.#setSessionCookie(proved);
      emit({ type: "sign_in", provider: provider.id, userId: user.id });
      return this.session!;
    } catch (error) {
      tellFailure(
        emit,
        typeof id === "string" ? id.slice(0, MAX_ID) : "",
        error,
      );
      throw error;
    }
  }

  /** Has a new session take the place of the old one, once that has ended. */
  async #replace(proved: ProvedSession): Promise<void> {
    const identity = await this.#core.describe(proved);
    let old: Identity<U> | undefined;
    do {
      old = this.#identity;
      if (old !== undefined && old.evidence !== "request") {
        await this.#core.sessions.end(old);
      }
      // Meanwhile the same request may have signed in another time.
    } while (this.#identity !== old);
    this.#become(identity);
  }

  signOut(): Promise<void> {
    return observe("auth:signOut", "auth", async () => {
      const { sessions, callbacks, emit } = this.#core;
      const { session } = this;
      const identity = this.#identity;
      this.#become(undefined);
      this.clearCookie();
      if (identity === undefined || session === null) return;
      if (identity.evidence !== "request") await sessions.end(identity);
      emit({ type: "sign_out", userId: session.userId });
      try {
        await callbacks.onSignOut?.(session);
      } catch (error) {
        // Thrown on, it would cost the response that removes the cookie.
        console.error(
          "onSignOut of the auth plugin failed:",
          printableError(error),
        );
      }
    });
  }

  async refreshSession(): Promise<Session<U> | null> {
    const identity = this.#identity;
    if (identity === undefined || identity.evidence === "request") {
      return this.session;
    }
    const renewed = await this.#core.sessions.refresh(identity);
    if (renewed === identity || this.#identity !== identity) {
      return this.session;
    }
    const described = renewed && await this.#core.describe(renewed);
    // Meanwhile the request may have signed out, or in as somebody else.
    if (this.#identity !== identity) return this.session;
    this.#become(described);
    if (identity.evidence === "cookie") {
      if (renewed === undefined) this.clearCookie();
      else this.#setSessionCookie(renewed);
    }
    return this.session;
  }

  /** Has the response remove a cookie that is of no use. */
  clearCookie(): void {
    this.#cookies.clearSession();
  }

  /** The network that the request came from, if known. */
  get network(): string | undefined {
    const address = this.#core.addressOf(this.#request, this.#info);
    return networkOfAddress(address);
  }

  /** Whether the page of another site may have made the browser send this. */
  isForged(request: Request): boolean {
    this.ask();
    return isForged(this.#core, this.#identity, request);
  }

  /** Tells the log that a guard has refused the request. */
  deny(reason: DenialReason): void {
    const userId = this.#identity?.payload.sub;
    this.#core.emit({
      type: "access_denied",
      reason,
      ...(userId === undefined ? {} : { userId }),
    });
  }

  /** Whether the session's cookie should be set anew with this response. */
  isRefreshDue(): boolean {
    const identity = this.#identity;
    return identity?.evidence === "cookie" && this.#cookies.isEmpty &&
      this.#core.sessions.isDue(identity);
  }

  /** Marks the response as personal. */
  ask(): Identity<U> | undefined {
    markPersonal(this.#context, this.#identity === undefined, this.#scope);
    return this.#identity;
  }

  #become(identity: Identity<U> | undefined): void {
    this.#identity = identity;
    this.#session = identity?.session;
    this.#roles = identity?.session !== undefined
      ? [...identity.session.roles ?? NO_ROLES]
      : identity?.template.roles as string[] | undefined ?? NO_ROLES;
  }

  #setSessionCookie(proved: ProvedSession): void {
    const { sessions } = this.#core;
    this.#cookies.setSession(proved.value, sessions.cookieAge(proved));
  }
}
