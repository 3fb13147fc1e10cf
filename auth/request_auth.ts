/**
 * The auth of one request: who it is from, and what its response has to tell
 * the browser.
 *
 * @module
 */

import type { ConnectionInfo } from "../app/context.ts";
import { isCrossOrigin } from "../app/origin.ts";
import { observe } from "../app/scope.ts";
import type { AuthContext } from "./auth_context.ts";
import { sessionOf, userOfSession } from "./claims.ts";
import { formatCookie } from "./cookie_settings.ts";
import { cookiesToClear, cookiesToSet, isPieceOf } from "./cookies.ts";
import type { AuthCore } from "./core.ts";
import type { ProvedSession } from "./credentials.ts";
import type { Identity } from "./identify.ts";
import { AuthError, invalidCredentials } from "./error.ts";
import type { DenialReason } from "./events.ts";
import type { SignInAttempt } from "./options.ts";
import type { AuthProvider, OAuthCallback } from "./provider.ts";
import type { BaseUser, Session } from "./user.ts";

const NO_ROLES: readonly string[] = [];
/** Methods that must not change anything (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** The {@linkcode AuthContext} of a request, and what the plugin does with it. */
export class RequestAuth<U extends BaseUser> implements AuthContext<U> {
  readonly #core: AuthCore<U>;
  readonly #request: Request;
  readonly #info: ConnectionInfo | undefined;
  /** To be called once somebody wants to know who this is. */
  #onAsked: (() => void) | undefined;
  #identity: Identity<U> | undefined;
  #session: Session<U> | undefined;
  /** Those that count, whatever a handler does to `session.roles`. */
  #roles: readonly string[] = NO_ROLES;
  /** By cookie name, what the response has to set. */
  #pending: Map<string, string> | undefined;

  constructor(
    core: AuthCore<U>,
    request: Request,
    info: ConnectionInfo | undefined,
    identity: Identity<U> | undefined,
    onAsked?: () => void,
  ) {
    this.#core = core;
    this.#request = request;
    this.#info = info;
    this.#onAsked = onAsked;
    this.#become(identity);
  }

  get session(): Session<U> | null {
    const identity = this.#ask();
    if (identity === undefined) return null;
    // Not before somebody asks: many requests never do.
    return this.#session ??= sessionOf<U>(identity.template);
  }

  isAuthenticated(): boolean {
    return this.#ask() !== undefined;
  }

  hasRole(role: string): boolean {
    this.#ask();
    return this.#roles.includes(role);
  }

  hasAnyRole(roles: readonly string[]): boolean {
    this.#ask();
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
    const identity = this.#ask();
    if (identity === undefined || identity.evidence === "request") return null;
    return await this.#core.sessions.token(identity);
  }

  getCookieHeader(): string | null {
    return this.getCookieHeaders()[0] ?? null;
  }

  getCookieHeaders(): string[] {
    return this.#pending === undefined ? [] : [...this.#pending.values()];
  }

