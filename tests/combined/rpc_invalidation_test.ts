import { assertEquals } from "@std/assert";
import { createApp, toHono, toMiddleware } from "@quartet/kit/app";
import { createAuthPlugin, getUser } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import type { Cache } from "@quartet/kit/data";
import { createRouter, errors, procedure, rpcPlugin } from "@quartet/kit/rpc";
import type { Router } from "@quartet/kit/rpc";
import { Hono } from "hono";

type Fetch = (request: Request) => Response | Promise<Response>;

const createAuth = () =>
  createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });

/** Ways to put a page cache around RPC. */
const STACKS: Readonly<
  Record<string, (cache: Cache, router: Router) => Fetch>
> = {
  "an app": (cache, router) =>
    createApp({
      plugins: [
        { name: "cache", middleware: cache.cacheResponse({ maxAge: 60 }) },
        createAuth(),
        rpcPlugin({ router }),
      ],
    }).fetch,
  Hono: (cache, router) => {
    const app = new Hono();
    app.use(toHono(cache.cacheResponse({ maxAge: 60 })));
    app.use(toHono(createAuth(), rpcPlugin({ router })));
    return (request) => app.fetch(request);
  },
  "toMiddleware() around an app's route": (cache, router) => {
    const outer = toMiddleware(cache.cacheResponse({ maxAge: 60 }));
    const app = createApp({ plugins: [createAuth()] });
    app.route({
      path: "/api/rpc",
      method: "*",
      handler: (request, context) => router.handler(request, context),
    });
    return (request) => outer(request, undefined, () => app.fetch(request));
  },
};

for (const [name, stack] of Object.entries(STACKS)) {
  Deno.test(`${name}: a call without a mutation invalidates nothing`, async () => {
    const cache = createCache();
    let computed = 0;
    const count = cache.cacheFunction(() => ++computed);
    const guarded = procedure.use(({ ctx, next }) => {
      if (getUser(ctx) === null) throw errors.unauthorized();
      return next({});
    });
    const router = createRouter({
      count: procedure.query(() => count()),
      save: procedure.mutation(() => "saved"),
      erase: guarded.mutation(() => "erased"),
    });
    const fetch = stack(cache, router);
    const call = async (body: unknown) => {
      const response = await fetch(
        new Request("http://localhost/api/rpc", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      return `${response.status} ${await response.text()}`;
    };
    const read = { path: ["count"], type: "query" };
    const refused = { path: ["erase"], type: "mutation" };
    const saved = { path: ["save"], type: "mutation" };

    assertEquals(await call(read), '200 {"ok":true,"data":1}');
    for (const batch of [[read], [refused, read], [refused, refused]]) {
      assertEquals((await call({ batch })).slice(0, 3), "200");
    }
    assertEquals((await call(refused)).slice(0, 3), "401");
    assertEquals(await call(read), '200 {"ok":true,"data":1}');

    assertEquals((await call(saved)).slice(0, 3), "200");
    assertEquals(await call(read), '200 {"ok":true,"data":2}');
    await call({ batch: [refused, saved, read] });
    assertEquals(await call(read), '200 {"ok":true,"data":3}');
  });
}
