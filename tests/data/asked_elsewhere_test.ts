import { assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, createApp } from "@quartet/kit/app";
import { apiKey, createAuthPlugin, getUser } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";

const ADA = { headers: { "x-api-key": "ada" } };

function createAuth() {
  return createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: (id) => ({ id }) })],
  });
}

/** Runs code outside any request, as a connection pool does. */
const outside = AsyncLocalStorage.snapshot();

for (const isAuthFirst of [true, false]) {
  const order = isAuthFirst ? "the cache inside auth" : "auth inside the cache";
  Deno.test(`A page isn't shared if its user was read outside the request's code: ${order}`, async () => {
    const cache = createCache();
    const parts = [
      createAuth().middleware,
      cache.cacheResponse({ maxAge: 60 }),
    ];
    const app = createApp();
    for (const part of isAuthFirst ? parts : parts.reverse()) app.use(part);
    const greet = (context: Context) =>
      new Response(outside(() => getUser(context)?.id ?? "nobody"));
    const inner = createApp();
    app.route({ path: "/", handler: (_request, context) => greet(context) });
    app.route({
      path: "/inner",
      handler: (request, context) => {
        inner.use(() => greet(context));
        return inner.fetch(request);
      },
    });
    const get = (path: string, init?: RequestInit) =>
      app.fetch(new Request(`http://localhost${path}`, init));
    const own = await get("/", ADA);
    assertEquals(own.headers.get("cache-control"), "private");
    assertEquals(await own.text(), "ada");
    assertEquals(await (await get("/")).text(), "nobody");
    assertEquals(await (await get("/inner", ADA)).text(), "ada");
    assertEquals(cache.stats().entries, 0);
  });
}
