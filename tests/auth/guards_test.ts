/**
 * Guards: which requests pass, and which response the others get.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  getAuth,
  getUser,
  optionalAuth,
  publicAction,
  requireAuth,
  requireRoles,
  safeRedirect,
  withAuth,
} from "@quartet/kit/auth";
import { byName, SECRET, startAuth, STRATEGIES, USERS } from "./harness.ts";
import type { Me } from "./harness.ts";

/** Creates a route that answers with the user who passed. */
function guarded(path: string, config: Route["config"]): Route {
  const who = ({ context }: { context: Parameters<typeof getUser>[0] }) => ({
    id: getUser(context)?.id ?? null,
  });
  return { path, config: config!, loader: who, action: who };
}

const ROUTES: readonly Route[] = [
  guarded("/plain", { ...requireAuth() }),
  guarded("/redirect", { ...requireAuth({ redirect: "/sign-in?next=%2F" }) }),
  guarded("/away", {
    ...requireAuth({ redirect: "https://id.example/login" }),
  }),
  guarded("/own", {
    ...requireAuth({
      unauthorizedResponse: { status: 418, body: { error: "tea only" } },
    }),
  }),
  guarded("/own-text", {
    ...requireAuth({ unauthorizedResponse: { status: 404, body: "no" } }),
  }),
  guarded("/own-empty", {
    ...requireAuth({ unauthorizedResponse: { status: 401, body: undefined } }),
  }),
  guarded("/both", {
    ...requireAuth({
      redirect: "/in",
      unauthorizedResponse: { status: 401, body: "no" },
    }),
  }),
  guarded("/admin", { ...requireRoles(["admin"]) }),
  guarded("/any", { ...requireRoles(["editor", "root"]) }),
  guarded("/all", {
    ...requireRoles(["admin", "editor"], { requireAll: true }),
  }),
  guarded("/optional", { ...optionalAuth() }),
  guarded("/public", { ...publicAction() }),
  {
    path: "/with/:id",
    loader: withAuth(({ request, context, auth, params }) => ({
      id: auth.session.userId,
      user: auth.getUser().name,
      same: getAuth(context) === auth,
      path: new URL(request.url).pathname,
      params,
    })),
  },
  {
    path: "/with-roles",
    loader: withAuth(({ auth }) => ({ id: auth.session.userId }), {
      roles: ["admin", "root"],
    }),
    action: withAuth(
      ({ auth }) => Promise.resolve({ id: auth.session.userId }),
      {
        roles: ["admin", "root"],
      },
    ),
  },
];

const UNAUTHORIZED = {
  error: { code: "UNAUTHORIZED", message: "Authentication required" },
};
const FORBIDDEN = {
  error: { code: "FORBIDDEN", message: "Insufficient permissions" },
};

Deno.test("Anonymous requests get the response of their guard", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, ROUTES);
    const browser = server.browser();
    for (
      const path of [
        "/plain",
        "/admin",
        "/any",
        "/all",
        "/with/7",
        "/with-roles",
      ]
    ) {
      const response = await browser.ask(path);
      assertEquals(response.status, 401, path);
      assertEquals(response.headers.get("www-authenticate"), "Bearer");
      assertEquals(await response.json(), UNAUTHORIZED);
    }
    for (
      const [path, location] of [
        ["/redirect", "/sign-in?next=%2F"],
        ["/away", "https://id.example/login"],
        ["/both", "/in"],
      ]
    ) {
      const response = await browser.ask(path!);
      assertEquals(response.status, 303);
      assertEquals(response.headers.get("location"), location);
      assertEquals(await response.text(), "");
    }
    const own = await browser.ask("/own");
    assertEquals([own.status, await own.json()], [418, { error: "tea only" }]);
    const text = await browser.ask("/own-text");
    assertEquals([text.status, await text.text()], [404, "no"]);
    const empty = await browser.ask("/own-empty");
    assertEquals([empty.status, await empty.json()], [401, null]);
    assertEquals(await browser.json("/optional"), { id: null });
    assertEquals(await browser.json("/public"), { id: null });
    assertEquals(
      server.events.filter(({ type }) => type === "access_denied").length,
      12,
    );
  }
});

