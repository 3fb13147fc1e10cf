/** Several guards on one route: all apply, in whatever way they were copied. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createApp,
  createGuard,
  errorResponse,
  toHono,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import type {
  AuthFragment,
  AuthRule,
  Mountable,
  Route,
} from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  optionalAuth,
  publicAction,
  requireAuth,
  requireRoles,
  withAuth,
} from "@quartet/kit/auth";
import { Hono } from "hono";
import { SECRET, startAuth, USERS } from "./harness.ts";
import type { AuthServer } from "./harness.ts";

type Fragment = AuthFragment;
type Copy = (first: Fragment, second: Fragment) => NonNullable<Route["config"]>;

const COPIES: readonly (readonly [what: string, copy: Copy])[] = [
  ["spread", (a, b) => ({ ...a, ...b })],
  ["spread into each other", (a, b) => ({ ...{ ...a, ...{ ...b } } })],
  ["spread twice", (a, b) => ({ ...a, ...b, ...a, ...b })],
  ["assigned to a new object", (a, b) => Object.assign({}, a, b)],
  ["assigned to each other", (a, b) => Object.assign(a, b)],
  [
    "made from entries",
    (a, b) => Object.fromEntries([...Object.entries(a), ...Object.entries(b)]),
  ],
  [
    "made from sorted entries",
    (a, b) => Object.fromEntries(Object.entries({ ...a, ...b }).sort()),
  ],
  ["spread, with a named rule", (a, b) => ({ ...a, auth: b.auth })],
  ["inherited", (a, b) => Object.create({ ...a, ...b })],
  [
    "inherited from each other",
    (a, b) => Object.assign(Object.create(a), b),
  ],
  [
    "copied by a loop",
    (a, b) => {
      const config: Record<string, AuthRule> = {};
      for (const part of [a, b]) {
        for (const [key, rule] of Object.entries(part)) config[key] = rule;
      }
      return config;
    },
  ],
];

const ORDERS:
  readonly (readonly [what: string, order: (copy: Copy) => Copy])[] = [
    ["in this order", (copy) => copy],
    ["in reverse order", (copy) => (a, b) => copy(b, a)],
  ];

const secret = () => "SECRET";

/**
 * Returns the responses to an anonymous user, a member and an administrator.
 */
async function askAll(server: AuthServer, path: string) {
  const clients = [
    server.browser(),
    await server.signIn("bob"),
    await server.signIn("ada"),
  ];
  const answers: [status: number, text: string][] = [];
  for (const client of clients) {
    const response = await client.ask(path);
    const text = await response.text();
    answers.push([response.status, response.headers.get("location") ?? text]);
  }
  return answers;
}

const INSUFFICIENT = JSON.stringify({
  error: { code: "FORBIDDEN", message: "Insufficient permissions" },
});

for (const [what, copy] of COPIES) {
  for (const [how, order] of ORDERS) {
    Deno.test(`requireRoles() and requireAuth() both apply when ${what}, ${how}`, async () => {
      const config = order(copy)(
        requireRoles(["admin"]),
        requireAuth({ redirect: "/sign-in" }),
      );
      await using server = await startAuth({}, [
        { path: "/admin", config, loader: secret },
      ]);
      assertEquals(await askAll(server, "/admin"), [
        [303, "/sign-in"],
        [403, INSUFFICIENT],
        [200, '"SECRET"'],
      ]);
    });
  }
}

Deno.test("Guards of one kind combine: each list of roles must be satisfied", async () => {
  const app = requireRoles(["admin"]);
  await using server = await startAuth({}, [
    {
      path: "/both",
      config: { ...app, ...requireRoles(["editor"]) },
      loader: secret,
    },
    {
      path: "/none",
      config: { ...requireRoles(["root"]), ...app },
      loader: secret,
    },
    {
      path: "/all",
      config: {
        ...requireRoles(["admin", "root"], { requireAll: true }),
        ...requireRoles(["admin"]),
      },
      loader: secret,
    },
    {
      path: "/optional",
      config: { ...requireAuth(), ...optionalAuth() },
      loader: secret,
    },
  ]);
  const statuses = async (path: string) =>
    (await askAll(server, path)).map(([status]) => status);
  assertEquals(await statuses("/both"), [401, 403, 200]);
  assertEquals(await statuses("/none"), [401, 403, 403]);
  assertEquals(await statuses("/all"), [401, 403, 403]);
  assertEquals(await statuses("/optional"), [401, 200, 200]);
});

