import { createHmac } from "node:crypto";
import { createApp } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
  getOAuthUrl,
  handleOAuthCallback,
  hashPassword,
  needsRehash,
  oauth,
  presetCodeHost,
  rateLimitSignIn,
  safeRedirect,
  verifyPassword,
} from "@quartet/kit/auth";
import type { AuthProvider } from "@quartet/kit/auth";
import { base64url, HEADER, SECRET } from "../auth/harness.ts";
import { scriptedFetch } from "../auth/oauth_setup.ts";
import { assertAllLinear, numbered, repeat, silently, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";

const CALLBACK = "http://localhost/callback";
const CLIENT = {
  clientId: "id",
  clientSecret: "secret",
  redirectUri: CALLBACK,
};

Deno.test("safeRedirect() takes linear time for a long target", () =>
  assertAllLinear(
    "safeRedirect()",
    [
      ...TEXTS,
      repeat("/\\", "/"),
      repeat("/", "/a"),
      repeat("%09", "/"),
      repeat("@", "https://"),
      repeat("../", "/"),
    ],
    (text) => {
      safeRedirect(text, "/");
      safeRedirect(`/${text}`, "/");
    },
  ));

Deno.test("A long password or password hash takes linear time", async () => {
  const hash = await hashPassword("a password");
  await assertAllLinear("a hash", TEXTS, async (text) => {
    try {
      needsRehash(text);
      await verifyPassword("a password", text);
    } catch {
      // The text isn't a hash.
    }
    try {
      needsRehash(hash.slice(0, 30) + text);
    } catch {
      // This isn't one either.
    }
  });
});

Deno.test("Long credentials and account names take linear time", () =>
  silently(async () => {
    await using app = createApp({
      plugins: [createAuthPlugin({
        session: { secret: SECRET },
        debug: true,
        signInLimiter: rateLimitSignIn({ perAddress: 1e6 }),
        providers: [
          credentials({ authorize: () => Promise.resolve(null) }),
          apiKey({ validate: () => Promise.resolve(null), queryParam: "key" }),
        ],
      })],
      routes: [{
        path: "/sign-in",
        action: async ({ request, context }) => {
          await getAuth(context).signIn("credentials", await request.json());
          return new Response();
        },
      }, {
        path: "/me",
        loader: ({ context }) => Response.json(getAuth(context).session),
      }],
    });
    const texts = [
      ...TEXTS,
      ...["\u0301", "\u200b", "ﬃ", "İ", "\ud800", "e\u0301", "ﷺ"].map((text) =>
        repeat(text)
      ),
      repeat("\u0301", "a"),
      (length: number) => "\u0316\u0301".repeat(length / 2),
    ];
    for (const field of ["email", "password", "name"]) {
      await assertAllLinear(
        field,
        texts,
        async (request: Request) => {
          await (await app.fetch(request)).text();
        },
        {
          prepare: (text) =>
            new Request("http://localhost/sign-in", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ [field]: text }),
            }),
        },
      );
    }
    await assertAllLinear("a key", texts, async (request: Request) => {
      await (await app.fetch(request)).text();
    }, {
      prepare: (text) =>
        new Request(
          `http://localhost/me?${new URLSearchParams({ key: text })}`,
        ),
    });
  }));

Deno.test("A long token with a valid signature takes linear time", () =>
  silently(async () => {
    await using app = createApp({
      plugins: [createAuthPlugin({ session: { secret: SECRET } })],
      routes: [{
        path: "/me",
        loader: ({ context }) => Response.json(getAuth(context).session),
      }],
    });
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: "1", iat: now, exp: now + 60 };
    const tokens: Text[] = [
      repeat("a"),
      numbered((i) => `claim ${i},`),
      repeat("["),
    ];
    await assertAllLinear("a token", tokens, async (request: Request) => {
      await (await app.fetch(request)).text();
    }, {
      prepare: (text) => {
        const payload = base64url(JSON.stringify({ ...claims, custom: text }));
        const signed = `${base64url(JSON.stringify(HEADER))}.${payload}`;
        const signature = createHmac("sha256", SECRET).update(signed).digest();
        const token = `${signed}.${base64url(signature)}`;
        return new Request("http://localhost/me", {
          headers: { authorization: `Bearer ${token}` },
        });
      },
    });
  }));

