/**
 * The application in a stack. It has public pages, pages for users and pages
 * for admins. Some pages depend on the user indirectly.
 *
 * @module
 */

import { createApp, currentContext } from "@quartet/kit/app";
import type { App, Plugin, Route } from "@quartet/kit/app";
import {
  getUser,
  optionalAuth,
  requireAuth,
  requireRoles,
} from "@quartet/kit/auth";
import { tracePlugin } from "@quartet/kit/trace";
import type { GuardsInput, StackInput } from "../input/stack.ts";
import { ORIGIN, PASSWORD } from "./world.ts";
import type { World } from "./world.ts";

export const ROLES: Readonly<Record<string, readonly string[]>> = {
  ada: ["admin"],
  bob: ["member"],
};

const who = () => `for:${getUser(currentContext())?.id ?? "nobody"}`;

export function createPages(
  world: World,
  { modules, guards }: Pick<StackInput, "modules" | "guards">,
): App {
  const { auth, cache } = world;
  const plugins: Record<(typeof modules)[number], Plugin> = {
    auth,
    cache: { name: "pages", middleware: cache.cacheResponse({ maxAge: 60 }) },
    trace: tracePlugin(world.tracer, { authorize: () => false }),
  };
  const app = createApp({ plugins: modules.map((name) => plugins[name]) });
  const posts = cache.unstable_cache(
    (id: string) => Promise.resolve(`for:${id}`),
    ["posts"],
  );
  const text = (path: string, get: () => string | Promise<string>): Route => ({
    path,
    handler: async () => new Response(await get()),
  });
  const routes: Route[] = [
    { path: "/account", config: { ...requireAuth() }, loader: () => page() },
    { path: "/admin", config: combine(guards), loader: () => page() },
    { path: "/hello", config: { ...optionalAuth() }, loader: () => page() },
    { path: "/late", handler: () => new Response(lateBody()) },
    text("/news", () => "news"),
    {
      path: "/news",
      method: "POST",
      config: { ...requireAuth({ redirect: "/sign-in" }) },
      handler: () => new Response("changed"),
    },
    {
      path: "/cart",
      handler: ({ headers }) => {
        const cookies = headers.get("cookie") ?? "";
        const cart = /(?:^|; )cart=(\w+)/.exec(cookies)?.[1];
        return new Response(`cart:${cart ?? "none"}`);
      },
    },
    text("/posts", () => posts(getUser(currentContext())?.id ?? "nobody")),
    text("/wrong", () => cache.cached("wrong", who, { maxAge: 60 })),
    {
      path: "/public",
      handler: () =>
        new Response(who(), { headers: { "cache-control": "public" } }),
    },
    {
      path: "/self",
      handler: ({ headers }) =>
        app.fetch(new Request(`${ORIGIN}/hello`, { headers })),
    },
    text("/menu", () =>
      cache.cached("menu", async () => {
        const response = await app.fetch(new Request(`${ORIGIN}/hello`));
        return await response.text();
      }, { maxAge: 60 })),
    {
      path: "/authenticate",
      handler: async (request) => {
        const user = (await auth.authenticate(request)).getUser();
        return new Response(`for:${user?.id ?? "nobody"}`);
      },
    },
    text("/fail", () => {
      const url = `https://me:${PASSWORD}@api.test/?access_token=${PASSWORD}`;
      throw new Error(`Cannot get ${url}: it is gone`);
    }),
  ];
  for (const route of routes) app.route(route);
  return app;

  function page(): Response {
    return new Response(who());
  }
}

/** Creates a body that reads the user only when it's consumed. */
function lateBody(): ReadableStream<Uint8Array> {
  const context = currentContext();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = `for:${getUser(context)?.id ?? "nobody"}`;
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  }, { highWaterMark: 0 });
}

/** Guards that must all apply. */
function combine({ copy, isReversed }: GuardsInput) {
  const [a, b] = isReversed
    ? [requireAuth({ redirect: "/sign-in" }), requireRoles(["admin"])]
    : [requireRoles(["admin"]), requireAuth({ redirect: "/sign-in" })];
  switch (copy) {
    case "spread":
      return { ...a, ...b };
    case "assign":
      return Object.assign({}, a, b);
    case "entries":
      return Object.fromEntries([...Object.entries(a), ...Object.entries(b)]);
  }
}
