// The auth plugin: passwords, and OAuth with Hillside.

import type { DatabaseSync } from "node:sqlite";
import {
  createAuthPlugin,
  credentials,
  presetCodeHost,
  rateLimitSignIn,
  verifyPassword,
} from "@quartet/kit/auth";
import type {
  AuthPlugin,
  RateLimitStore,
  SessionStore,
} from "@quartet/kit/auth";
import { traceAuthCheck, tracedFetch } from "@quartet/kit/trace";
import type { Hillside } from "./hillside.ts";
import { showOAuthError } from "./sign_in.tsx";
import { findByEmail, rememberHillsideUser } from "./user.ts";
import type { AtlasUser } from "./user.ts";

export interface AuthOptions {
  /** The secret that signs sessions. */
  readonly secret: string;
  /** The OAuth server. */
  readonly hillside: Hillside;
  /** The session store. Default: memory of this process. */
  readonly sessions?: SessionStore | undefined;
  /** The store that counts failed sign-ins. Default: memory of this process. */
  readonly limits?: RateLimitStore | undefined;
}

export function createAuth(
  database: DatabaseSync,
  { secret, hillside, sessions, limits }: AuthOptions,
): AuthPlugin<AtlasUser> {
  const password = credentials({
    id: "password",
    authorize: ({ email, password }) =>
      findByPassword(database, email, password),
  });
  return createAuthPlugin({
    session: {
      secret,
      // With this strategy, users can sign out everywhere.
      strategy: "hybrid",
      ...sessions && { store: sessions },
    },
    providers: [
      password,
      presetCodeHost({
        id: "hillside",
        name: "Hillside",
        scope: ["read:user"],
        ...hillside.registration,
        // Hillside's spans join the trace of the sign-in.
        fetch: tracedFetch({ trustedOrigins: [hillside.origin] }),
        profile: (person) => rememberHillsideUser(database, person),
      }),
    ],
    // Adds /sign-in/hillside and its callback.
    oauthRoutes: { path: "/sign-in", onError: showOAuthError },
    signInLimiter: rateLimitSignIn(
      limits && { store: limits, name: "sign-in" },
    ),
  });
}

async function findByPassword(
  database: DatabaseSync,
  email: unknown,
  password: unknown,
): Promise<AtlasUser | null> {
  // Fields of a request can have any type.
  const found = typeof email === "string"
    ? findByEmail(database, email)
    : undefined;
  // Unknown users take the same time as known ones.
  const isRight = await traceAuthCheck(
    "password",
    () => verifyPassword(password, found?.passwordHash),
  );
  return isRight && found !== undefined ? found.user : null;
}