/** An app that starts a sign-in and completes it. */
function appOf(provider: AuthProvider) {
  return createApp({
    plugins: [
      createAuthPlugin({ session: { secret: SECRET }, providers: [provider] }),
    ],
    routes: [{
      path: "/start",
      loader: ({ context }) =>
        Response.redirect(getOAuthUrl(context, provider.id, CALLBACK), 303),
    }, {
      path: "/callback",
      loader: async ({ request, context }) => {
        const query = new URL(request.url).searchParams;
        await handleOAuthCallback(context, provider.id, {
          code: query.get("code") ?? "",
          state: query.get("state") ?? "",
          redirectUri: CALLBACK,
        });
        return new Response("signed in");
      },
    }],
  });
}

Deno.test("A long state, code or state cookie of a callback takes linear time", () =>
  silently(async () => {
    const fetch = scriptedFetch({});
    await using app = appOf(presetCodeHost({ ...CLIENT, fetch }));
    const start = await app.fetch(new Request("http://localhost/start"));
    const cookie = start.headers.get("set-cookie")!.split(";")[0]!;
    const state = new URL(start.headers.get("location")!).searchParams
      .get("state")!;
    const ask = async (request: Request) => {
      await (await app.fetch(request)).text();
    };
    const request = (query: Record<string, string>, cookie: string) =>
      new Request(`http://localhost/callback?${new URLSearchParams(query)}`, {
        headers: { cookie },
      });
    await assertAllLinear("a code", TEXTS, ask, {
      prepare: (code) => request({ code, state }, cookie),
    });
    await assertAllLinear("a state", TEXTS, ask, {
      prepare: (state) => request({ code: "c", state }, cookie),
    });
    await assertAllLinear("a cookie", TEXTS.slice(0, 20), ask, {
      prepare: (text) => request({ code: "c", state }, `${cookie}${text}`),
    });
  }));

Deno.test("A provider's long answer takes linear time", () =>
  silently(async () => {
    let answer = "";
    let path = "";
    const provider = oauth({
      ...CLIENT,
      id: "other",
      name: "Other",
      authorizationUrl: "https://other.example/authorize",
      tokenUrl: "https://other.example/token",
      userInfoUrl: "https://other.example/user",
      fetch: (input) => {
        const asked = new URL(new Request(input).url).pathname;
        const headers = { "content-type": "application/json" };
        if (asked === path) {
          return Promise.resolve(new Response(answer, { headers }));
        }
        return Promise.resolve(
          Response.json({ access_token: "a", token_type: "bearer", id: "1" }),
        );
      },
    });
    await using app = appOf(provider);
    const texts: Text[] = [
      ...TEXTS,
      repeat("["),
      repeat("a", '{"access_token":"', '","token_type":"bearer"}'),
      repeat("a", '{"error":"', '"}'),
      repeat("\\u0000", '{"error":"', '"}'),
      repeat("a", '{"id":"', '"}'),
      repeat("a.", '{"id_token":"', '","access_token":"a","token_type":"b"}'),
      repeat("a ", '{"access_token":"a","token_type":"b","scope":"', '"}'),
      (length) => `{${numbered((i) => `"key ${i}":${i},`)(length)}"id":"1"}`,
      (length) => `{"id":${"[".repeat(length / 2)}${"]".repeat(length / 2)}}`,
    ];
    for (path of ["/token", "/user"]) {
      await assertAllLinear(path, texts, async (text) => {
        answer = text;
        const start = await app.fetch(new Request("http://localhost/start"));
        const state = new URL(start.headers.get("location")!).searchParams
          .get("state")!;
        const cookie = start.headers.get("set-cookie")!.split(";")[0]!;
        const response = await app.fetch(
          new Request(`http://localhost/callback?code=c&state=${state}`, {
            headers: { cookie },
          }),
        );
        await response.text();
      });
    }
  }));
