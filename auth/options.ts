import type { ConnectionInfo } from "../core/context.ts";
import type { CookieOptions } from "./cookies/cookie_settings.ts";
import type { AuthEvent } from "./events.ts";
import type { AuthProvider } from "./provider.ts";
import type { SessionStore } from "./stores/session_store.ts";
import type { JWTPayload } from "./tokens/jwt.ts";
import type { BaseUser, Session, User } from "./user.ts";

/** Where a session lives. */
export type SessionStrategy = "jwt" | "cookie" | "hybrid";

/** How long sessions last, and where they live. */
export interface SessionConfig {
  /**
   * Signs tokens and cookies. At least 32 bytes in production, made with
   * `openssl rand -base64 32` or the like. Of an array, the first one signs and
   * all of them verify: to change the secret, put a new one in front, and take
   * the old one away after `maxAge`.
   */
  readonly secret: string | readonly string[];
  /**
   * - `jwt` (default): all of it in a signed token; nothing on the server, so
   *   it can't be revoked before it expires.
   * - `cookie`: an id in the cookie, the rest in the store.
   * - `hybrid`: a signed token that is valid as long as the store knows of it.
   */
  readonly strategy?: SessionStrategy;
  /** How long a session lasts without a refresh, in seconds. Default 7 days. */
  readonly maxAge?: number;
  /**
   * A session older than this is refreshed by the next request that brings its
   * cookie, in seconds. Default: a day, or half of `maxAge` if that is less.
   */
  readonly updateAge?: number;
  /**
   * How long after sign-in a session ends, however often it was refreshed, in
   * seconds. Default: no limit.
   */
  readonly absoluteMaxAge?: number;
  /** By how much the clocks of servers may differ, in seconds. Default 0. */
  readonly clockTolerance?: number;
  /** The `iss` claim of tokens, made and demanded. Default: none. */
  readonly issuer?: string;
  /** The `aud` claim of tokens, made and demanded. Default: none. */
  readonly audience?: string;
  /**
   * Where `cookie` and `hybrid` keep sessions. Default: the memory of this
   * process, for at most 10,000 of them; `createRedisSessionStore()` and
   * `createKvSessionStore()` serve several machines.
   */
  readonly store?: SessionStore;
}

/** What an application does at the turns of a session's life. */
export interface AuthCallbacks<U extends BaseUser = User> {
  /** Changes a session that is being created. */
  readonly onSessionCreated?: (
    session: Session<U>,
  ) => Session<U> | Promise<Session<U>>;
  /** Says, at each request, whether a session still holds. */
  readonly onSessionValidate?: (
    session: Session<U>,
  ) => boolean | Promise<boolean>;
  /** Runs when somebody has authenticated; if it throws, nobody is signed in. */
  readonly onSignIn?: (user: U) => void | Promise<void>;
  /** Runs when somebody has signed out. */
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
    /** Who is being signed in; absent on a refresh. */
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
  /** What it is to authenticate by. */
  readonly credentials: Readonly<Record<string, unknown>>;
  /** The address of the client, where the host tells it. */
  readonly address: string | undefined;
}

/** Slows down who guesses passwords; `rateLimitSignIn()` makes one. */
export interface SignInLimiter {
  /**
   * Counts an attempt before its outcome is known.
   *
   * @returns In how many seconds to come again; `undefined` to go on.
   */
  check(attempt: SignInAttempt): number | undefined;
  /** Takes a counted attempt back, which has succeeded. */
  succeeded(attempt: SignInAttempt): void;
  /** The maximum of pending sign-ins per address. Default: no limit. */
  readonly maxPendingPerAddress?: number;
}

/** Settings of {@linkcode createAuthPlugin}. */
export interface AuthConfig<U extends BaseUser = User> {
  /**
   * Signs tokens and cookies.
   *
   * @deprecated Use `session.secret`.
   */
  readonly secret?: string;
  /**
   * How long a session lasts, in seconds.
   *
   * @deprecated Use `session.maxAge`.
   */
  readonly sessionDuration?: number;
  /** The ways to sign in. */
  readonly providers?: readonly AuthProvider<U>[];
  /** How long sessions last, and where they live. */
  readonly session?: SessionConfig;
  /** What to do at the turns of a session's life. */
  readonly callbacks?: AuthCallbacks<U>;
  /** How the session's cookie is set. */
  readonly cookie?: CookieOptions;
  /** Logs what happens to the console, without any secrets. Default `false`. */
  readonly debug?: boolean;
  /** Gets what happens, for an audit log. What it throws is logged. */
  readonly onEvent?: (event: AuthEvent) => unknown;
  /** Slows down who guesses passwords. Default: nothing does. */
  readonly signInLimiter?: SignInLimiter;
  /**
   * The address of a client, for `signInLimiter`. Default: the other end of the
   * connection, where the host tells it. Behind a proxy that is the proxy, for
   * everybody: read there the header that the proxy sets, and no other one.
   */
  readonly address?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | undefined;
  /**
   * Other origins whose pages may send unsafe requests to guarded routes and
   * open sockets there, such as `https://app.example`. Default: the server's
   * own alone. For the sockets of RPC, see `allowedOrigins` of `rpcPlugin()`.
   */
  readonly trustedOrigins?: readonly string[];
  /** Where the time is read, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}
