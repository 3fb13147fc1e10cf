/**
 * The modules that all hosts of a stack share, and the secrets to protect.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createAuthPlugin, credentials, getAuth } from "@quartet/kit/auth";
import type { AuthPlugin } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import type { Cache } from "@quartet/kit/data";
import { createTracer } from "@quartet/kit/trace";
import type { TracerImpl } from "@quartet/kit/trace";
import { ROLES } from "./pages.ts";

export const ORIGIN = "http://localhost";

/** The modules and sessions that a stack shares. */
export interface World {
  readonly auth: AuthPlugin;
  readonly cache: Cache;
  readonly lastingCache: Cache;
  readonly tracer: TracerImpl;
  /** The sessions of ada and bob, as cookies and as tokens. */
  readonly sessions: Readonly<Record<string, SessionOf>>;
}

export interface SessionOf {
  readonly cookie: string;
  readonly token: string;
}

/** Creates the modules, and signs ada and bob in. */
export async function createWorld(): Promise<World> {
  const auth = createAuthPlugin({
    session: { secret: SECRET },
    providers: [
      credentials({
        authorize: ({ id }) => ({
          id: String(id),
          roles: [...ROLES[String(id)] ?? []],
        }),
      }),
    ],
  });
  return {
    auth,
    cache: createCache(),
    lastingCache: createCache(),
    tracer: createTracer(),
    sessions: {
      ada: await signIn(auth, "ada"),
      bob: await signIn(auth, "bob"),
    },
  };
}

/** Signs the sessions. */
export const SECRET = "a secret of at least thirty-two bytes";

/** A password in an error message of the application. */
export const PASSWORD = "correct-horse-battery";

async function signIn(auth: AuthPlugin, id: string): Promise<SessionOf> {
  const app = createApp({ plugins: [auth] });
  app.route({
    path: "/",
    method: "POST",
    handler: async (_request, context) => {
      await getAuth(context).signIn("credentials", { id });
      return new Response(await getAuth(context).getToken());
    },
  });
  const request = new Request(ORIGIN, { method: "POST" });
  const response = await app.fetch(request);
  const cookie = response.headers.getSetCookie()[0]!.split(";")[0]!;
  return { cookie, token: await response.text() };
}
