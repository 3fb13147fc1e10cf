/** Page caches around and within the auth plugin. */

import { assertEquals } from "@std/assert";
import { Context, createApp, serve } from "@quartet/kit/app";
import { apiKey, createAuthPlugin } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { settle } from "../data/helpers.ts";
import { Hub } from "../data/shared_store.ts";
import { SECRET, startAuth } from "./harness.ts";

Deno.test("cacheResponse() caches no page that reads the user, inside or outside the plugin", async () => {
  for (const isOutside of [true, false]) {
    const cache = createCache();
    let made = 0;
    await using server = await startAuth({}, []);
    const { plugin } = server;
    const pages = cache.cacheResponse({ maxAge: 60 });
    const inner = (path: string, context: Context) => {
      if (path === "/private") plugin.getUser(context);
      made++;
      return Promise.resolve(new Response(path));
    };
    const ask = async (path: string) => {
      const request = new Request(`http://localhost${path}`);
      const context = new Context(request);
      const handle = () => inner(path, context);
      const response = isOutside
        ? await pages(
          request,
          context,
          async () => await plugin.middleware(request, context, handle),
        )
        : await plugin.middleware(
          request,
          context,
          async () => await pages(request, context, handle),
        );
      await response.text();
    };
    await ask("/private");
    await ask("/private");
    assertEquals(made, 2);
    await ask("/public");
    await ask("/public");
    assertEquals(made, 3);
    await cache.close();
  }
});

Deno.test("A slow visitor of a personal page delays no other, on any machine", async () => {
  for (const isShared of [false, true]) {
    for (const status of [200, 503]) {
      const hub = new Hub();
      const gates: Record<string, PromiseWithResolvers<void>> = {};
      for (const name of ["begun", "asks", "ada", "bob came", "eve came"]) {
        gates[name] = Promise.withResolvers();
      }
      const auth = createAuthPlugin({
        session: { secret: SECRET },
        providers: [apiKey({
          validate(id) {
            gates[`${id} came`]?.resolve();
            return Promise.resolve({ id });
          },
        })],
      });
      const start = () => {
        const store = isShared ? { store: hub.open() } : {};
        const app = createApp({ plugins: [auth] })
          .use(createCache(store).cacheResponse({ maxAge: 60 }))
          .route({
            path: "/",
            async handler(_request, context) {
              gates["begun"]!.resolve();
              await gates["asks"]!.promise;
              const { id } = auth.getUser(context)!;
              await gates[id]?.promise;
              return new Response(id, { status });
            },
          });
        // A proxy gives both machines one host.
        const fetch = ({ headers }: Request) => {
          const proxied = new Headers(headers);
          proxied.set("host", "shop.example");
          return app.fetch(
            new Request("http://shop.example/", { headers: proxied }),
          );
        };
        return serve({ fetch }, { port: 0, signals: false, onListen() {} });
      };
      await using one = start();
      await using other = start();
      const ask = async ({ address }: typeof one, id: string) => {
        const url = `http://127.0.0.1:${address.port}`;
        const response = await fetch(url, { headers: { "x-api-key": id } });
        return [response.status, await response.text()];
      };
      const ada = ask(one, "ada");
      await gates["begun"]!.promise;
      const others = [ask(one, "bob"), ask(isShared ? other : one, "eve")];
      await gates["bob came"]!.promise;
      await gates["eve came"]!.promise;
      // Both wait for the page now.
      await settle();
      gates["asks"]!.resolve();
      const answers = await Promise.all(others);
      assertEquals(answers, [[status, "bob"], [status, "eve"]]);
      assertEquals(await ask(other, "zoe"), [status, "zoe"]);
      gates["ada"]!.resolve();
      assertEquals(await ada, [status, "ada"]);
    }
  }
});
