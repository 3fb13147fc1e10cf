import { assertEquals, assertRejects } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { apiKey, createAuthPlugin, getUser } from "@quartet/kit/auth";
import { CacheError, createCache } from "@quartet/kit/data";

const ADA = { headers: { "x-api-key": "ada" } };

function createAuth() {
  return createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: (id) => ({ id }) })],
  });
}

Deno.test("A lazy query that reads the user when awaited is rejected in a cached function", async () => {
  for (const maxAge of [60, 0]) {
    const cache = createCache();
    const app = createApp({ plugins: [createAuth()] });
    app.route({
      path: "/",
      handler: async (_request, context) => {
        const query = {
          then: (resolve: (id: string | undefined) => void) =>
            resolve(getUser(context)?.id),
        };
        const error = await assertRejects(
          () => cache.cached<unknown>("k", () => query, { maxAge }),
          CacheError,
        );
        return new Response(error.code);
      },
    });
    const response = await app.fetch(new Request("http://localhost/", ADA));
    assertEquals(await response.text(), "PERSONAL");
    assertEquals(cache.stats().entries, 0);
  }
});

Deno.test("A lazy query belongs to the cached function that awaits it", async () => {
  const cache = createCache();
  let price = 10;
  const query = {
    then: (resolve: (price: Promise<number>) => void) =>
      resolve(
        cache.cached("price", () => price, { maxAge: 60, tags: ["price"] }),
      ),
  };
  const load = () =>
    cache.cached("offer", () => query as unknown as number, { maxAge: 60 });
  assertEquals(await load(), 10);
  price = 9;
  await cache.revalidateTag("price");
  assertEquals(await load(), 9);
});