Deno.test("A redirect function receives the URL of the request", async () => {
  await using server = await startAuth({}, [
    {
      path: "/orders/:id",
      config: {
        ...requireAuth({
          redirect: ({ pathname, search }) =>
            `/sign-in?next=${encodeURIComponent(pathname + search)}`,
        }),
      },
      loader: () => "secret",
    },
    {
      path: "/astray",
      config: { ...requireAuth({ redirect: () => "//evil.example" }) },
      loader: () => "secret",
    },
  ]);
  const browser = server.browser();
  const sent = await browser.ask("/orders/7?page=2");
  assertEquals(sent.status, 303);
  assertEquals(
    sent.headers.get("location"),
    "/sign-in?next=%2Forders%2F7%3Fpage%3D2",
  );
  await sent.body?.cancel();
  const astray = await browser.ask("/astray");
  assertEquals([astray.status, astray.headers.get("location")], [500, null]);
  await astray.body?.cancel();
  assertMatch(
    String(server.errors),
    /redirect must return a path such as "\/sign-in" or an http\(s\) URL, received "\/\/evil\.example"/,
  );
});

Deno.test("requireRoles() redirects anonymous requests, and answers others with 403", async () => {
  await using server = await startAuth({}, [{
    path: "/admin-page",
    config: { ...requireRoles(["admin"], { redirect: "/sign-in" }) },
    loader: () => "secret",
  }]);
  const anonymous = await server.browser().ask("/admin-page");
  assertEquals(anonymous.status, 303);
  assertEquals(anonymous.headers.get("location"), "/sign-in");
  await anonymous.body?.cancel();
  const bob = await (await server.signIn("bob")).ask("/admin-page");
  assertEquals(bob.status, 403);
  await bob.body?.cancel();
  assertEquals(await (await server.signIn()).json("/admin-page"), "secret");
});

Deno.test("Signed-in users pass requireAuth(), and users without the role get a 403", async () => {
  const allowed: Record<string, readonly string[]> = {
    ada: ["/admin", "/any", "/all", "/with-roles"],
    bob: ["/any"],
    eve: [],
  };
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, ROUTES);
    for (const [name, paths] of Object.entries(allowed)) {
      const browser = await server.signIn(name);
      const { id } = USERS[name]!;
      for (
        const path of [
          "/plain",
          "/redirect",
          "/away",
          "/own",
          "/own-text",
          "/both",
          "/optional",
        ]
      ) {
        assertEquals(await browser.json(path), { id }, path);
      }
      for (const path of ["/admin", "/any", "/all", "/with-roles"]) {
        const response = await browser.ask(path);
        assertEquals(response.status, paths.includes(path) ? 200 : 403, path);
        assertEquals(
          await response.json(),
          paths.includes(path) ? { id } : FORBIDDEN,
        );
      }
    }
  }
});

Deno.test("withAuth() passes request, context, auth and params to its handler", async () => {
  await using server = await startAuth({}, ROUTES);
  assertEquals(await (await server.signIn()).json("/with/7"), {
    id: "1",
    user: "Ada",
    same: true,
    path: "/with/7",
    params: { id: "7" },
  });
});

Deno.test("A guarded handler doesn't run for refused requests", async () => {
  let runs = 0;
  const run = () => ++runs;
  await using server = await startAuth({}, [
    { path: "/a", config: { ...requireAuth() }, loader: run, action: run },
    {
      path: "/b",
      config: { ...requireRoles(["root"]) },
      loader: run,
      action: run,
    },
    {
      path: "/c",
      loader: withAuth(run, { roles: ["root"] }),
      action: withAuth(run, { roles: ["root"] }),
    },
  ]);
  const anonymous = server.browser();
  const editor = await server.signIn("bob");
  for (const path of ["/a", "/b", "/c"]) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
      await (await anonymous.ask(path, { method })).body?.cancel();
      if (path === "/a") continue;
      await (await editor.ask(path, { method })).body?.cancel();
    }
  }
  assertEquals(runs, 0);
  await editor.json("/a");
  assertEquals(runs, 1);
});

