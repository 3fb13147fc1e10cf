/**
 * Helpers for tests of sessions: an app with users behind a real server, a
 * clock that the test controls, and forged tokens.
 *
 * @module
 */

import type { Route, RouteArgs } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
} from "@quartet/kit/auth";
import type {
  AuthConfig,
  AuthEvent,
  AuthPlugin,
  AuthProvider,
  SessionConfig,
  SessionStrategy,
  User,
} from "@quartet/kit/auth";
import { startServer } from "./browser.ts";
import type { Browser, TestServer } from "./browser.ts";

/** A secret long enough for production. */
export const SECRET = "a secret of the tests, longer than thirty-two bytes";
/** A different secret. */
export const OTHER_SECRET = "another secret of the tests, not less long";

export const STRATEGIES: readonly SessionStrategy[] = [
  "jwt",
  "cookie",
  "hybrid",
];

/** The users by the name they sign in with. */
export const USERS: Readonly<Record<string, User>> = {
  ada: {
    id: "1",
    email: "ada@example.com",
    name: "Ada",
    roles: ["admin", "editor"],
    plan: "pro",
  },
  bob: { id: "2", name: "Bob", roles: ["editor"] },
  eve: { id: "3" },
};

/** Creates a provider that accepts a user's name. */
export function byName(): AuthProvider {
  return credentials({
    authorize: ({ user }) => Promise.resolve(USERS[String(user)] ?? null),
  });
}

/** The key that {@linkcode byKey} accepts for Bob. */
export const KEY = "k-815";

/**
 * Creates a provider that accepts the key in a header or in the parameter
 * `key`.
 */
export function byKey(): AuthProvider {
  return apiKey({
    queryParam: "key",
    validate: (key) => Promise.resolve(key === KEY ? USERS["bob"]! : null),
  });
}

/** A clock that stands still until the test advances it. */
export interface Clock {
  /** The time, in milliseconds of the Unix epoch. */
  now(): number;
  /** The time, in seconds. */
  readonly seconds: number;
  /** Advances the clock by this many seconds. */
  pass(seconds: number): void;
}

/** Creates a clock that starts at a full second. */
export function createClock(): Clock {
  let time = Date.parse("2026-03-01T12:00:00Z");
  return {
    now: () => time,
    get seconds() {
      return time / 1000;
    },
    pass: (seconds) => void (time += seconds * 1000),
  };
}

/** Settings of a test's plugin. The session's secret is optional. */
export type TestConfig = Omit<AuthConfig, "session" | "now"> & {
  readonly session?: Partial<SessionConfig>;
  /** Default: a separate clock. */
  readonly clock?: Clock;
};

/** A listening app with auth. It's closed at the end of its block. */
export interface AuthServer extends TestServer {
  readonly plugin: AuthPlugin;
  readonly clock: Clock;
  /** Events that `onEvent` received. */
  readonly events: readonly AuthEvent[];
  /** Returns a browser that has signed in. */
  signIn(user?: string): Promise<Browser>;
}

/** The body of `/me`. */
export interface Me {
  readonly session: Record<string, unknown> | null;
  readonly user: User | null;
  readonly token: string | null;
  readonly isAuthenticated: boolean;
}

/**
 * Starts an app with `/sign-in`, `/sign-out`, `/refresh`, `/me` and the given
 * routes.
 */
export async function startAuth(
  config: TestConfig = {},
  routes: readonly Route[] = [],
): Promise<AuthServer> {
  const { clock = createClock(), ...rest } = config;
  const events: AuthEvent[] = [];
  const plugin = createAuthPlugin({
    providers: [byName()],
    now: clock.now,
    onEvent: (event) => void events.push(event),
    ...rest,
    session: { secret: SECRET, ...rest.session },
  });
  const server = await startServer(plugin, [...ROUTES, ...routes]);
  return Object.assign(server, {
    plugin,
    clock,
    events,
    async signIn(user = "ada") {
      const browser = server.browser();
      const response = await browser.ask("/sign-in", { body: { user } });
      if (response.status !== 200) {
        throw new Error(`${user} can't sign in: ${await response.text()}`);
      }
      await response.body?.cancel();
      return browser;
    },
  });
}

const ROUTES: readonly Route[] = [
  {
    path: "/sign-in",
    async action({ request, context }) {
      const { provider = "credentials", ...rest } = await request.json();
      return await getAuth(context).signIn(provider, rest);
    },
  },
  { path: "/sign-out", action: ({ context }) => getAuth(context).signOut() },
  {
    path: "/refresh",
    action: ({ context }) => getAuth(context).refreshSession(),
  },
  { path: "/me", loader: describe },
];

async function describe({ context }: RouteArgs): Promise<Me> {
  const auth = getAuth(context);
  return {
    session: auth.session as Record<string, unknown> | null,
    user: auth.getUser(),
    token: await auth.getToken(),
    isAuthenticated: auth.isAuthenticated(),
  };
}

/** Encodes text or bytes in base64url. */
export function base64url(data: string | Uint8Array): string {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Returns a token's claims without checking its signature. */
export function claimsOf(token: string): Record<string, unknown> {
  const [, payload] = token.split(".");
  const bytes = Uint8Array.fromBase64(payload!, { alphabet: "base64url" });
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The header of the kit's tokens. */
export const HEADER = { alg: "HS256", typ: "JWT" };

/**
 * Creates a token with a valid signature around any content. Parts that aren't
 * text or bytes are encoded as JSON.
 */
export async function forge(
  payload: unknown,
  header: unknown = HEADER,
  secret: string = SECRET,
  hash: "SHA-256" | "SHA-384" | "SHA-512" = "SHA-256",
): Promise<string> {
  return await sign(`${part(header)}.${part(payload)}`, secret, hash);
}

/** Returns a text with a dot and its signature. */
export async function sign(
  data: string,
  secret: string = SECRET,
  hash: "SHA-256" | "SHA-384" | "SHA-512" = "SHA-256",
): Promise<string> {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(secret),
    { name: "HMAC", hash },
    false,
    ["sign"],
  );
  const bytes = await crypto.subtle.sign("HMAC", key, encoder.encode(data));
  return `${data}.${base64url(new Uint8Array(bytes))}`;
}

function part(value: unknown): string {
  return base64url(
    typeof value === "string" || value instanceof Uint8Array
      ? value
      : JSON.stringify(value),
  );
}