/** Creates rules that record their names when called. */
function noted(asked: string[]) {
  return (name: string, status?: number) =>
    createGuard({
      required: false,
      check() {
        asked.push(name);
        return status === undefined
          ? undefined
          : errorResponse(status, "OWN", name);
      },
    });
}

Deno.test("The application's rules run after the kit's guards, in the order of the spread", async () => {
  const asked: string[] = [];
  const rule = noted(asked);
  await using server = await startAuth({}, [
    {
      path: "/refused",
      config: {
        ...rule("first"),
        ...requireRoles(["editor"]),
        ...rule("second", 418),
        ...rule("third", 402),
      },
      loader: secret,
    },
    {
      path: "/open",
      config: { ...rule("first"), ...requireAuth(), ...rule("second") },
      loader: secret,
    },
    {
      path: "/plain",
      // Without `createGuard()`, a rule combines only with earlier fragments.
      config: {
        ...requireAuth(),
        auth: { required: false, check: () => errorResponse(418, "OWN", "") },
      },
      loader: secret,
    },
  ]);
  const anonymous = server.browser();
  const editor = await server.signIn("bob");
  const ask = async (client: typeof editor, path: string) => {
    asked.length = 0;
    const response = await client.ask(path);
    await response.body?.cancel();
    return [response.status, ...asked];
  };
  assertEquals(await ask(anonymous, "/refused"), [401]);
  assertEquals(await ask(editor, "/refused"), [418, "first", "second"]);
  assertEquals(await ask(anonymous, "/open"), [401]);
  assertEquals(await ask(editor, "/open"), [200, "first", "second"]);
  assertEquals(await ask(anonymous, "/plain"), [401]);
  assertEquals(await ask(editor, "/plain"), [418]);
});

Deno.test("A cross-site refusal wins, then the last response for anonymous requests, then roles", async () => {
  const own = { unauthorizedResponse: { status: 402, body: "pay" } };
  const config = {
    ...requireAuth({ redirect: "/first" }),
    ...requireRoles(["admin"]),
    ...requireRoles(["editor"], { redirect: "/second" }),
    ...requireAuth(),
    ...optionalAuth(),
    ...createGuard({ required: false, check: () => new Response("own") }),
  };
  await using server = await startAuth({}, [
    { path: "/redirect", config, action: secret },
    {
      path: "/own",
      config: { ...config, ...requireAuth(own) },
      action: secret,
    },
  ]);
  const anonymous = server.browser();
  const editor = await server.signIn("bob");
  const admin = await server.signIn("ada");
  const post = async (
    client: typeof editor,
    path = "/redirect",
    headers: HeadersInit = {},
  ) => {
    const response = await client.ask(path, { method: "POST", headers });
    const text = await response.text();
    return [response.status, response.headers.get("location") ?? text];
  };
  const foreign = {
    origin: "https://evil.example",
    "sec-fetch-site": "cross-site",
  };
  const crossSite = [
    403,
    JSON.stringify({
      error: {
        code: "FORBIDDEN",
        message:
          "This request comes from a page of another origin, which trustedOrigins of createAuthPlugin() doesn't list",
      },
    }),
  ];
  assertEquals(await post(anonymous, "/redirect", foreign), crossSite);
  assertEquals(await post(editor, "/redirect", foreign), crossSite);
  assertEquals(await post(anonymous), [303, "/second"]);
  assertEquals(await post(anonymous, "/own"), [402, "pay"]);
  assertEquals(await post(editor), [403, INSUFFICIENT]);
  assertEquals(await post(admin), [200, "own"]);
});