Deno.test("Cross-site requests with an unsafe method are refused, signed in or not", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      providers: [
        byName(),
        apiKey({ validate: () => Promise.resolve(USERS["bob"]!) }),
      ],
      trustedOrigins: ["https://app.example", "http://localhost:3000"],
    }, ROUTES);
    const { origin } = server;
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    const send = async (
      path: string,
      headers: Record<string, string>,
      method = "POST",
    ) => {
      const response = await browser.ask(path, { method, headers });
      const text = await response.text();
      if (response.status === 403) assert(text.includes("another origin"));
      return response.status;
    };
    const foreign: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "" },
      { "sec-fetch-site": "Same-Origin" },
      { "sec-fetch-site": "cross-site", origin },
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "" },
      { origin: "http://127.0.0.1" },
      { origin: `${origin}.evil.example` },
      { origin: `http://evil.example/${origin}` },
      { origin: "https://app.example.evil.example" },
      { origin: "https://app.example:444" },
      { origin: "http://app.example" },
      { origin: "https://app.example, https://evil.example" },
    ];
    const own: Record<string, string>[] = [
      {},
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      { origin },
      // Behind a proxy that terminates TLS.
      { origin: origin.replace("http:", "https:") },
      { "sec-fetch-site": "cross-site", origin: "https://app.example" },
      { "sec-fetch-site": "same-site", origin: "http://localhost:3000" },
    ];
    const paths = ["/plain", "/admin", "/with-roles", "/optional", "/public"];
    for (const path of paths) {
      for (const headers of foreign) {
        const what = `${path} ${JSON.stringify(headers)}`;
        assertEquals(await send(path, headers), 403, what);
        // GET requests from other sites are allowed.
        assertEquals(await send(path, headers, "GET"), 200, what);
      }
      for (const headers of own) {
        const what = `${path} ${JSON.stringify(headers)}`;
        assertEquals(await send(path, headers), 200, what);
      }
    }
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      assertEquals(await send("/plain", foreign[0]!, method), 403);
    }
    // Login CSRF: other sites can't sign anybody in either.
    browser.cookies.clear();
    for (const path of ["/optional", "/public"]) {
      assertEquals(await send(path, foreign[0]!), 403);
      assertEquals(await send(path, {}), 200);
    }
    // Browsers don't add these headers automatically.
    for (
      const [headers, status] of [
        [{ authorization: `Bearer ${token}` }, 200],
        [{ "x-api-key": "k" }, 200],
        [{ authorization: "Bearer x" }, 403],
      ] as const
    ) {
      assertEquals(
        await send("/plain", { ...foreign[0]!, ...headers }),
        status,
      );
    }
  }
});

