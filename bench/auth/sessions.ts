/**
 * Measures the time to read a request's session, from its cookie to its fields.
 * Peers are compared with a floor: `crypto.subtle.verify` of the token's
 * signature.
 *
 * Run it with `deno task bench auth/sessions`.
 *
 * @module
 */

import { decode, encode } from "@auth/core/jwt";
import { createAuthPlugin } from "@quartet/kit/auth";
import type { SessionStrategy, User } from "@quartet/kit/auth";
import * as hono from "hono/jwt";
import { parse } from "hono/utils/cookie";
import { sealData, unsealData } from "iron-session";
import { jwtVerify, SignJWT } from "jose";
import { compare, print } from "../compare.ts";

const SECRET = "a secret of at least thirty-two bytes";
const NAME = "app.session";
/** More tokens than a processor's cache can hold. */
const COUNT = 1_000;

const bytes = new TextEncoder().encode(SECRET);
const key = await crypto.subtle.importKey(
  "raw",
  bytes,
  { name: "HMAC", hash: "SHA-256" },
  false,
  ["sign", "verify"],
);

/** Creates a plugin whose provider accepts everybody. */
const createPlugin = (strategy: SessionStrategy = "jwt") =>
  createAuthPlugin({
    session: { secret: SECRET, strategy },
    providers: [{
      id: "all",
      name: "All",
      type: "credentials",
      authorize: (user) => Promise.resolve(user as User),
    }],
  });

const users = Array.from({ length: COUNT }, (_, i) => ({
  id: `user-${i}`,
  email: `user-${i}@example.com`,
  name: "Ada Lovelace",
  roles: ["user", "editor"],
}));

const plugin = createPlugin();

/** Signs in, and returns the cookie. */
async function signIn(user: User): Promise<string> {
  const auth = await plugin.authenticate(new Request("http://localhost/"));
  await auth.signIn("all", user);
  return auth.getCookieHeader()!.split(";")[0]!;
}

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36";
const requestOf = (cookie: string) =>
  new Request("http://localhost/countries/fra", {
    headers: {
      accept: "text/html",
      "accept-language": "en",
      cookie: `theme=dark; ${cookie}`,
      host: "localhost",
      "user-agent": browser,
    },
  });

const tokens: string[] = [];
const requests: Request[] = [];
for (const user of users) {
  const cookie = await signIn(user);
  tokens.push(cookie.slice(NAME.length + 1));
  requests.push(requestOf(cookie));
}

const encoder = new TextEncoder();
const signed = tokens.map((token) => {
  const end = token.lastIndexOf(".");
  return {
    data: encoder.encode(token.slice(0, end)),
    signature: Uint8Array.fromBase64(token.slice(end + 1), {
      alphabet: "base64url",
    }),
  };
});

const authSalt = "salt";
const encoded: Request[] = [];
const sealed: Request[] = [];
for (const user of users.slice(0, 100)) {
  const { id: sub, ...rest } = user;
  const token = { sub, ...rest };
  const text = await encode({ token, secret: SECRET, salt: authSalt });
  encoded.push(requestOf(`${NAME}=${text}`));
  const seal = await sealData(token, { password: SECRET });
  sealed.push(requestOf(`${NAME}=${seal}`));
}

const cookieOf = (request: Request) =>
  parse(request.headers.get("cookie")!, NAME)[NAME]!;

/** Returns the items of a list in turn, endlessly. */
function cycle<T>(items: readonly T[]): () => T {
  let i = -1;
  return () => items[i = (i + 1) % items.length]!;
}

/** Repeats a call, so that the clock readings don't count. */
const times = (n: number, run: () => unknown) => {
  const next = run;
  return async () => {
    for (let i = 0; i < n; i++) await next();
  };
};

function seen() {
  const next = cycle(requests);
  let sum = 0;
  return () => {
    for (let i = 0; i < 100; i++) {
      const auth = plugin.authenticate(next());
      if (auth instanceof Promise) throw new Error("It was not seen before");
      sum += auth.session!.userId.length;
    }
    return sum;
  };
}