Deno.test("Only the refusal that is sent is logged, once", async () => {
  const config = {
    ...requireRoles(["root"]),
    ...requireAuth({ redirect: "/in" }),
    ...requireRoles(["admin"]),
  };
  await using server = await startAuth({}, [
    { path: "/", config, loader: secret, action: secret },
    {
      path: "/with",
      config: { ...requireAuth(), ...requireRoles(["editor"]) },
      loader: withAuth(secret, { roles: ["root"] }),
    },
  ]);
  const member = await server.signIn("bob");
  const reasons = async (
    client: typeof member,
    ...args: Parameters<typeof member.ask>
  ) => {
    const before = server.events.length;
    await (await client.ask(...args)).body?.cancel();
    return server.events.slice(before).map((event) =>
      event.type === "access_denied" ? event.reason : event.type
    );
  };
  assertEquals(await reasons(server.browser(), "/"), ["anonymous"]);
  assertEquals(await reasons(member, "/"), ["roles"]);
  assertEquals(
    await reasons(member, "/", {
      method: "POST",
      headers: { origin: "https://evil.example" },
    }),
    ["cross_origin"],
  );
  assertEquals(await reasons(server.browser(), "/with"), ["anonymous"]);
  assertEquals(await reasons(member, "/with"), ["roles"]);
});

const rule = { required: true, check: () => undefined };

for (
  const [what, config, message] of [
    ["a typo for auth", { auht: true }, "config.auht must be a guard's rule"],
    [
      "a guard that wasn't called",
      { requireAuth },
      "config.requireAuth must be a guard's rule",
    ],
    ["an unknown key", { roles: ["admin"] }, "config.roles must be a guard's"],
    [
      "an unknown key without a value",
      { ...requireAuth(), roles: undefined },
      "config.roles must be a guard's rule, received undefined",
    ],
    [
      "a JSON copy of a guard",
      JSON.parse(JSON.stringify({ ...requireRoles(["admin"]) })),
      "config.auth must have a check function",
    ],
    [
      "a JSON copy of a guard next to another one",
      {
        ...JSON.parse(JSON.stringify(requireRoles(["admin"]))),
        ...requireAuth(),
      },
      "must have a check function",
    ],
    [
      "a guard whose auth was emptied",
      { ...requireAuth(), auth: undefined },
      "config.auth must have a check function",
    ],
    [
      "rules of two guards in one object",
      { auth: { ...requireRoles(["admin"]).auth, ...requireAuth().auth } },
      "config.auth must be an original rule, received a copy",
    ],
    [
      "a changed copy of a guard's rule",
      { auth: { ...requireAuth().auth, required: false } },
      "config.auth must be an original rule, received a copy",
    ],
    [
      "a guard within a guard",
      { ...requireAuth(), more: requireRoles(["admin"]) },
      "config.more holds one",
    ],
  ] as const
) {
  Deno.test(`createApp() rejects a route whose config has ${what}`, () => {
    const route = { path: "/a", loader: secret, config: config as never };
    assertThrows(() => createApp().route(route), TypeError, message);
    assertThrows(() => createApp({ routes: [route] }), TypeError, message);
  });
}

Deno.test("createApp() rejects a guard outside a route's config or in a plugin", () => {
  const route = { path: "/a", loader: secret };
  const misplaced = "a guard must be spread into config";
  for (const part of [requireAuth(), { auth: rule }, createGuard(rule)]) {
    assertThrows(
      () => createApp().route({ ...route, ...part } as Route),
      TypeError,
      misplaced,
    );
    const plugin = { name: "mine", ...part };
    assertThrows(
      () => createApp({ plugins: [plugin] }),
      TypeError,
      "Cannot create app: a guard must be spread into config",
    );
    assertThrows(() => toHono(plugin), TypeError, misplaced);
    assertThrows(() => createApp({ trace: plugin }), TypeError, misplaced);
  }
});

Deno.test("A guard's rule can't be changed by copying another rule into it", () => {
  const { auth } = requireRoles(["admin"]);
  assertThrows(() => Object.assign(auth, requireAuth().auth), TypeError);
  assertEquals(auth.roles, ["admin"]);
});

