/**
 * The same application on one server after another, each with handlers in that
 * server's style.
 *
 * @module
 */

import {
  currentContext,
  toHono,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import { getAuth, requireAuth } from "@quartet/kit/auth";
import { Hono } from "hono";
import type { Kit } from "./kit.ts";

/** A handler for `Deno.serve`, and a function that closes its plugins. */
export interface Mounted {
  readonly fetch: (
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ) => Response | Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Parts of the streamed body. */
const CHUNKS = ["one ", "two ", "three"];

const stream = () =>
  new Response(
    ReadableStream.from(CHUNKS).pipeThrough(new TextEncoderStream()),
    { headers: { "content-type": "text/event-stream" } },
  );

/** Adds the routes of the application to a Hono app. */
function addRoutes(app: Hono, kit: Kit): Hono {
  return app
    .post("/sign-in", (c) => kit.signIn(c.req.raw, c))
    .get("/account", (c) => kit.account(c))
    .get("/guarded", toHono(requireAuth()), (c) => c.text("secret"))
    .get("/known", (c) => c.json(getAuth(c).isAuthenticated()))
    .get("/cities/:of?", () => kit.cities())
    .get("/stream", stream)
    .get("/moved", (c) => c.redirect("/known"))
    .get("/fail", () => {
      throw new Error("inside");
    })
    .onError((error, c) => {
      kit.errors.push(error);
      return "getResponse" in error
        ? error.getResponse()
        : c.text("the framework's page", 500);
    })
    .notFound((c) => c.text("the framework's 404", 404));
}

export const SERVERS: Readonly<Record<string, (kit: Kit) => Mounted>> = {
  "Hono, all at once": (kit) => {
    const parts = toHono(kit.trace, kit.auth, kit.rpc);
    const app = new Hono();
    app.use(parts);
    const { fetch } = addRoutes(app, kit);
    return { fetch, close: parts.close };
  },
  "Hono, one by one": (kit) => {
    const parts = [toHono(kit.trace), toHono(kit.auth), toHono(kit.rpc)];
    const app = new Hono();
    for (const part of parts) app.use(part);
    const { fetch } = addRoutes(app, kit);
    return {
      fetch,
      async close() {
        for (const part of parts) await part.close();
      },
    };
  },
  "Deno.serve": (kit) =>
    withPlugins([kit.auth, kit.rpc, kit.trace], handler(kit), {
      onError: (error) => kit.errors.push(error),
    }),
  "Web middlewares": (kit) => {
    const outer = toMiddleware(kit.trace, kit.auth);
    const inner = toMiddleware(kit.rpc);
    const answer = handler(kit);
    return {
      async fetch(request, info) {
        try {
          return await outer(
            request,
            info,
            () => inner(request, info, () => answer(request)),
          );
        } catch (error) {
          kit.errors.push(error);
          return new Response("the framework's page", { status: 500 });
        }
      },
      async close() {
        await inner.close();
        await outer.close();
      },
    };
  },
};

/** A handler as you'd write it without a framework. */
function handler(kit: Kit): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    switch (pathname) {
      case "/sign-in":
        return await kit.signIn(request, currentContext());
      case "/account":
      case "/guarded":
        return kit.account(currentContext());
      case "/known":
        return Response.json(getAuth(currentContext()).isAuthenticated());
      case "/cities":
        return await kit.cities();
      case "/stream":
        return stream();
      case "/moved":
        return Response.redirect(new URL("/known", request.url));
      case "/fail":
        throw new Error("inside");
      default:
        return new Response("the framework's 404", { status: 404 });
    }
  };
}
