/**
 * The cases: hello world, a parameter, a session, an RPC query.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { rpcPlugin } from "@quartet/kit/rpc";
import { Elysia } from "elysia";
import { Hono } from "hono";
import { createKitRouter, PEERS } from "../rpc/peers.ts";
import { byHand, type Case, kit } from "./case.ts";
import { createFloor, notFound } from "./floor.ts";
import { session } from "./session.ts";

/** The cases by name. */
export const CASES: Readonly<Record<string, () => Case | Promise<Case>>> = {
  hello,
  parameter,
  session,
  rpc,
};

function hello(): Case {
  const work = () => new Response("Hello, world!");
  return {
    title: "Hello world",
    path: "/",
    target: ["floor", 0.9],
    candidates: {
      // Without a parameter, Deno creates no `Request` for the handler.
      "bare": () => ({ fetch: work }),
      "floor": () => ({
        fetch: createFloor((_, path) => path === "/" ? work() : notFound()),
      }),
      ...kit(() => createApp({ routes: [{ path: "/", handler: work }] })),
      "Hono": () => new Hono().get("/", (c) => c.text("Hello, world!")),
      "Elysia": () => new Elysia().get("/", () => "Hello, world!"),
    },
  };
}

function parameter(): Case {
  return {
    title: "A route with a parameter",
    path: "/hello/ada",
    target: ["floor", 0.9],
    candidates: {
      ...byHand((_, path) =>
        path.startsWith("/hello/")
          ? new Response(decodeURIComponent(path.slice(7)))
          : notFound()
      ),
      ...kit(() =>
        createApp({
          routes: [{
            path: "/hello/:name",
            handler: (_, { params }) => new Response(params.name!),
          }],
        })
      ),
      "Hono": () =>
        new Hono().get("/hello/:name", (c) => c.text(c.req.param("name"))),
      "Elysia": () => new Elysia().get("/hello/:name", (c) => c.params.name),
    },
  };
}

/** The floor is around the kit's handler here, not around the one by hand. */
function rpc(): Case {
  const kitPeer = PEERS["@quartet/kit"]!;
  const names = ["bare", "Hono", "Elysia, zod", "Elysia, no-store"];
  const peers = Object.fromEntries(names.map((name) => [name, PEERS[name]!]));
  return {
    title: "An RPC query by GET",
    path: (name) => (peers[name] ?? kitPeer)().get,
    target: ["handler alone", 0.75],
    candidates: {
      "bare": peers.bare!,
      "handler alone": kitPeer,
      "floor": () => ({ fetch: createFloor(kitPeer().fetch) }),
      ...kit(() => {
        const router = createKitRouter();
        return createApp({
          plugins: [rpcPlugin({ router, endpoint: "/rpc" })],
        });
      }),
      ...peers,
    },
  };
}
