import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import type { Context } from "@quartet/kit/app";
import { apiKey, createAuthPlugin, getUser } from "@quartet/kit/auth";
import { CacheError, createCache } from "@quartet/kit/data";
import {
  currentScope,
  RequestScope,
  runInScope,
} from "../../core/request_scope.ts";

const ADA = { headers: { "x-api-key": "ada" } };

/**
 * Computes a value in a request of the user ada. Returns the result and the
 * entry count.
 */
async function compute(
  maxAge: number,
  fn: (context: Context, load: () => Promise<string>) => unknown,
): Promise<[ada: string, entries: number]> {
  const cache = createCache();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: (id) => ({ id }) })],
  });
  const app = createApp({ plugins: [auth], onError: () => {} });
  const load = async () =>
    await (await app.fetch(new Request("http://localhost/me", ADA))).text();
  app.route({ path: "/me", loader: ({ context }) => getUser(context) });
  app.route({
    path: "/",
    handler: (_request, context) =>
      cache.cached("k", () => fn(context, load), { maxAge }).then(
        () => new Response("computed"),
        (error) => new Response(error instanceof CacheError ? error.code : ""),
      ),
  });
  const response = await app.fetch(new Request("http://localhost/", ADA));
  return [await response.text(), cache.stats().entries];
}

for (const maxAge of [60, 0]) {
  Deno.test(`A cached function that reads the user fails, even if it catches the error, with maxAge ${maxAge}`, async () => {
    const caught = await compute(maxAge, (context) => {
      try {
        return getUser(context)!.id;
      } catch {
        return "nobody";
      }
    });
    assertEquals(caught, ["PERSONAL", 0]);
    // The app turns the error into a page.
    const page = await compute(maxAge, (_context, load) => load());
    assertEquals(page, ["PERSONAL", 0]);
  });
}

Deno.test("Reading the user throws in a scope that a cached function creates", async () => {
  const inNew = await compute(60, (context) => {
    const scope = new RequestScope(undefined, undefined);
    return runInScope(scope, () => getUser(context)!.id);
  });
  assertEquals(inNew, ["PERSONAL", 0]);
  const withContext = await compute(60, (context) => {
    const scope = new RequestScope(context, undefined, currentScope());
    return runInScope(scope, () => getUser(context)!.id);
  });
  assertEquals(withContext, ["PERSONAL", 0]);
});
