/**
 * One small API in each of the compared libraries: a query and a mutation with
 * the same zod schemas, handlers and results. Only the wire formats differ.
 *
 * @module
 */

import { zValidator } from "@hono/zod-validator";
import { os } from "@orpc/server";
import { RPCHandler } from "@orpc/server/fetch";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { Elysia, t } from "elysia";
import { Hono } from "hono";
import { z } from "zod";

/** A server and its requests. */
export interface Peer {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Path and query string of the query. */
  readonly get: string;
  /** Path of the mutation, and its body. */
  readonly post: { readonly path: string; readonly body: unknown };
}

const findInput = z.object({ id: z.string().max(36) });
const addInput = z.object({
  title: z.string().min(1).max(200),
  stars: z.int().min(1).max(5),
  tags: z.array(z.string()),
});

const find = ({ id }: z.infer<typeof findInput>) => ({
  id,
  name: "Ada Lovelace",
  born: 1815,
  tags: ["mathematician", "writer"],
});
const add = ({ title, stars, tags }: z.infer<typeof addInput>) => ({
  id: "17",
  title,
  stars,
  tags,
});

const ID = { id: "7" };
const NOTE = { title: "A note", stars: 5, tags: ["one", "two"] };
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));

function bare(): Peer {
  return {
    async fetch(request) {
      const url = new URL(request.url);
      if (request.method === "GET" && url.pathname === "/find") {
        const input = JSON.parse(url.searchParams.get("input")!);
        return Response.json(find(findInput.parse(input)));
      }
      if (request.method === "POST" && url.pathname === "/add") {
        const input = JSON.parse(await request.text());
        return Response.json(add(addInput.parse(input)));
      }
      return new Response(null, { status: 404 });
    },
    get: `/find?input=${json(ID)}`,
    post: { path: "/add", body: NOTE },
  };
}

/** Creates the kit's router, which `kit()` serves without a host. */
export function createKitRouter() {
  return createRouter({
    people: {
      find: procedure.query(findInput, ({ input }) => find(input)),
      add: procedure.mutation(addInput, ({ input }) => add(input)),
    },
  });
}

function kit(): Peer {
  const { handler } = createKitRouter();
  return {
    fetch: (request) => handler(request, {}),
    get: `/rpc?path=people.find&input=${json(ID)}`,
    post: {
      path: "/rpc",
      body: { path: ["people", "add"], type: "mutation", input: NOTE },
    },
  };
}

function trpc(): Peer {
  const { router, procedure } = initTRPC.create();
  const api = router({
    people: router({
      find: procedure.input(findInput).query(({ input }) => find(input)),
      add: procedure.input(addInput).mutation(({ input }) => add(input)),
    }),
  });
  return {
    fetch: (req) =>
      fetchRequestHandler({
        endpoint: "/rpc",
        req,
        router: api,
        createContext: () => ({}),
      }),
    get: `/rpc/people.find?input=${json(ID)}`,
    post: { path: "/rpc/people.add", body: NOTE },
  };
}

function orpc(): Peer {
  const handler = new RPCHandler({
    people: {
      find: os.route({ method: "GET" }).input(findInput)
        .handler(({ input }) => find(input)),
      add: os.input(addInput).handler(({ input }) => add(input)),
    },
  });
  return {
    async fetch(request) {
      const result = await handler.handle(request, {
        prefix: "/rpc",
        context: {},
      });
      return result.response!;
    },
    get: `/rpc/people/find?data=${json({ json: ID })}`,
    post: { path: "/rpc/people/add", body: { json: NOTE } },
  };
}

function hono(): Peer {
  const app = new Hono()
    .get(
      "/people/find",
      zValidator("query", findInput),
      (c) => c.json(find(c.req.valid("query"))),
    )
    .post(
      "/people/add",
      zValidator("json", addInput),
      (c) => c.json(add(c.req.valid("json"))),
    );
  return {
    fetch: (request) => app.fetch(request),
    get: `/people/find?id=${ID.id}`,
    post: { path: "/people/add", body: NOTE },
  };
}

function elysia(headers: Record<string, string> = {}): Peer {
  const app = new Elysia()
    .headers(headers)
    .get("/people/find", ({ query }) => find(query), { query: findInput })
    .post("/people/add", ({ body }) => add(body), { body: addInput });
  return {
    fetch: (request) => app.fetch(request),
    get: `/people/find?id=${ID.id}`,
    post: { path: "/people/add", body: NOTE },
  };
}

/** The same API with the schemas that Elysia compiles itself. */
function elysiaTypeBox(): Peer {
  const app = new Elysia()
    .get("/people/find", ({ query }) => find(query), {
      query: t.Object({ id: t.String({ maxLength: 36 }) }),
    })
    .post("/people/add", ({ body }) => add(body), {
      body: t.Object({
        title: t.String({ minLength: 1, maxLength: 200 }),
        stars: t.Integer({ minimum: 1, maximum: 5 }),
        tags: t.Array(t.String()),
      }),
    });
  return {
    fetch: (request) => app.fetch(request),
    get: `/people/find?id=${ID.id}`,
    post: { path: "/people/add", body: NOTE },
  };
}

/** The peers by name. The first one is the base of the comparison. */
export const PEERS: Readonly<Record<string, () => Peer>> = {
  "bare": bare,
  "@quartet/kit": kit,
  "tRPC": trpc,
  "oRPC": orpc,
  "Hono": hono,
  "Elysia, zod": elysia,
  // The kit sends this header with responses to GET.
  "Elysia, no-store": () => elysia({ "cache-control": "no-store" }),
  "Elysia, TypeBox": elysiaTypeBox,
};

/** Returns the request for the mutation, without its URL. */
export function postOf({ post }: Peer): RequestInit & { body: string } {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(post.body),
  };
}
