/**
 * Puts hosts around an application, and opens their ports.
 *
 * @module
 */

import { serve as serveNode } from "@hono/node-server";
import {
  createApp,
  currentContext,
  toHono,
  toMiddleware,
  toNode,
  withPlugins,
} from "@quartet/kit/app";
import type { Middleware, Plugin } from "@quartet/kit/app";
import { getUser, requireAuth } from "@quartet/kit/auth";
import { setActiveSpan, tracePlugin } from "@quartet/kit/trace";
import { Hono } from "hono";
import type { AddressInfo } from "node:net";
import type { LayerInput, StackInput } from "../input/stack.ts";
import type { World } from "./world.ts";

// Oak prints a warning when it's loaded.
const { warn } = console;
console.warn = () => {};
const { Application } = await import("@oakserver/oak");
console.warn = warn;

export type Fetch = (request: Request) => Promise<Response>;

type Part = Plugin | Middleware | ReturnType<typeof requireAuth>;

/** Puts a host around a request handler. */
export function wrap(
  world: World,
  { host, parts: names }: LayerInput,
  inner: Fetch,
): Fetch {
  const parts = partsOf(world, names);
  switch (host) {
    case "app":
    case "route":
    case "copying app": {
      // Only other hosts accept guards as parts.
      const outer = withPlugins(parts, (request) => app.fetch(request));
      const app = createApp();
      if (host === "app") app.use((request) => inner(request));
      else {
        app.route({
          path: "/*",
          method: "*",
          handler: (request) =>
            inner(host === "route" ? request : copyOf(request)),
        });
      }
      return outer.fetch;
    }
    case "withPlugins":
      return withPlugins(parts, inner).fetch;
    case "toMiddleware": {
      const around = toMiddleware(...parts);
      return (request) =>
        around(request, undefined, () => inner(copyOf(request)));
    }
    case "Hono": {
      const app = new Hono();
      for (const part of parts) app.use(toHono(part));
      app.all("*", (c) => inner(c.req.raw));
      return async (request) => await app.fetch(request);
    }
    case "Hono mount": {
      const app = new Hono();
      if (parts.length > 0) app.use(toHono(...parts));
      app.mount("/", inner);
      return async (request) => await app.fetch(request);
    }
    case "Oak":
      return withPlugins(parts, oak(inner)).fetch;
  }
}

function partsOf(world: World, names: LayerInput["parts"]): Part[] {
  const parts: Part[] = [];
  for (const name of names) {
    switch (name) {
      case "auth":
        parts.push(world.auth);
        break;
      case "trace":
        parts.push(tracePlugin(world.tracer, { authorize: () => false }));
        break;
      case "cache":
        parts.push(world.cache.cacheResponse({ maxAge: 60 }));
        break;
      case "lasting cache":
        parts.push(world.lastingCache.cacheResponse({
          maxAge: 0.001,
          staleWhileRevalidate: 60,
          staleIfError: 60,
          ignoreCookies: ["theme"],
        }));
        break;
      case "asks":
        parts.push(asks);
        break;
      case "rebuilds":
        parts.push(rebuilds);
        break;
      case "spanless":
        parts.push((_request, _context, next) => {
          setActiveSpan(undefined);
          return next();
        });
        break;
      case "guard":
        // The cache needs to know the user.
        if (!parts.includes(world.auth)) parts.push(world.auth);
        parts.push(requireAuth());
    }
  }
  return [...new Set(parts)];
}

const asks: Middleware = (_request, _context, next) => {
  if (currentContext().get("auth") !== undefined) getUser(currentContext());
  return next();
};

const rebuilds: Middleware = async (_request, _context, next) => {
  const response = await next();
  return new Response(response.body, response);
};

function oak(inner: Fetch): Fetch {
  const app = new Application({ logErrors: false });
  app.use(async (ctx) => {
    const response = await inner(copyOf(ctx.request as unknown as Request));
    ctx.response.status = response.status;
    ctx.response.headers = new Headers(response.headers);
    ctx.response.body = response.body;
  });
  const handle = app.handle as unknown as (
    request: Request,
  ) => Promise<Response | undefined>;
  return async (request) => {
    const { body, status, headers } = (await handle(request))!;
    return new Response(method(request, body), {
      status,
      headers: [...headers],
    });
  };
}

/** Copies a request as frameworks do, including requests of other classes. */
function copyOf({ method, url, headers }: Request): Request {
  return new Request(url, { method, headers });
}

function method<T>({ method }: Request, body: T): T | null {
  return method === "HEAD" ? null : body;
}

/** A running stack. It's closed at the end of its block. */
export interface Opened extends AsyncDisposable {
  readonly origin: string;
  readonly fetch: Fetch;
}

/** Opens a port for a request handler, or calls it directly. */
export async function open(
  transport: StackInput["transport"],
  inner: Fetch,
): Promise<Opened> {
  switch (transport) {
    case "call":
      return {
        origin: "http://localhost",
        fetch: inner,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    case "Deno": {
      const server = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen() {} },
        inner,
      );
      return {
        origin: `http://127.0.0.1:${server.addr.port}`,
        fetch: (request) => fetch(request, { redirect: "manual" }),
        [Symbol.asyncDispose]: () => server.shutdown(),
      };
    }
    case "Node": {
      const { promise, resolve } = Promise.withResolvers<AddressInfo>();
      const server = serveNode({
        fetch: toNode({ fetch: inner }).fetch,
        port: 0,
        hostname: "127.0.0.1",
        overrideGlobalObjects: false,
      }, resolve);
      const { port } = await promise;
      return {
        origin: `http://127.0.0.1:${port}`,
        fetch: (request) => fetch(request, { redirect: "manual" }),
        [Symbol.asyncDispose]: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            if ("closeAllConnections" in server) server.closeAllConnections();
          }),
      };
    }
  }
}
