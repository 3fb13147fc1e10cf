/**
 * Responses that carry the session's cookie, in whatever way they were created.
 */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Context, createApp } from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import {
  AuthError,
  createAuthPlugin,
  createMemorySessionStore,
  getAuth,
} from "@quartet/kit/auth";
import {
  byName,
  createClock,
  SECRET,
  startAuth,
  STRATEGIES,
} from "./harness.ts";

const COOKIE = "app.session";
const DAY = 24 * 60 * 60;

const answers: readonly Route[] = [
  {
    path: "/thrown",
    async action({ context }) {
      await getAuth(context).signIn("credentials", { user: "ada" });
      throw new Response(null, { status: 303, headers: { location: "/" } });
    },
  },
  {
    path: "/redirect",
    async action({ request, context }) {
      await getAuth(context).signIn("credentials", { user: "ada" });
      // Its headers are immutable.
      return Response.redirect(new URL("/", request.url), 303);
    },
  },
  {
    path: "/fetched",
    async action({ context }) {
      await getAuth(context).signIn("credentials", { user: "ada" });
      return await fetch("data:text/plain,proxied");
    },
  },
  {
    path: "/empty",
    async action({ context }) {
      await getAuth(context).signIn("credentials", { user: "ada" });
      return new Response(null, { status: 204 });
    },
  },
  {
    path: "/by-hand",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signIn("credentials", { user: "ada" });
      const headers = new Headers({ "set-cookie": auth.getCookieHeader()! });
      headers.append("set-cookie", "theme=dark");
      return new Response("x", { headers });
    },
  },
  {
    path: "/public",
    async action({ context }) {
      await getAuth(context).signIn("credentials", { user: "ada" });
      return new Response("x", {
        headers: { "cache-control": "public, max-age=60" },
      });
    },
  },
  {
    path: "/out",
    async action({ context }) {
      await getAuth(context).signOut();
      throw new Response(null, { status: 303, headers: { location: "/" } });
    },
  },
  {
    path: "/out-by-hand",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signOut();
      return new Response("x", {
        headers: { "set-cookie": auth.getCookieHeader()! },
      });
    },
  },
];

Deno.test("The session cookie is set on thrown, redirecting, immutable and empty responses", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, answers);
    for (
      const [path, status, text] of [
        ["/thrown", 303, ""],
        ["/redirect", 303, ""],
        ["/fetched", 200, "proxied"],
        ["/empty", 204, ""],
        ["/by-hand", 200, "x"],
        ["/public", 200, "x"],
      ] as const
    ) {
      const browser = server.browser();
      const response = await browser.ask(path, { method: "POST" });
      assertEquals([response.status, await response.text()], [status, text]);
      const [cookie, ...others] = browser.received;
      assert(cookie!.startsWith(`${COOKIE}=`), path);
      assertEquals(others, path === "/by-hand" ? ["theme=dark"] : []);
      const control = response.headers.get("cache-control");
      assert(/\bprivate\b/.test(control ?? ""), `${path}: ${control}`);
      assert(!/\bpublic\b/.test(control!), `${path}: ${control}`);
      assertEquals((await browser.json("/me")).user.id, "1", path);
    }
    for (const path of ["/out", "/out-by-hand"]) {
      const browser = await server.signIn();
      await (await browser.ask(path, { method: "POST" })).text();
      assertEquals(browser.received.length, 1, path);
      assertEquals(browser.cookies.size, 0, path);
    }
  }
});

Deno.test("A Response thrown by inner middleware carries the cookie", async () => {
  await using server = await startAuth();
  const { middleware } = server.plugin;
  const through = async (thrown: unknown) => {
    const request = new Request("http://localhost/");
    const context = new Context(request);
    return await middleware(request, context, async () => {
      await getAuth(context).signIn("credentials", { user: "ada" });
      throw thrown;
    });
  };
  for (
    const [thrown, status] of [
      [new Response(null, { status: 303, headers: { location: "/" } }), 303],
      [Response.redirect("http://localhost/", 302), 302],
      [new AuthError("OAUTH_FAILED", "It has failed"), 502],
    ] as const
  ) {
    const response = await through(thrown);
    assertEquals(response.status, status);
    assert(response.headers.getSetCookie()[0]!.startsWith(`${COOKIE}=`));
  }
  await assertRejects(() => through(new Error("broken")), Error, "broken");
  await assertRejects(() => through(new TypeError("broken")));
});

Deno.test("A thrown Response whose body was read is a 500 inside auth too, and the log says why", async () => {
  const errors: unknown[] = [];
  const auth = createAuthPlugin({ session: { secret: SECRET } });
  const app = createApp({
    plugins: [auth],
    routes: [{
      path: "/",
      async loader() {
        const response = new Response("once");
        await response.text();
        throw response;
      },
    }],
    onError: (error) => errors.push(error),
  });
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(response.status, 500);
  assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
  assertStringIncludes(
    errors.join(),
    "the body of the thrown Response was read",
  );
});