Deno.test("createGuard() rejects a rule without a check", () => {
  for (const wrong of [undefined, null, {}, { required: true }, "auth"]) {
    assertThrows(
      () => createGuard(wrong as never),
      TypeError,
      "Cannot create guard: rule must have a check function, received",
    );
  }
});

/** Mounts plugins and guards around a handler of another server. */
type Mount = (...parts: Mountable[]) => (request: Request) => Promise<Response>;

const MOUNTS: readonly (readonly [what: string, mount: Mount])[] = [
  ["toHono()", (...parts) => {
    const app = new Hono();
    app.get("/", toHono(...parts), (c) => c.text("SECRET"));
    return async (request) => await app.fetch(request);
  }],
  ["toMiddleware()", (...parts) => {
    const kit = toMiddleware(...parts);
    return (request) => kit(request, undefined, () => new Response("SECRET"));
  }],
  ["withPlugins()", (...parts) => {
    const { fetch } = withPlugins(parts, () => new Response("SECRET"));
    return (request) => fetch(request);
  }],
];

/** Signs in, and returns the cookie. */
async function cookieOf(
  auth: ReturnType<typeof createAuthPlugin>,
  user: string,
): Promise<string> {
  await using app = createApp({ plugins: [auth] });
  app.route({
    path: "/",
    loader: ({ context }) => getAuth(context).signIn("credentials", { user }),
  });
  const response = await app.fetch(new Request("http://localhost/"));
  await response.body?.cancel();
  return response.headers.get("set-cookie")!.split(";")[0]!;
}

for (const [what, mount] of MOUNTS) {
  Deno.test(`Guards spread into one object for ${what} all apply`, async () => {
    const auth = createAuthPlugin({
      session: { secret: SECRET },
      providers: [credentials({
        authorize: ({ user }) => Promise.resolve(USERS[String(user)] ?? null),
      })],
    });
    const member = { cookie: await cookieOf(auth, "bob") };
    const admin = { cookie: await cookieOf(auth, "ada") };
    for (const [, copy] of COPIES) {
      for (const [, order] of ORDERS) {
        const ask = mount(
          auth,
          order(copy)(
            requireRoles(["admin"]),
            requireAuth({ redirect: "/sign-in" }),
          ) as Mountable,
        );
        const status = async (headers: HeadersInit) => {
          const response = await ask(
            new Request("http://localhost/", { headers }),
          );
          const text = await response.text();
          assert(response.status === 200 || !text.includes("SECRET"));
          return response.status;
        };
        assertEquals(await status({}), 303);
        assertEquals(await status(member), 403);
        assertEquals(await status(admin), 200);
      }
    }
  });

  Deno.test(`${what} rejects an object that holds a guard and something else`, () => {
    for (
      const [part, message] of [
        [{ ...requireAuth(), roles: ["admin"] }, "roles must be a guard's"],
        [{ ...requireAuth(), auth: true }, "auth must have a check function"],
        [{ ...requireAuth(), more: requireAuth() }, "more holds one"],
      ] as const
    ) {
      assertThrows(
        () => mount(part as never),
        TypeError,
        `Cannot mount part 1: `,
      );
      assertThrows(() => mount(part as never), TypeError, message);
    }
  });
}

Deno.test("createApp() rejects a config that hides its guards, such as a promise", () => {
  const configs: Readonly<Record<string, unknown>> = {
    "a promise": Promise.resolve(requireAuth()),
    "a Map": new Map(Object.entries(requireAuth())),
    "a Set": new Set([requireAuth()]),
    "a guard that wasn't called": { ...requireAuth },
    "roles that weren't called": { ...requireRoles },
    "optional auth that wasn't called": { ...optionalAuth },
    "a public action that wasn't called": { ...publicAction },
  };
  for (const [what, config] of Object.entries(configs)) {
    const route = { path: "/", loader: () => "in", config } as Route;
    assertThrows(
      () => createApp({ routes: [route] }),
      TypeError,
      "Auth()",
      what,
    );
  }
  const none = undefined as Fragment | undefined;
  for (const config of [{}, Object.create(null), { ...none }]) {
    createApp({ routes: [{ path: "/", loader: () => "in", config }] });
  }
});