function throughMiddleware() {
  const next = cycle(requests);
  const response = new Response("hello");
  const values = new Map<string, unknown>();
  const context = {
    get: (name: string) => values.get(name),
    set: (name: string, value: unknown) => void values.set(name, value),
  };
  return times(
    100,
    () =>
      plugin.middleware(next(), context, () => {
        plugin.getSession(context)!.userId;
        return Promise.resolve(response);
      }),
  );
}

function floor() {
  const next = cycle(signed);
  return times(100, () => {
    const { data, signature } = next();
    return crypto.subtle.verify("HMAC", key, signature, data);
  });
}

for (const request of requests) await plugin.authenticate(request);
const peers = () => {
  const forJose = cycle(requests);
  const forHono = cycle(requests);
  const forAuth = cycle(encoded);
  const forIron = cycle(sealed);
  return {
    "jose": times(100, () => jwtVerify(cookieOf(forJose()), bytes)),
    "hono/jwt": times(
      100,
      () => hono.verify(cookieOf(forHono()), SECRET, "HS256"),
    ),
    "@auth/core": times(100, () =>
      decode({
        token: cookieOf(forAuth()),
        secret: SECRET,
        salt: authSalt,
      })),
    "iron-session": times(
      100,
      () => unsealData(cookieOf(forIron()), { password: SECRET }),
    ),
  };
};

print(
  "The session of a request whose cookie was seen before",
  await compare({
    "floor: subtle.verify": floor(),
    "kit": seen(),
    "kit, through its middleware": throughMiddleware(),
    ...peers(),
  }, { operations: 100, calls: 5, turns: 61 }),
);

const fresh = (() => {
  // A new plugin each time, which has seen none of the tokens.
  let next = cycle(requests);
  let plugin = createPlugin();
  let count = 0;
  return times(100, async () => {
    if (count++ % COUNT === 0) {
      next = cycle(requests);
      plugin = createPlugin();
    }
    const auth = await plugin.authenticate(next());
    auth.session!.userId;
  });
})();
print(
  "The session of a request whose cookie was not seen before",
  await compare({
    "floor: subtle.verify": floor(),
    "kit": fresh,
    ...peers(),
  }, { operations: 100, calls: 5, turns: 61 }),
);

const payload = { email: users[0]!.email, name: "Ada", roles: ["user"] };
const now = Math.floor(Date.now() / 1000);
print(
  "Signing a session",
  await compare({
    "floor: subtle.verify": floor(),
    "floor: subtle.sign": times(
      100,
      () => crypto.subtle.sign("HMAC", key, signed[0]!.data),
    ),
    "kit": await (async () => {
      // This strategy stores no token and signs one on request.
      const plugin = createPlugin("cookie");
      const auth = await plugin.authenticate(new Request("http://localhost/"));
      await auth.signIn("all", users[0]! as User);
      return times(100, () => auth.getToken());
    })(),
    "kit, a whole sign-in": (() => {
      const auth = plugin.authenticate(new Request("http://localhost/"));
      return times(
        100,
        async () => (await auth).signIn("all", users[0]! as User),
      );
    })(),
    "jose": times(
      100,
      () =>
        new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).setSubject(
          "1",
        )
          .setIssuedAt(now).setExpirationTime(now + 1_000).sign(bytes),
    ),
    "hono/jwt": times(
      100,
      () =>
        hono.sign(
          { ...payload, sub: "1", iat: now, exp: now + 1_000 },
          SECRET,
          "HS256",
        ),
    ),
    "@auth/core": times(
      100,
      () =>
        encode({
          token: { ...payload, sub: "1" },
          secret: SECRET,
          salt: authSalt,
        }),
    ),
    "iron-session": times(
      100,
      () => sealData({ ...payload, sub: "1" }, { password: SECRET }),
    ),
  }, { operations: 100, calls: 1, turns: 31 }),
);