Deno.test("Guards reject invalid options when they're created", () => {
  const wrong: [() => unknown, string][] = [
    [
      () => requireRoles([]),
      "by requireRoles(): roles must be an array of at least one role, received an empty one",
    ],
    [() => requireRoles("admin" as never), "by requireRoles(): roles must be"],
    [() => requireRoles([""]), "by requireRoles(): roles must be"],
    [() => requireRoles([1 as never]), "by requireRoles(): roles must be"],
    [() => requireRoles([1n as never]), "by requireRoles(): roles must be"],
    [
      () => requireRoles(["a"], { redirect: "//evil.example" }),
      "by requireRoles(): redirect must be",
    ],
    [
      () => requireRoles(undefined as never),
      "by requireRoles(): roles must be",
    ],
    [
      () => (optionalAuth as (options: unknown) => unknown)({ roles: ["a"] }),
      'by optionalAuth(): unknown option "roles". Known options: none. To require roles',
    ],
    [
      () => (publicAction as (options: unknown) => unknown)("/sign-in"),
      'by publicAction(): options must be an object, received "/sign-in"',
    ],
    [() => withAuth(() => 1, { roles: [] }), "by withAuth(): roles must be"],
    [
      () => withAuth(() => 1, { roles: "a" as never }),
      "by withAuth(): roles must be",
    ],
    ...[200, 303, 399, 600, 401.5, NaN, "401" as never].map((
      status,
    ): [() => unknown, string] => [
      () => requireAuth({ unauthorizedResponse: { status, body: "" } }),
      "unauthorizedResponse.status",
    ]),
    [
      () =>
        createAuthPlugin({
          session: { secret: SECRET },
          trustedOrigins: ["https://app.example/"],
        }),
      "trustedOrigins",
    ],
    [
      () =>
        createAuthPlugin({
          session: { secret: SECRET },
          trustedOrigins: ["*"],
        }),
      "trustedOrigins",
    ],
    [
      () =>
        createAuthPlugin({
          session: { secret: SECRET },
          trustedOrigins: ["null"],
        }),
      "trustedOrigins",
    ],
  ];
  for (const [make, message] of wrong) {
    assertThrows(make, TypeError, message);
  }
});

Deno.test("Roles of a guard can't be changed afterwards", async () => {
  const roles = ["root"];
  const config = { ...requireRoles(roles) };
  roles.push("editor");
  await using server = await startAuth({}, [guarded("/root", config)]);
  const response = await (await server.signIn("bob")).ask("/root");
  await response.body?.cancel();
  assertEquals(response.status, 403);
});

/** URLs that lead somewhere unexpected, or nowhere. */
const DISGUISED = [
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "\\/evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r/evil.example",
  "\t//evil.example",
  " //evil.example",
  "/\u0000/evil.example",
  "/\u00a0/evil.example",
  "/.//evil.example",
  "/..//evil.example",
  "/a/..//evil.example",
  "/%2e//evil.example",
  "/%2E%2e//evil.example",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\tscript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://evil.example/1",
  "https:evil.example",
  "https:/evil.example",
  "https:///evil.example",
  "https:\\\\evil.example",
  "http:",
  "https://",
  "/a\r\nSet-Cookie: b=c",
  "/\u2028",
  "/é",
  "",
  "evil.example",
  "?next=/",
  "#",
];

Deno.test("requireAuth() rejects disguised redirect URLs", () => {
  for (const redirect of DISGUISED) {
    assertThrows(() => requireAuth({ redirect }), TypeError);
  }
  for (const redirect of [null, 1, {}, ["/"]] as never[]) {
    assertThrows(() => requireAuth({ redirect }), TypeError);
  }
  for (const redirect of ["/", "/a?b=//c#d", "/a//b", "http://a.example/b"]) {
    assertEquals(requireAuth({ redirect }).auth.redirect, redirect);
  }
});

Deno.test("safeRedirect() returns only paths on this server", () => {
  const base = "https://app.example/some/where";
  for (
    const wanted of [
      ...DISGUISED,
      "https://evil.example",
      "http://app.example",
      null,
      undefined,
      1,
      {},
      ["/a"],
      { toString: () => "/a" },
    ]
  ) {
    assertEquals(safeRedirect(wanted), "/", JSON.stringify(wanted));
    assertEquals(safeRedirect(wanted, "/home"), "/home");
  }
  for (
    const wanted of [
      "/",
      "/a",
      "/a/b?c=d&e=https://f.example#g",
      "/a//b",
      "/@evil.example",
      "/%2F%2Fevil.example",
      "/%5Cevil.example",
      "/:80",
    ]
  ) {
    assertEquals(safeRedirect(wanted), wanted);
    // The result must be stable, however often a browser parses it.
    let url = new URL(wanted, base);
    for (let i = 0; i < 3; i++) {
      assertEquals(url.origin, "https://app.example");
      url = new URL(url.pathname + url.search + url.hash, base);
    }
  }
});