  signIn(
    provider: string,
    credentials: Record<string, unknown>,
  ): Promise<Session<U>> {
    return observe("auth:signIn", "auth", async (span) => {
      const found = this.#provider(provider);
      span?.setAttribute("auth.provider", found.id);
      return await this.#enter(
        found,
        () => this.#authorize(found, credentials),
      );
    });
  }

  /** Asks a provider about credentials, as often as the limit lets it. */
  async #authorize(
    provider: AuthProvider<U>,
    credentials: Record<string, unknown>,
  ): Promise<U> {
    if (typeof credentials !== "object" || credentials === null) {
      throw invalidCredentials(
        new TypeError(
          `credentials must be an object, received ${
            credentials === null ? "null" : typeof credentials
          }`,
        ),
      );
    }
    const limiter = this.#core.signInLimiter;
    const attempt: SignInAttempt = {
      provider: provider.id,
      credentials,
      address: this.#core.addressOf(this.#request, this.#info),
    };
    const retryAfter = limiter?.check(attempt);
    if (retryAfter !== undefined) {
      throw new AuthError(
        "RATE_LIMITED",
        "Too many attempts to sign in; try again later",
        { retryAfter },
      );
    }
    if (provider.type === "oauth") {
      throw invalidCredentials(
        new Error(
          "this provider signs in by getOAuthUrl() and handleOAuthCallback()",
        ),
      );
    }
    const user = await provider.authorize(credentials);
    // Code without types may well return nothing instead of `null`.
    if (user === null || user === undefined) throw invalidCredentials();
    limiter?.succeeded(attempt);
    return user;
  }

  /** The address that a browser is sent to, to sign in there. */
  oauthUrl(provider: string, redirectUri: string | undefined): string {
    const { flow, emit } = this.#core;
    const found = this.#provider(provider);
    const { url, cookies } = flow.begin(found, redirectUri, this.#cookieHeader);
    this.#set(cookies);
    emit({ type: "oauth_started", provider: found.id });
    return url;
  }

  /** Signs in whom an OAuth provider has sent back. */
  oauthCallback(
    provider: string,
    callback: OAuthCallback,
  ): Promise<Session<U>> {
    return observe("auth:callback", "auth", async (span) => {
      const found = this.#provider(provider);
      span?.setAttribute("auth.provider", found.id);
      return await this.#enter(found, async () => {
        const { flow } = this.#core;
        const { user, cookies } = flow.finish(
          found,
          callback,
          this.#cookieHeader,
        );
        this.#set(cookies);
        return await user;
      });
    });
  }

  /** Begins the session of whoever a provider finds this to be. */
  async #enter(
    provider: AuthProvider<U>,
    authenticate: () => Promise<U>,
  ): Promise<Session<U>> {
    const { sessions, emit } = this.#core;
    try {
      const user = await authenticate();
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
      this.#tellFailure(provider.id, error);
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

  #tellFailure(provider: string, error: unknown): void {
    const { emit } = this.#core;
    const type = "sign_in_failed";
    if (error instanceof AuthError) {
      const { code, cause } = error;
      const reason = cause instanceof Error ? { reason: cause.message } : {};
      emit({ type, provider, code, ...reason });
    } else {
      // What a provider or a callback throws may hold anything.
      emit({ type, provider, code: "INTERNAL_ERROR" });
    }
  }

  signOut(): Promise<void> {
    return observe("auth:signOut", "auth", async () => {
      const { settings, sessions, callbacks, emit } = this.#core;
      const { session } = this;
      const identity = this.#identity;
      this.#become(undefined);
      this.#setSession(cookiesToClear(settings.cookie, this.#cookieHeader));
      if (identity === undefined || session === null) return;
      if (identity.evidence !== "request") await sessions.end(identity);
      emit({ type: "sign_out", userId: session.userId });
      try {
        await callbacks.onSignOut?.(session);
      } catch (error) {
        // Thrown on, it would cost the response that removes the cookie.
        console.error("onSignOut of the auth plugin failed:", error);
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
    const { settings } = this.#core;
    this.#setSession(cookiesToClear(settings.cookie, this.#cookieHeader));
  }

  /** Whether the page of another site may have made the browser send this. */
  isForged(request: Request): boolean {
    const evidence = this.#identity?.evidence;
    // Browsers add cookies by themselves, but neither tokens nor keys: but for
    // a key that is part of an address to which another page leads them.
    return evidence !== "bearer" &&
      (evidence !== "request" || this.#hasKeyInAddress(request)) &&
      (!SAFE_METHODS.has(request.method) || opensSocket(request)) &&
      isCrossOrigin(request, this.#core.trustedOrigins);
  }

  #hasKeyInAddress({ url }: Request): boolean {
    const query = URL.parse(url)?.searchParams;
    return this.#core.requestProviders.some(({ queryParam }) =>
      queryParam !== undefined && query?.has(queryParam)
    );
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
    return identity?.evidence === "cookie" && this.#pending === undefined &&
      this.#core.sessions.isDue(identity);
  }

  #provider(id: string): AuthProvider<U> {
    const provider = this.#core.providers.get(id);
    if (provider !== undefined) return provider;
    throw new AuthError(
      "UNKNOWN_PROVIDER",
      typeof id === "string"
        ? `There is no provider ${JSON.stringify(id.slice(0, 50))}`
        : "The id of a provider is a string",
    );
  }

  /** What the answer says from here on depends on who has asked. */
  #ask(): Identity<U> | undefined {
    const onAsked = this.#onAsked;
    if (onAsked !== undefined) {
      this.#onAsked = undefined;
      onAsked();
    }
    return this.#identity;
  }

  #become(identity: Identity<U> | undefined): void {
    this.#identity = identity;
    this.#session = identity?.session;
    this.#roles = identity?.session !== undefined
      ? [...identity.session.roles ?? NO_ROLES]
      : identity?.template.roles as string[] | undefined ?? NO_ROLES;
  }

  get #cookieHeader(): string | null {
    try {
      return this.#request.headers.get("cookie");
    } catch {
      // Deno lets go of a request that has become a socket. What happens from
      // then on has no response to set cookies anyway.
      return null;
    }
  }

  #setSessionCookie(proved: ProvedSession): void {
    const { settings, sessions } = this.#core;
    const age = sessions.cookieAge(proved);
    this.#setSession(
      cookiesToSet(settings.cookie, proved.value, age, this.#cookieHeader),
    );
  }

  #set(cookies: readonly string[]): void {
    const pending = this.#pending ??= new Map();
    for (const cookie of cookies) {
      pending.set(cookie.slice(0, cookie.indexOf("=")), cookie);
    }
  }

  /** Sets or removes the session's cookie, and what of it was to be set so far. */
  #setSession(cookies: readonly string[]): void {
    const { cookie } = this.#core.settings;
    for (const name of this.#pending?.keys() ?? []) {
      if (isPieceOf(name, cookie.name)) {
        this.#set([formatCookie(cookie, name, "", 0)]);
      }
    }
    this.#set(cookies);
  }
}

/**
 * Whether it is a GET that opens a WebSocket. What is sent on that may do
 * anything, and browsers let every page open one (RFC 6455, section 10.2).
 */
function opensSocket({ headers }: Request): boolean {
  const upgrade = headers.get("upgrade");
  return upgrade !== null && upgrade.toLowerCase().includes("websocket");
}
