import type { ConnectionInfo, RequestContext } from "../core/context.ts";
import { checkRequest } from "../core/http/message.ts";
import { type MaybePromise, whenDone } from "../core/promises.ts";
import {
  acceptDirect,
  type DirectNext,
  type Middleware,
  refuseUncalled,
} from "../core/middleware.ts";
import { claimCookies, markPersonal } from "../core/personal.ts";
import type { Plugin } from "../core/plugin.ts";
import type { RouteArgs } from "../core/route.ts";
import { noteSessionOf } from "../core/session_end.ts";
import { authOf } from "./access.ts";
import type { AuthContext } from "./auth_context.ts";
import { authenticate } from "./authenticate.ts";
import { withCookies } from "./cookies/response_cookies.ts";
import { type AuthCore, createCore } from "./core.ts";
import { createOAuthRoutes } from "./oauth/routes.ts";
import type { AuthConfig } from "./options.ts";
import { RequestAuth } from "./request_auth.ts";
import type { AuthResult } from "./sessions/verify_session.ts";
import type { BaseUser, Session, User } from "./user.ts";
import {
  type AuthorizedArgs,
  withAuth,
  type WithAuthOptions,
} from "./with_auth.ts";

/** A session in the list of a user's sessions. */
export interface SessionInfo {
  /** The session's id, as in `session.sessionId`. */
  readonly id: string;
  /** The id of the provider that authenticated the user. */
  readonly provider: string | undefined;
  /** The time of the sign-in. */
  readonly createdAt: Date;
  /** The time of the last refresh. */
  readonly refreshedAt: Date;
  /** The time at which it ends. */
  readonly expiresAt: Date;
}

/**
 * Auth for an app: a plugin for its host, and this module's functions typed for
 * the app's users.
 *
 * @typeParam U The type of the users.
 * @typeParam P The ids of the providers, if they are known.
 */
export interface AuthPlugin<
  U extends BaseUser = User,
  P extends string = string,
> extends Plugin {
  /** Always `auth`. */
  readonly name: "auth";
  /** The middleware that adds an {@linkcode AuthContext} to each request. */
  readonly middleware: Middleware<RequestContext>;
  /**
   * Checks a request that passes no middleware, such as one that opens a
   * socket. The caller must set the cookies of `getCookieHeaders()`.
   *
   * @param info The connection. `rateLimitSignIn()` needs its address.
   * @returns The auth. It is a promise only if the check has to wait, for example
   * for a store.
   */
  authenticate(
    request: Request,
    info?: ConnectionInfo,
  ): AuthContext<U, P> | Promise<AuthContext<U, P>>;
  /**
   * Returns the auth of a request. If it has passed several auth plugins, as is
   * possible on Hono, this and the next two functions return this plugin's.
   *
   * @throws {TypeError} If this plugin hasn't run for the request.
   */
  getAuth(context: RequestContext): AuthContext<U, P>;
  /** Returns the session of a request, or `null` if it is anonymous. */
  getSession(context: RequestContext): Session<U> | null;
  /** Returns the user of a request, or `null` if it is anonymous. */
  getUser(context: RequestContext): U | null;
  /** Wraps a loader or an action, so that it requires a signed-in user. */
  withAuth<T>(
    handler: (args: AuthorizedArgs<U, P>) => T | Promise<T>,
    options?: WithAuthOptions,
  ): (args: RouteArgs) => Promise<T>;
  /**
   * Returns the sessions of a user, oldest first.
   *
   * @throws {TypeError} With the strategy `jwt`, which keeps none, or if `userId`
   * isn't a non-empty string.
   */
  listSessions(userId: string): Promise<SessionInfo[]>;
  /**
   * Ends one session, at once. The caller must check that the session belongs
   * to the user.
   *
   * @param sessionId The id, as in a {@linkcode SessionInfo}.
   * @throws {TypeError} With the strategy `jwt`, which keeps none.
   */
  revokeSession(sessionId: string): Promise<void>;
  /**
   * Signs a user out everywhere, at once.
   *
   * @returns The number of sessions.
   * @throws {TypeError} With the strategy `jwt`, which keeps none, or if `userId`
   * isn't a non-empty string.
   */
  revokeSessions(userId: string): Promise<number>;
  /** Closes the store, if it has a `close` method. */
  close(): Promise<void>;
}

