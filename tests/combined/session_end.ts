/**
 * Helpers for tests of ending sessions: a server with auth and subscriptions,
 * and clients on raw sockets.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createApp, type Middleware, type Server } from "@quartet/kit/app";
import {
  type AuthConfig,
  type AuthPlugin,
  createAuthPlugin,
  credentials,
  getAuth,
  optionalAuth,
  type SessionConfig,
  type User,
} from "@quartet/kit/auth";
import {
  createRouter,
  errors,
  procedure,
  rpcPlugin,
  type RPCPluginOptions,
} from "@quartet/kit/rpc";
import { tracePlugin, type Tracer } from "@quartet/kit/trace";
import { SECRET } from "../auth/harness.ts";
import { type Client, connect, subscribe } from "../rpc/helpers.ts";

/** Counts of subscriptions. */
export interface Log {
  /** Subscriptions that are running. */
  running: number;
  /** Number of subscriptions that have run their `finally`. */
  ended: number;
}

/** Waits some milliseconds, or until the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
  });
}

export function waiting(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Creates a router whose subscriptions read the user at different times. */
export function createUserRouter(log: Log, auth?: AuthPlugin) {
  async function* wait(first: unknown, signal: AbortSignal) {
    log.running++;
    try {
      yield first;
      await waiting(signal);
    } finally {
      log.running--;
      log.ended++;
    }
  }
  const signedIn = procedure.use(({ ctx, next }) => {
    const user = getAuth(ctx).getUser();
    if (user === null) throw errors.unauthorized("Sign in first");
    return next({ user });
  });
  return createRouter({
    /** Doesn't read the user. */
    clock: procedure.subscription(({ signal }) => wait("tick", signal)),
    /** Reads the user in a middleware. */
    mine: signedIn.subscription(({ user, signal }) => wait(user.id, signal)),
    roles: signedIn.subscription(({ ctx, signal }) =>
      wait(getAuth(ctx).session?.roles ?? [], signal)
    ),
    /** Authenticates the request again, and sends the roles. */
    now: procedure.subscription(async function* ({ request, signal }) {
      const { session } = await auth!.authenticate(request);
      yield* wait(session?.roles ?? [], signal);
    }),
    /** Reads the user after the first value. */
    late: procedure.subscription(async function* ({ ctx, signal }) {
      yield "begun";
      await pause(1, signal);
      yield* wait(getAuth(ctx).getUser()?.id ?? "anonymous", signal);
    }),
    /** Authenticates the request repeatedly. */
    again: procedure.subscription(async function* ({ request, signal }) {
      for (let round = 0; !signal.aborted; round++) {
        const user = (await auth!.authenticate(request)).getUser();
        if (round === 0) yield user!.id;
        await pause(5, signal);
      }
    }),
    /** Reads the user repeatedly. */
    often: procedure.subscription(async function* ({ ctx, signal }) {
      for (;;) {
        yield getAuth(ctx).getUser()?.id ?? "anonymous";
        await pause(5, signal);
      }
    }),
  });
}

/** Returns the message that ends a subscription with its session. */
export const ended = (id: string) => ({
  type: "error",
  id,
  error: {
    code: "UNAUTHORIZED",
    message: "The session has ended",
    details: { reason: "SESSION_ENDED" },
  },
});

export interface SessionsOptions {
  readonly session?: Partial<SessionConfig>;
  readonly auth?: Omit<AuthConfig, "session">;
  readonly rpc?: Omit<RPCPluginOptions, "router">;
  readonly trace?: Tracer;
  /** The auth plugin that procedures use. */
  readonly by?: AuthPlugin;
  /** A middleware between auth and RPC. */
  readonly before?: Middleware;
}

/** One of several servers with shared sessions. */
export interface SessionsServer extends AsyncDisposable {
  readonly auth: AuthPlugin;
  readonly server: Server;
  readonly origin: string;
  readonly log: Log;
  /** Signs in, replacing the session of a cookie. Returns the new cookie. */
  signIn(user?: string, cookie?: string): Promise<string>;
  /** Sends a POST with a cookie. Returns the new cookie, or the given one. */
  post(path: string, cookie: string): Promise<string>;
  /** Returns the session as a token. */
  token(cookie: string): Promise<string>;
  open(cookie?: string, headers?: Record<string, string>): Promise<Client>;
}

