import { assertEquals } from "@std/assert";
import {
  createApp,
  type Plugin,
  type Route,
  type RouteArgs,
} from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
  getUser,
  optionalAuth,
  requireAuth,
  requireRoles,
} from "@quartet/kit/auth";
import { timedCache } from "./helpers.ts";

/** The headers that identify a caller. */
type Who = Readonly<Record<string, string>>;

const NOBODY: Who = {};
const ROBOT: Who = { "x-api-key": "key" };

const showUser = ({ context }: RouteArgs) =>
  new Response(getUser(context)?.id ?? "nobody");

/** Runs a test with the auth plugin around the page cache, and within it. */
function test(
  name: string,
  route: Omit<Route, "path">,
  fn: (subject: Subject) => Promise<void>,
): void {
  for (const order of ["the cache inside auth", "auth inside the cache"]) {
    Deno.test(`${name}: ${order}`, async () => {
      await fn(subject(route, order === "auth inside the cache"));
    });
  }
}

interface Subject {
  /** Returns the status and text of a caller's response. */
  get(who: Who): Promise<string>;
  signIn(id: string): Promise<{ cookie: Who; token: Who }>;
  /** Number of cached pages. */
  readonly kept: number;
}

function subject(
  route: Omit<Route, "path">,
  isCacheFirst: boolean,
): Subject {
  const { cache } = timedCache();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [
      credentials({
        authorize: ({ id }) => ({ id: String(id), roles: ["reader"] }),
      }),
      apiKey({
        validate: (key) =>
          key === "key" ? { id: "robot", roles: ["reader"] } : null,
      }),
    ],
  });
  const pages: Plugin = {
    name: "pages",
    middleware: cache.cacheResponse({ maxAge: 60 }),
  };
  const app = createApp({
    plugins: isCacheFirst ? [pages, auth] : [auth, pages],
  });
  app.route({ ...route, path: "/" });
  app.route({
    path: "/sign-in/:id",
    method: "POST",
    handler: async (_request, context) => {
      const auth = getAuth(context);
      await auth.signIn("credentials", { id: context.params.id });
      return new Response(await auth.getToken());
    },
  });
  return {
    get: async (headers) => {
      const request = new Request("http://localhost/", { headers });
      const response = await app.fetch(request);
      return `${response.status} ${await response.text()}`;
    },
    signIn: async (id) => {
      const url = `http://localhost/sign-in/${id}`;
      const response = await app.fetch(new Request(url, { method: "POST" }));
      const cookies = response.headers.getSetCookie()
        .map((cookie) => cookie.split(";")[0]);
      return {
        cookie: { cookie: cookies.join("; ") },
        token: { authorization: `Bearer ${await response.text()}` },
      };
    },
    get kept() {
      return cache.stats().entries;
    },
  };
}

for (
  const [name, config, refusal] of [
    [
      "requireAuth()",
      requireAuth({ unauthorizedResponse: { status: 401, body: "no" } }),
      "401 no",
    ],
    [
      // A status that caches may store.
      "requireAuth() with 404",
      requireAuth({ unauthorizedResponse: { status: 404, body: "no" } }),
      "404 no",
    ],
  ] as const
) {
  test(
    `A page guarded by ${name} isn't shared`,
    { config: { ...config }, loader: showUser },
    async (it) => {
      const [ada, bob] = [await it.signIn("ada"), await it.signIn("bob")];
      for (let i = 0; i < 2; i++) {
        assertEquals(await it.get(NOBODY), refusal);
        assertEquals(await it.get(ada.cookie), "200 ada");
        assertEquals(await it.get(NOBODY), refusal);
        assertEquals(await it.get(bob.token), "200 bob");
        assertEquals(await it.get(ROBOT), "200 robot");
        assertEquals(await it.get(bob.cookie), "200 bob");
      }
      assertEquals(it.kept, 0);
    },
  );
}

test(
  "A page guarded by requireRoles() isn't shared, even if it doesn't read the user",
  { config: { ...requireRoles(["reader"]) }, loader: () => "secret" },
  async (it) => {
    const { cookie } = await it.signIn("ada");
    assertEquals((await it.get(cookie)).slice(0, 3), "200");
    assertEquals((await it.get(NOBODY)).slice(0, 3), "401");
    assertEquals((await it.get(ROBOT)).slice(0, 3), "200");
    assertEquals(it.kept, 0);
  },
);

test(
  "A page that reads the user isn't shared",
  { config: { ...optionalAuth() }, loader: showUser },
  async (it) => {
    const { cookie } = await it.signIn("ada");
    assertEquals(await it.get(NOBODY), "200 nobody");
    assertEquals(await it.get(cookie), "200 ada");
    assertEquals(await it.get(NOBODY), "200 nobody");
    assertEquals(it.kept, 0);
  },
);

let made = 0;
test(
  "A page that doesn't read the user is shared, except responses to Authorization",
  { loader: () => new Response(`page ${++made}`) },
  async (it) => {
    made = 0;
    const { cookie, token } = await it.signIn("ada");
    assertEquals(await it.get(token), "200 page 1");
    assertEquals(await it.get(cookie), "200 page 2");
    assertEquals(await it.get(NOBODY), "200 page 2");
    assertEquals(it.kept, 1);
  },
);

test(
  "A page that reads the user isn't shared, whatever its Cache-Control says",
  {
    config: { ...requireAuth() },
    loader: ({ context }: RouteArgs) =>
      new Response(getUser(context)?.id, {
        headers: { "cache-control": "public, max-age=60" },
      }),
  },
  async (it) => {
    const [ada, bob] = [await it.signIn("ada"), await it.signIn("bob")];
    assertEquals(await it.get(ada.cookie), "200 ada");
    assertEquals(await it.get(bob.token), "200 bob");
    assertEquals((await it.get(NOBODY)).slice(0, 3), "401");
    assertEquals(it.kept, 0);
  },
);

test(
  "A page that reads the user while streaming its body isn't shared",
  {
    config: { ...optionalAuth() },
    loader: ({ context }: RouteArgs) =>
      new Response(
        new ReadableStream({
          pull(controller) {
            const name = getUser(context)?.id ?? "nobody";
            controller.enqueue(new TextEncoder().encode(name));
            controller.close();
          },
          // The stream produces nothing before it's read.
        }, { highWaterMark: 0 }),
      ),
  },
  async (it) => {
    const [ada, bob] = [await it.signIn("ada"), await it.signIn("bob")];
    assertEquals(await it.get(ada.cookie), "200 ada");
    assertEquals(await it.get(bob.cookie), "200 bob");
    assertEquals(await it.get(NOBODY), "200 nobody");
    assertEquals(it.kept, 0);
  },
);