/**
 * Creates the auth plugin of an app.
 *
 * @typeParam U The type of the users that the providers return.
 * @typeParam P The ids of the providers. They are inferred, so that a misspelled
 * id in `signIn()` doesn't compile.
 * @param config The providers, and the settings of sessions.
 * @throws {TypeError} If a setting is wrong.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import {
 *   createAuthPlugin,
 *   credentials,
 *   optionalAuth,
 *   requireAuth,
 * } from "@quartet/kit/auth";
 *
 * const auth = createAuthPlugin({
 *   session: { secret: "a secret of at least thirty-two bytes" },
 *   providers: [
 *     credentials({
 *       authorize: ({ name, password }) =>
 *         Promise.resolve(
 *           name === "ada" && password === "engine" ? { id: "1", name } : null,
 *         ),
 *     }),
 *   ],
 * });
 *
 * const app = createApp({ plugins: [auth] });
 * app.route({
 *   path: "/sign-in",
 *   config: { ...optionalAuth() },
 *   action: async ({ request, context }) => {
 *     const { userId } = await auth.getAuth(context)
 *       .signIn("credentials", await request.json());
 *     return { userId };
 *   },
 * });
 * app.route({
 *   path: "/me",
 *   config: { ...requireAuth() },
 *   loader: ({ context }) => auth.getUser(context),
 * });
 *
 * const refused = await app.fetch(new Request("http://localhost/me"));
 * console.assert(refused.status === 401);
 * const signedIn = await app.fetch(
 *   new Request("http://localhost/sign-in", {
 *     method: "POST",
 *     body: JSON.stringify({ name: "ada", password: "engine" }),
 *   }),
 * );
 * const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
 * const me = await app.fetch(
 *   new Request("http://localhost/me", { headers: { cookie } }),
 * );
 * console.assert((await me.json()).name === "ada");
 * ```
 */
export function createAuthPlugin<
  U extends BaseUser = User,
  P extends string = string,
>(config: AuthConfig<U, P>): AuthPlugin<U, P> {
  // Only the public types know more of the users than `User` does.
  const core = createCore(config as unknown as AuthConfig);
  const { sessions, providers } = core;

  function authFor(
    request: Request,
    info: ConnectionInfo | undefined,
    context?: RequestContext,
  ): RequestAuth | Promise<RequestAuth> {
    claimCookies(core.cookieNames);
    const result = authenticate(core, request);
    return whenDone(result, createAuth, request, info, context);
  }

  function createAuth(
    result: AuthResult,
    request: Request,
    info: ConnectionInfo | undefined,
    context: RequestContext | undefined,
  ): RequestAuth {
    return new RequestAuth(core, request, info, result, context);
  }

  /** On Hono, requests may pass several plugins. The last one sets the context. */
  const ownAuth = (context: RequestContext) => authOf<U, P>(context, core);

  return {
    name: "auth",
    health: core.health,
    routes: createOAuthRoutes(providers.values(), config.oauthRoutes),
    middleware: acceptDirect((request, context, next) =>
      whenDone(
        authFor(request, context.info, context),
        enter,
        core,
        core.now(),
        context,
        next,
      )
    ),
    authenticate(request, info) {
      checkRequest(request);
      // The caller gets the user, so the response is personal.
      markPersonal();
      return whenDone(authFor(request, info), (auth) => {
        auth.ask();
        noteSessionOf(request, auth);
        return auth as unknown as AuthContext<U, P>;
      });
    },
    getAuth: ownAuth,
    getSession: (context) => ownAuth(context).session,
    getUser: (context) => ownAuth(context).getUser(),
    withAuth,
    async listSessions(userId) {
      const records = await sessions.list(userId);
      return records.map(({ id, payload, createdAt, refreshedAt }) => ({
        id,
        provider: payload["provider"] as string | undefined,
        createdAt: new Date(createdAt),
        refreshedAt: new Date(refreshedAt),
        expiresAt: new Date(payload.exp * 1000),
      }));
    },
    revokeSession: (sessionId) => sessions.revokeOne(sessionId),
    revokeSessions: (userId) => sessions.revoke(userId),
    async setup() {
      await Promise.all(Array.from(providers.values(), (it) => it.setup?.()));
    },
    close() {
      core.watcher.close();
      return sessions.close();
    },
  };
}

/** Runs the rest of a request with its auth. */
function enter(
  auth: RequestAuth,
  core: AuthCore,
  begun: number,
  context: RequestContext,
  next: DirectNext,
): MaybePromise<Response> {
  context.set("auth", auth);
  return withCookies(auth, core, begun, next);
}

refuseUncalled(createAuthPlugin);
