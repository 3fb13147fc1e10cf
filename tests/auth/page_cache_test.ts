/** Page caches around and within the auth plugin. */

import { assertEquals } from "@std/assert";
import { Context } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { startAuth } from "./harness.ts";

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
