/** Types of responses that the modules copy, with each runtime's own defaults. */

import { assertEquals } from "@std/assert";
import { createApp, type Plugin } from "@quartet/kit/app";
import { createAuthPlugin, credentials, getAuth } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { SECRET } from "./harness.ts";

const BODIES: Readonly<Record<string, () => BodyInit>> = {
  "text/plain": () => "<script>alert(1)</script>",
  "text/css": () => new Blob(["p {}"], { type: "text/css" }),
  "application/x-www-form-urlencoded": () => new URLSearchParams({ a: "1" }),
  "multipart/form-data": () => {
    const form = new FormData();
    form.set("a", "1");
    return form;
  },
};

const cache = createCache();
const auth = () =>
  createAuthPlugin({
    session: { secret: SECRET },
    providers: [credentials({ authorize: () => ({ id: "1" }) })],
  });
const pages = () => ({
  name: "pages",
  middleware: cache.cacheResponse({ maxAge: 60 }),
});

for (
  const [name, plugins, path] of [
    [
      "tracing",
      () => [tracePlugin(createTracer(), { authorize: () => false })],
      "/",
    ],
    ["a session's cookie", () => [auth()], "/sign-in"],
    ["a cached page", () => [pages()], "/"],
    [
      "all of them",
      () => [
        tracePlugin(createTracer(), { authorize: () => false }),
        auth(),
        pages(),
      ],
      "/",
    ],
  ] as [string, () => Plugin[], string][]
) {
  Deno.test(`With ${name}, each kind of body is sent with its type`, async () => {
    for (const [type, body] of Object.entries(BODIES)) {
      await using server = await createApp({
        plugins: plugins(),
        routes: [
          { path: "/", handler: () => new Response(body()) },
          {
            path: "/sign-in",
            async handler(_request, context) {
              await getAuth(context).signIn("credentials", {});
              return new Response(body());
            },
          },
        ],
      }).serve({ port: 0, signals: false, onListen() {} });
      const url = `http://127.0.0.1:${server.address.port}${path}`;
      for (let times = 0; times < 2; times++) {
        const response = await fetch(url);
        await response.body?.cancel();
        const [received] = response.headers.get("content-type")!.split(";");
        assertEquals(received, type);
      }
      await cache.revalidate({ all: true });
    }
  });
}
