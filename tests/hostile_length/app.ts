/**
 * An app with all modules, for requests of any length.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import type { App } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
  requireAuth,
  safeRedirect,
} from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";

/** The secret of sessions and of the revalidation handler. */
export const SECRET = "a secret of the tests, longer than thirty-two bytes";

/** The app's paths and their handlers. */
export const PATHS = [
  "/page",
  "/account",
  "/api/rpc",
  "/revalidate",
  "/__app/traces/api",
];

export function createSubject(): App {
  const cache = createCache();
  const handler = cache.createRevalidationHandler(SECRET);
  const router = createRouter({
    echo: procedure.query(({ input }) => input),
    post: procedure.mutation(({ input }) => input),
  });
  return createApp({
    trace: tracePlugin(createTracer({ maxTraces: 5 }), { recordHeaders: true }),
    plugins: [
      createAuthPlugin({
        session: { secret: SECRET },
        onEvent: () => {},
        providers: [
          credentials({ authorize: () => Promise.resolve(null) }),
          apiKey({ validate: () => Promise.resolve(null), queryParam: "key" }),
        ],
      }),
      rpcPlugin({ router, endpoint: "/api/rpc" }),
    ],
    routes: [
      {
        path: "/account",
        handler: () => new Response("account"),
        config: { ...requireAuth() },
      },
      {
        path: "/revalidate",
        method: "POST",
        handler: (request: Request) => handler(request),
      },
      {
        path: "/fails/**",
        method: "*",
        handler: async (request: Request) => {
          throw new Error(await request.text() || request.url);
        },
      },
      {
        path: "/sign-in",
        action: async ({ request, context }) => {
          const form = Object.fromEntries(await request.formData());
          await getAuth(context).signIn("credentials", form);
          return Response.redirect(safeRedirect(form["next"], "/"));
        },
      },
      {
        path: "/**",
        method: "*",
        handler: (_request, context) => {
          getAuth(context);
          return new Response("page");
        },
      },
    ],
  }).use(cache.cacheResponse({ maxAge: 60, vary: ["accept-language"] }));
}
