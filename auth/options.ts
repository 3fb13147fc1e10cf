import type { ConnectionInfo, Context } from "../core/context.ts";
import type { CookieOptions } from "./cookies/cookie_settings.ts";
import type { AuthError } from "./error.ts";
import type { AuthEvent } from "./events.ts";
import type { AuthProvider } from "./provider.ts";
import type { SessionStore } from "./stores/session_store.ts";
import type { JWTPayload } from "./tokens/jwt.ts";
import type { BaseUser, Session, User } from "./user.ts";

/** The place where sessions are stored. */
export type SessionStrategy = "jwt" | "cookie" | "hybrid";

/** Settings of sessions. */
export interface SessionConfig {
  /**
   * Signs tokens and cookies. At least 32 bytes in production. Create one with
   * `openssl rand -base64 32`. In an array, the first secret signs and all of
   * them verify. To rotate the secret, add a new one at the front, and remove
   * the old one after `maxAge`.
   *
   * `undefined` compiles, as `Deno.env.get("SESSION_SECRET")` returns it, but
   * throws a `TypeError`.
   */
  readonly secret: string | readonly string[] | undefined;
  /**
   * - `jwt` (default): all of it in a signed token; nothing on the server, so
   *   it can't be revoked before it expires.
   * - `cookie`: an id in the cookie, the rest in the store.
   * - `hybrid`: a signed token that is valid as long as the store knows of it.
   */
  readonly strategy?: SessionStrategy;
  /**
   * How long a session lasts without a refresh, in seconds. Default 7 days. At
   * most 1e12.
   */
  readonly maxAge?: number;
  /**
   * A session older than this is refreshed by the next request that brings its
   * cookie, in seconds. Default: a day, or half of `maxAge` if that is less.
   */
  readonly updateAge?: number;
  /**
   * Maximum age of a session from sign-in on, however often it is refreshed, in
   * seconds. Default: no limit.
   */
  readonly absoluteMaxAge?: number;
  /** Allowed difference between servers' clocks, in seconds. Default 0. */
  readonly clockTolerance?: number;
  /** The `iss` claim of new tokens, required in all tokens. Default: none. */
  readonly issuer?: string;
  /** The `aud` claim of new tokens, required in all tokens. Default: none. */
  readonly audience?: string;
  /**
   * The store of the strategies `cookie` and `hybrid`. Default: the memory of
   * this process, for at most 10,000 sessions. For several machines, use
   * `createRedisSessionStore()` or `createPostgresSessionStore()`.
   */
  readonly store?: SessionStore;
  /**
   * The answer to a request with a session while the store can't be reached.
   *
   * - `refuse` (default): 503 `UNAVAILABLE` with `Retry-After`, on every path.
   * - `anonymous`: public routes treat the request as anonymous. The cookie
   *   stays. Guards, sign-in and sign-out still answer 503. Code that checks for
   *   a user itself sees none.
   */
  readonly fallback?: "refuse" | "anonymous";
}

/** Callbacks of a session's life. */
export interface AuthCallbacks<U extends BaseUser = User> {
  /** Called when a session is created. Returns it, changed or not. */
  readonly onSessionCreated?: (
    session: Session<U>,
  ) => Session<U> | Promise<Session<U>>;
  /** Called at each request. Returns whether the session is still valid. */
  readonly onSessionValidate?: (
    session: Session<U>,
  ) => boolean | Promise<boolean>;
  /** Called when a user has authenticated. If it throws, the sign-in fails. */
  readonly onSignIn?: (user: U) => void | Promise<void>;
  /** Called when a user has signed out. */
  readonly onSignOut?: (session: Session<U>) => void | Promise<void>;
  /**
   * Builds a session's payload at sign-in and at each refresh. It returns the
   * whole payload, with `roles`, `name`, `email` and custom claims. Omitted
   * claims are removed. To keep the rest, return
   * `{ ...token, roles: ["admin"] }`.
   *
   * `sub`, `iat`, `exp`, `nbf`, `iss`, `aud`, `jti`, `sid`, `auth_time` and
   * `provider` always come from the session. Keys that name secrets, such as
   * `accessToken`, are left out. `onEvent` and `debug` report both as
   * `claim_ignored`.
   *
   * If `roles` isn't an array of strings, or `name` or `email` isn't a string,
   * the sign-in or refresh fails with a `TypeError`.
   */
  readonly jwt?: (args: {
    readonly token: JWTPayload;
    /** The user who signs in. Absent on a refresh. */
    readonly user?: U;
    readonly session?: Session<U>;
  }) => JWTPayload | Promise<JWTPayload>;
  /** Builds the session of a request from its payload. */
  readonly session?: (args: {
    readonly token: JWTPayload;
    readonly session: Session<U>;
  }) => Session<U> | Promise<Session<U>>;
}

