/**
 * Ways to combine a page cache with a guarded page. In each of them, the mark
 * of a personal page could get lost.
 *
 * @module
 */

import {
  createApp,
  currentContext,
  toHono,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import type { App, Middleware, RequestContext } from "@quartet/kit/app";
import { getUser, optionalAuth, requireAuth } from "@quartet/kit/auth";
import type { AuthPlugin } from "@quartet/kit/auth";
import { Hono } from "hono";

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Puts a page cache around pages. Some of them are personal. */
export type Stack = (
  auth: AuthPlugin,
  cache: Middleware<RequestContext>,
) => Fetch;

/** Shows the user's id. */
const userPage = () =>
  new Response(getUser(currentContext())?.id ?? "anonymous");

/**
 * Creates an app with a guarded page, a page that reads the user, and a shared
 * one.
 */
export function personalApp(auth: AuthPlugin): App {
  const app = createApp({ plugins: [auth] });
  app.route({
    path: "/account",
    config: { ...requireAuth() },
    loader: userPage,
  });
  app.route({
    path: "/hello",
    config: { ...optionalAuth() },
    loader: userPage,
  });
  app.route({ path: "/news", loader: () => new Response("news") });
  app.route({
    path: "/news",
    method: "POST",
    config: { ...requireAuth({ redirect: "/sign-in" }) },
    handler: () => new Response("changed"),
  });
  app.route({
    path: "/sign-in/:id",
    method: "POST",
    handler: async (_request, context) => {
      const { id } = context.params;
      await auth.getAuth(context).signIn("credentials", { id });
      return new Response("signed in");
    },
  });
  return app;
}

/** Clones the request, as many frameworks do. */
const cloned = (fetch: Fetch): Fetch => (request) =>
  fetch(new Request(request));

export const STACKS: Readonly<Record<string, Stack>> = {
  "withPlugins([cache], app.fetch)": (auth, cache) =>
    withPlugins([cache], personalApp(auth).fetch).fetch,
  "an app within an app": (auth, cache) => {
    const inner = personalApp(auth);
    return createApp().use(cache).use((request) => inner.fetch(request)).fetch;
  },
  "two apps within an app": (auth, cache) => {
    const inner = personalApp(auth);
    const middle = createApp().use((request) => inner.fetch(request));
    return createApp().use(cache).use((request) => middle.fetch(request)).fetch;
  },
  "a handler that calls app.fetch()": (auth, cache) => {
    const inner = personalApp(auth);
    const app = createApp().use(cache);
    app.route({
      path: "/*",
      method: "*",
      handler: (request) => inner.fetch(request),
    });
    return app.fetch;
  },
  "toMiddleware(cache) around a framework that clones the request": (
    auth,
    cache,
  ) => {
    const outer = toMiddleware(cache);
    const fetch = cloned(personalApp(auth).fetch);
    return (request) => outer(request, undefined, () => fetch(request));
  },
  "toMiddleware(cache) around toMiddleware(auth)": (auth, cache) => {
    const outer = toMiddleware(cache);
    const inner = toMiddleware(auth);
    const app = personalApp(auth);
    return (request) =>
      outer(request, undefined, () => {
        const clone = new Request(request);
        return inner(clone, undefined, () =>
          new URL(request.url).pathname === "/hello"
            ? userPage()
            : app.fetch(clone));
      });
  },
  "Hono's mount()": (auth, cache) => {
    const app = new Hono();
    app.use(toHono(cache));
    app.mount("/", personalApp(auth).fetch);
    return (request) => app.fetch(request);
  },
  "Hono's all('*', app.fetch)": (auth, cache) => {
    const inner = personalApp(auth);
    const app = new Hono();
    app.use(toHono(cache));
    app.all("*", (c) => inner.fetch(c.req.raw));
    return (request) => app.fetch(request);
  },
  "auth.authenticate()": (auth, cache) => {
    const inner = personalApp(auth);
    return createApp().use(cache).use(async (request) => {
      const { pathname } = new URL(request.url);
      if (request.method !== "GET" || pathname === "/news") {
        return await inner.fetch(request);
      }
      const user = (await auth.authenticate(request)).getUser();
      if (user !== null) return new Response(user.id);
      return pathname === "/hello"
        ? new Response("anonymous")
        : new Response(null, { status: 401 });
    }).fetch;
  },
};
