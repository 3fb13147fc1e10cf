// Who signs in, and how.

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
import { findByEmail, rememberHillsideUser } from "./user.ts";
import type { AtlasUser } from "./user.ts";

/** What Atlas' auth has to know. */
export interface AuthOptions {
  /** Signs the sessions. */
  readonly secret: string;
  /** Where else people have accounts. */
  readonly hillside: Hillside;
  /** Keeps the sessions. Default: this process, until it ends. */
  readonly sessions?: SessionStore | undefined;
  /** Counts failed sign-ins. Default: this process does. */
  readonly limits?: RateLimitStore | undefined;
}

/** Makes the auth of Atlas. */
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
      // A signed cookie that is good as long as the server knows the session,
      // so that one can sign out everywhere.
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
        // Its spans join the trace of whoever signs in.
        fetch: tracedFetch({ trustedOrigins: [hillside.origin] }),
        profile: (person) => rememberHillsideUser(database, person),
      }),
    ],
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
  // What a request brings may be of any type.
  const found = typeof email === "string"
    ? findByEmail(database, email)
    : undefined;
  // Also for those who are unknown: so it takes the same time.
  const isRight = await traceAuthCheck(
    "password",
    () => verifyPassword(password, found?.passwordHash),
  );
  return isRight && found !== undefined ? found.user : null;
}