const USERS: Record<string, User> = {
  ada: { id: "ada", roles: ["admin", "editor"] },
  bob: { id: "bob" },
};

/** Creates an auth plugin. The default strategy is `cookie`. */
export function createSessionsAuth(
  { session, auth }: Pick<SessionsOptions, "session" | "auth"> = {},
): AuthPlugin {
  return createAuthPlugin({
    providers: [
      credentials({
        authorize: ({ user }) => {
          const name = String(user);
          return Promise.resolve(USERS[name] ?? { id: name });
        },
      }),
    ],
    ...auth,
    session: { secret: SECRET, strategy: "cookie", ...session },
  });
}

export async function startSessions(
  options: SessionsOptions = {},
): Promise<SessionsServer> {
  const { rpc, before, by } = options;
  const log: Log = { running: 0, ended: 0 };
  const auth = createSessionsAuth(options);
  const app = createApp({
    plugins: [
      ...options.trace === undefined ? [] : [tracePlugin(options.trace)],
      auth,
      ...before === undefined ? [] : [{ name: "before", middleware: before }],
      rpcPlugin({ router: createUserRouter(log, by), ...rpc }),
    ],
  });
  const config = { ...optionalAuth() };
  app.route({
    path: "/sign-in",
    config,
    action: async ({ request, context }) => {
      await getAuth(context).signIn("credentials", await request.json());
      return null;
    },
  });
  app.route({
    path: "/sign-out",
    config,
    action: ({ context }) => getAuth(context).signOut(),
  });
  app.route({
    path: "/token",
    config,
    action: ({ context }) => getAuth(context).getToken(),
  });
  app.route({
    path: "/refresh",
    config,
    action: ({ context }) => getAuth(context).refreshSession(),
  });
  const server = await app.serve({
    port: 0,
    signals: false,
    shutdownTimeout: 3_600,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;

  async function send(path: string, cookie: string, body?: unknown) {
    const response = await fetch(origin + path, {
      method: "POST",
      headers: cookie === "" ? {} : { cookie },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    const [set] = response.headers.getSetCookie();
    return { text, cookie: set?.split(";")[0] ?? cookie };
  }

  return {
    auth,
    server,
    origin,
    log,
    signIn: async (user = "ada", cookie = "") =>
      (await send("/sign-in", cookie, { user })).cookie,
    post: async (path, cookie) => (await send(path, cookie)).cookie,
    token: async (cookie) => JSON.parse((await send("/token", cookie)).text),
    open: (cookie = "", headers = {}) =>
      connect({
        url: `${origin}/api/rpc`,
        headers: cookie === "" ? headers : { cookie, ...headers },
      }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The access of {@linkcode timesToEnd} to the servers. */
export interface EndsOptions {
  /** Users who sign in and subscribe. Each has one session and one socket. */
  readonly users: readonly string[];
  /** Signs in at one server, and opens a socket at another. */
  readonly open: (user: string) => Promise<Client>;
  /** Revokes a user's sessions at the first server. */
  readonly revoke: (user: string) => Promise<unknown>;
}

/** Number of concurrent sign-ins and revocations. */
const AT_ONCE = 100;

/**
 * Measures the time from a revocation at one server to the end of a
 * subscription at another.
 *
 * @returns Milliseconds, shortest first.
 */
export async function timesToEnd(
  { users, open, revoke }: EndsOptions,
): Promise<number[]> {
  const clients = new Map<string, Client>();
  await inTurns(users, async (user) => {
    const client = await open(user);
    clients.set(user, client);
    client.send(subscribe("mine", "mine"));
    assertEquals((await client.next()).data, user);
  });
  const times: number[] = [];
  await inTurns(users, async (user) => {
    const client = clients.get(user)!;
    const start = performance.now();
    const [message] = await Promise.all([client.next(), revoke(user)]);
    times.push(performance.now() - start);
    assertEquals(message, ended("mine"));
  });
  for (const client of clients.values()) await client[Symbol.asyncDispose]();
  return times.toSorted((a, b) => a - b);
}

async function inTurns(
  users: readonly string[],
  work: (user: string) => Promise<void>,
): Promise<void> {
  const waiting = [...users];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let user; (user = waiting.shift()) !== undefined;) await work(user);
  }));
}