Deno.test("A response without a cookie to set is returned unchanged", async () => {
  await using server = await startAuth({}, [{
    path: "/public",
    loader: () =>
      new Response("x", { headers: { "cache-control": "public, max-age=60" } }),
  }]);
  const browser = await server.signIn();
  const response = await browser.ask("/public");
  await response.body?.cancel();
  assertEquals(response.headers.get("cache-control"), "public, max-age=60");
  assertEquals(browser.received, []);
});

Deno.test("A response that a handler shares between users carries no cookie", async () => {
  const everybodys = new Response(null, { status: 204 });
  const routes: Route[] = [{ path: "/204", handler: () => everybodys }];
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, routes);
    const browser = await server.signIn();
    server.clock.pass(2 * DAY);
    await browser.ask("/204");
    assertEquals(browser.received.length, 1, "it was refreshed");
    const otherVisitor = server.browser();
    await otherVisitor.ask("/204");
    assertEquals(otherVisitor.received, []);
    assertEquals(everybodys.headers.getSetCookie(), []);
  }
});

Deno.test("A response that sets a session cookie isn't stored by shared caches", async () => {
  const signIn = (headers: HeadersInit): Route["action"] => ({ context }) =>
    getAuth(context).signIn("credentials", { user: "ada" })
      .then(() => new Response("x", { headers }));
  const routes: Route[] = [
    ["/none", {}],
    ["/max-age", { "cache-control": "max-age=3600" }],
    ["/field", { "cache-control": 'private="x-name", max-age=3600' }],
    ["/cdn", { "cdn-cache-control": "max-age=60", "surrogate-control": "x" }],
    ["/no-store", { "cache-control": "no-store" }],
  ].map(([path, headers]) => ({
    path: path as string,
    action: signIn(headers as HeadersInit)!,
  }));
  await using server = await startAuth({}, routes);
  for (
    const [path, expected] of [
      ["/none", "private"],
      ["/max-age", "private, no-cache"],
      ["/field", "private, no-cache"],
      ["/cdn", "private"],
      ["/no-store", "no-store"],
    ] as const
  ) {
    const browser = server.browser();
    const { headers, body } = await browser.ask(path, { method: "POST" });
    await body?.cancel();
    assertEquals(browser.cookies.size, 1);
    assertEquals(headers.get("cache-control"), expected, path);
    assert(!headers.has("cdn-cache-control"));
    assert(!headers.has("surrogate-control"));
  }
});

Deno.test("A refresh sets no cookie on a publicly cacheable response", async () => {
  const routes: Route[] = [{
    path: "/shared",
    handler: () =>
      new Response("x", { headers: { "cache-control": "max-age=60" } }),
  }];
  await using server = await startAuth({}, routes);
  const browser = await server.signIn();
  server.clock.pass(2 * DAY);
  const response = await browser.ask("/shared");
  await response.body?.cancel();
  assertEquals(browser.received, []);
  assertEquals(response.headers.get("cache-control"), "max-age=60");
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 1);
});

Deno.test("An app keeps the session cookie that a nested app with auth has set", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const store = createMemorySessionStore({ now: clock.now });
    const createAuth = () =>
      createAuthPlugin({
        session: {
          secret: SECRET,
          strategy,
          ...(strategy !== "jwt" && { store }),
        },
        providers: [byName()],
        now: clock.now,
      });
    const auth = createAuth();
    const inner = createApp({ plugins: [auth] });
    inner.route({
      path: "/sign-in/:user",
      action: ({ context, params }) =>
        auth.getAuth(context).signIn("credentials", params),
    });
    inner.route({
      path: "/sign-out",
      action: ({ context }) => auth.getAuth(context).signOut(),
    });
    inner.route({
      path: "/me",
      loader: ({ context }) => auth.getUser(context)?.name ?? "nobody",
    });
    const app = createApp({ plugins: [createAuth()] });
    app.route({
      path: "/**",
      method: "*",
      handler: (request) => inner.fetch(request),
    });
    let cookie = "";
    const send = async (method: string, path: string) => {
      const response = await app.fetch(
        new Request(`http://localhost${path}`, { method, headers: { cookie } }),
      );
      for (const header of response.headers.getSetCookie()) {
        cookie = header.includes("Max-Age=0") ? "" : header.split(";")[0]!;
      }
      return await response.text();
    };
    const me = () => send("GET", "/me");

    cookie = `${COOKIE}=malformed`;
    await send("POST", "/sign-in/ada");
    assertEquals(await me(), '"Ada"', "the malformed cookie isn't removed");
    clock.pass(2 * DAY);
    await send("POST", "/sign-in/bob");
    assertEquals(await me(), '"Bob"', "Ada's session isn't refreshed");
    clock.pass(2 * DAY);
    await send("POST", "/sign-out");
    assertEquals(await me(), '"nobody"', "Bob's session isn't refreshed");
  }
});