/** An attempt to sign in, as a {@linkcode SignInLimiter} sees it. */
export interface SignInAttempt {
  /** The id of the provider. */
  readonly provider: string;
  /** The input of the provider's `authorize`. */
  readonly credentials: Readonly<Record<string, unknown>>;
  /** The address of the client, if known. */
  readonly address: string | undefined;
}

/** Limits attempts to guess passwords. `rateLimitSignIn()` creates one. */
export interface SignInLimiter {
  /**
   * Counts an attempt before its outcome is known.
   *
   * @returns Seconds until the next attempt, or `undefined` to allow this one. A
   * limiter that asks a store returns a promise of that.
   */
  check(
    attempt: SignInAttempt,
  ): number | undefined | Promise<number | undefined>;
  /** Removes an attempt from the count, because it has succeeded. */
  succeeded(attempt: SignInAttempt): void | Promise<void>;
  /**
   * The maximum of pending sign-ins per address, in this process. Default: no
   * limit.
   */
  readonly maxPendingPerAddress?: number;
}

/** Settings of `oauthRoutes`. */
export interface OAuthRoutesOptions {
  /** The path of the routes. Default: `/auth`. */
  readonly path?: string;
  /**
   * The origin of this server, such as `https://app.example`. Providers send
   * users back to it. Default: the origin of the request. Behind a proxy that
   * ends TLS, set it.
   */
  readonly origin?: string;
  /**
   * The path to go to after a sign-in without `returnTo`. The page of a failed
   * sign-in links to it. Default: `/`.
   */
  readonly home?: string;
  /**
   * Called when a sign-in fails. Returns the response. Default: the response of
   * the error, which is an HTML page for browsers.
   */
  readonly onError?: (
    error: AuthError,
    context: Context,
  ) => Response | Promise<Response>;
}

/**
 * Settings of {@linkcode createAuthPlugin}.
 *
 * @typeParam U The type of the users.
 * @typeParam P The ids of the providers, if they are known.
 */
export interface AuthConfig<
  U extends BaseUser = User,
  P extends string = string,
> {
  /**
   * Signs tokens and cookies.
   *
   * @deprecated Use `session.secret`.
   */
  readonly secret?: string | undefined;
  /**
   * How long a session lasts, in seconds.
   *
   * @deprecated Use `session.maxAge`.
   */
  readonly sessionDuration?: number;
  /** The ways to sign in, such as `credentials()` and `github()`. */
  readonly providers?: readonly AuthProvider<U, P>[];
  /**
   * Routes for sign-in with all OAuth providers, wherever the plugin is mounted.
   * `/auth/github?returnTo=/account` sends the browser to the provider `github`,
   * and `/auth/github/callback` takes it back. Register the second URL with the
   * provider. Default: `false`, no routes.
   */
  readonly oauthRoutes?: boolean | OAuthRoutesOptions;
  /** Settings of sessions. */
  readonly session?: SessionConfig;
  /** Callbacks of a session's life. */
  readonly callbacks?: AuthCallbacks<U>;
  /** Settings of the session's cookie. */
  readonly cookie?: CookieOptions;
  /**
   * Whether events are logged to the console, without secrets. Default `false`.
   */
  readonly debug?: boolean;
  /** Called with each event, for an audit log. Its errors are logged. */
  readonly onEvent?: (event: AuthEvent) => unknown;
  /** Limits attempts to guess passwords. Default: no limit. */
  readonly signInLimiter?: SignInLimiter;
  /**
   * Returns the address of a client, for `signInLimiter`. Default: the other
   * end of the connection. Behind a proxy, that is the proxy for all clients.
   * There, read the header that the proxy sets, and no other one.
   */
  readonly address?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | undefined;
  /**
   * Other origins whose pages may send unsafe requests to guarded routes and
   * open sockets there, such as `https://app.example`. Default: only the
   * server's own. For RPC sockets, see `trustedOrigins` of `rpcPlugin()`.
   */
  readonly trustedOrigins?: readonly string[];
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}
