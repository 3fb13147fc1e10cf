/** Two auth plugins around the same request, each with its own cookie. */

import { assertEquals, assertThrows } from "@std/assert";
import { currentContext, toHono, toMiddleware } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getUser,
  requireAuth,
} from "@quartet/kit/auth";
import { Hono } from "hono";
import { SECRET } from "../auth/harness.ts";

/** Creates a plugin whose users' ids begin with its name. */
function createAuth(name: string) {
  return createAuthPlugin({
    session: { secret: `${name}: ${SECRET}`, strategy: "hybrid" },
    cookie: { name },
    providers: [credentials({
      authorize: ({ user }) => Promise.resolve({ id: `${name} ${user}` }),
    })],
  });
}

/** Returns the cookie of a sign-in. */
async function cookieOf(
  auth: ReturnType<typeof createAuth>,
  user: string,
): Promise<string> {
  const context = await auth.authenticate(new Request("http://localhost/"));
  await context.signIn("credentials", { user });
  return context.getCookieHeader()!.split(";")[0]!;
}

const shops = createAuth("shop");
const staff = createAuth("staff");

/** Returns who each plugin, and the innermost one, says the user is. */
function users(context: Parameters<typeof getUser>[0]): unknown[] {
  const found = [shops.getUser(context), staff.getUser(context)];
  const session = shops.getSession(context)?.userId;
  const { provider } = shops.getAuth(context).session ?? {};
  return [
    ...found.map((user) => user?.id),
    session,
    provider,
    getUser(context)?.id,
  ];
}

const ada = await cookieOf(shops, "ada");
const bob = await cookieOf(staff, "bob");
const CASES: [cookie: string, users: unknown[]][] = [
  [`${ada}; ${bob}`, [
    "shop ada",
    "staff bob",
    "shop ada",
    "credentials",
    "staff bob",
  ]],
  [ada, ["shop ada", null, "shop ada", "credentials", null]],
  [bob, [null, "staff bob", null, null, "staff bob"]],
];

Deno.test("On Hono, each of two auth plugins returns its own user", async () => {
  const app = new Hono();
  app.use(toHono(shops));
  app.use("/staff/*", toHono(staff));
  app.get("/staff/users", (c) => c.json(users(c)));
  app.get("/staff", toHono(requireAuth()), (c) => c.text("in"));
  for (const [cookie, expected] of CASES) {
    const init = { headers: { cookie } };
    const response = await app.request("/staff/users", init);
    assertEquals(await response.json(), expected);
    // The guard asks the innermost plugin.
    const { status } = await app.request("/staff", init);
    assertEquals(status, expected.at(-1) === null ? 401 : 200);
  }
});

Deno.test("A plugin that hasn't run for a request returns no other plugin's user", async () => {
  const app = new Hono();
  app.use(toHono(staff));
  app.get("/", (c) => {
    for (const read of [shops.getUser, shops.getSession, shops.getAuth]) {
      assertThrows(
        () => read(c),
        TypeError,
        "the auth plugin has not run for this request",
      );
    }
    return c.json([staff.getUser(c)?.id, getUser(c)?.id]);
  });
  const response = await app.request("/", { headers: { cookie: bob } });
  assertEquals(await response.json(), ["staff bob", "staff bob"]);
});

Deno.test("In toMiddleware(), each of two auth plugins returns its own user", async () => {
  const [outer, inner] = [toMiddleware(shops), toMiddleware(staff)];
  for (const [cookie, expected] of CASES) {
    const request = new Request("http://localhost/", { headers: { cookie } });
    const response = await outer(
      request,
      undefined,
      () =>
        inner(
          request,
          undefined,
          () => Response.json(users(currentContext())),
        ),
    );
    assertEquals(await response.json(), expected);
  }
});
