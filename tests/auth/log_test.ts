/** Log lines contain no secrets and can't be forged. */

import { assert, assertEquals } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import {
  credentials,
  getAuth,
  getOAuthUrl,
  handleOAuthCallback,
  oauth,
  requireAuth,
  type User,
} from "@quartet/kit/auth";
import { byKey, byName, SECRET, startAuth, STRATEGIES } from "./harness.ts";
import type { Me } from "./harness.ts";

const COOKIE = "app.session";

/** Returns what is logged while `run` runs. */
async function logged(run: () => Promise<void>): Promise<string> {
  const lines: unknown[] = [];
  const methods = ["log", "error", "warn", "info", "debug"] as const;
  const originals = methods.map((name) => console[name]);
  for (const name of methods) {
    console[name] = (...args: unknown[]) =>
      void lines.push(args.map((arg) => Deno.inspect(arg)).join(" "));
  }
  try {
    await run();
  } finally {
    for (const [i, name] of methods.entries()) console[name] = originals[i]!;
  }
  return lines.join("\n");
}

Deno.test("debug logs events without tokens, cookies, keys, codes, states or session ids", async () => {
  const routes: Route[] = [
    {
      path: "/start",
      loader: ({ context }) =>
        getOAuthUrl(context, "somewhere", "https://app.example/callback"),
    },
    {
      path: "/callback",
      async loader({ request, context }) {
        const { searchParams } = new URL(request.url);
        return await handleOAuthCallback(context, "somewhere", {
          code: searchParams.get("code")!,
          state: searchParams.get("state")!,
          redirectUri: "https://app.example/callback",
        });
      },
    },
    { path: "/guarded", config: { ...requireAuth() }, loader: () => "in" },
  ];
  for (const strategy of STRATEGIES) {
    const secrets: string[] = [SECRET, "k-815", "wrong-key-4711", "hunter2"];
    const text = await logged(async () => {
      await using server = await startAuth({
        debug: true,
        session: { strategy, updateAge: 60, maxAge: 600 },
        providers: [
          byName(),
          byKey(),
          oauth({
            id: "somewhere",
            name: "Somewhere",
            clientId: "client",
            clientSecret: "secret of the client",
            authorizationUrl: "https://somewhere.example/authorize",
            // Nothing listens on this port.
            tokenUrl: "http://127.0.0.1:1/token",
            userInfoUrl: "http://127.0.0.1:1/me",
          }),
        ],
      }, routes);
      const browser = server.browser();
      const ask = async (...args: Parameters<typeof browser.ask>) => {
        const response = await browser.ask(...args);
        const text = await response.text();
        for (const { value } of browser.cookies.values()) secrets.push(value);
        return text;
      };
      const me = async () => {
        const { session, token }: Me = JSON.parse(await ask("/me"));
        secrets.push(token!, session!["sessionId"] as string);
      };
      await ask("/guarded");
      await ask("/sign-in", { body: { user: "mallory", password: "hunter2" } });
      await ask("/sign-in", { body: { user: "ada", password: "hunter2" } });
      await me();
      server.clock.pass(61);
      await me();
      await ask("/me", { headers: { "x-api-key": "wrong-key-4711" } });
      await ask("/me?key=k-815");
      await ask("/me", { headers: { authorization: "Bearer wrong-key-4711" } });
      await ask("/me", { headers: { cookie: `${COOKIE}=wrong-key-4711` } });
      const url = new URL(JSON.parse(await ask("/start")));
      const state = url.searchParams.get("state")!;
      secrets.push(state, url.searchParams.get("code_challenge")!);
      secrets.push("c0de-4711");
      await ask(`/callback?code=c0de-4711&state=${state}`);
      await ask(`/callback?code=c0de-4711&state=${state}`);
      await ask(`/callback?code=c0de-4711&state=s${state.slice(1)}`);
      await ask("/sign-in", { body: { user: "bob" } });
      await me();
      if (strategy !== "jwt") await server.plugin.revokeSessions("2");
      await ask("/me");
      await ask("/sign-in", { body: { user: "bob" } });
      await ask("/sign-out", { method: "POST" });
      assertEquals(server.errors, []);
    });
    const lines = text.split("\n");
    const events = lines.filter((line) => line.includes("[auth]"));
    assertEquals(lines.filter((line) => !events.includes(line)), [
      `"Sign-in with provider %s failed:" "somewhere" "the token endpoint can't be reached"`,
    ]);
    const types = events.map((line) => /\[auth\] (\w+)/.exec(line)?.[1]);
    assertEquals(
      [...new Set(types)].sort(),
      [
        "access_denied",
        "oauth_started",
        "session_refreshed",
        "session_rejected",
        ...(strategy === "jwt" ? [] : ["sessions_revoked"]),
        "sign_in",
        "sign_in_failed",
        "sign_out",
      ],
      text,
    );
    for (const secret of secrets) {
      assert(!text.includes(secret), `${secret}\n${text}`);
      // Nor a part of a secret that would grant access.
      for (const part of secret.split(".")) {
        assert(part.length < 5 || !text.includes(part), `${part}\n${text}`);
      }
    }
  }
});

Deno.test("Input can't forge log lines or control the terminal", async () => {
  const name = "x\n[auth] sign_in {}\x1b[2J\r\u2028\u202e\x9b";
  const text = await logged(async () => {
    await using server = await startAuth({
      debug: true,
      providers: [credentials({
        authorize: ({ user }) => Promise.resolve({ id: String(user) }),
      })],
    });
    const browser = server.browser();
    const response = await browser.ask("/sign-in", { body: { user: name } });
    assertEquals((await response.json()).userId, name);
    await (await browser.ask("/sign-in", { body: { provider: name } })).text();
  });
  assertEquals(
    text.match(/^.{0,3}\[auth\] \w+/gm),
    ["'[auth] sign_in", "'[auth] sign_in_failed"],
    text,
  );
  // deno-lint-ignore no-control-regex -- the test looks for them
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/.test(text), text);
});

Deno.test("Without debug nothing is logged", async () => {
  const text = await logged(async () => {
    await using server = await startAuth();
    const browser = await server.signIn();
    await (await browser.ask("/sign-out", { method: "POST" })).text();
    await (await browser.ask("/me", { headers: { cookie: `${COOKIE}=x` } }))
      .text();
  });
  assertEquals(text, "");
});

Deno.test("onEvent that throws changes no response and is logged", async () => {
  for (
    const onEvent of [
      () => {
        throw new Error("The audit log is full");
      },
      () => Promise.reject(new Error("The audit log is full")),
    ]
  ) {
    const text = await logged(async () => {
      await using server = await startAuth({ onEvent });
      const browser = await server.signIn();
      assertEquals((await browser.json("/me")).user.id, "1");
    });
    assert(text.includes("The audit log is full"), text);
  }
});

Deno.test("A sign-in or sign-out that isn't awaited is logged, because its cookie is lost", async () => {
  const late = Promise.withResolvers<void>();
  const finished: Promise<unknown>[] = [];
  const routes: Route[] = [
    {
      path: "/late-sign-in",
      action: ({ context }) => {
        const auth = getAuth(context);
        const signIn = late.promise.then(() => auth.signInAs({ id: "1" }));
        finished.push(signIn);
        return "too early";
      },
    },
    {
      path: "/late-sign-out",
      action: ({ context }) => {
        const auth = getAuth(context);
        finished.push(late.promise.then(() => auth.signOut()));
        return "too early";
      },
    },
  ];
  const text = await logged(async () => {
    await using server = await startAuth({}, routes);
    const browser = await server.signIn("ada");
    for (const path of ["/late-sign-in", "/late-sign-out"]) {
      assertEquals(await browser.json(path, { body: {} }), "too early");
    }
    late.resolve();
    await Promise.all(finished);
    assertEquals((await browser.json("/me")).user.id, "1");
  });
  assertEquals(
    text.match(/Cannot set the session's cookie: [^"]+/g)?.toSorted(),
    ["sign-in", "sign-out"].map((operation) =>
      `Cannot set the session's cookie: the response was ready before the ${operation} was; await it in the handler`
    ),
  );
});

Deno.test("A sign-in that isn't awaited and fails is logged, and doesn't end the process", async () => {
  const late = Promise.withResolvers<null>();
  const text = await logged(async () => {
    await using server = await startAuth({
      providers: [credentials<User>({ authorize: () => late.promise })],
    }, [
      {
        path: "/late-sign-in",
        action: ({ context }) => {
          getAuth(context).signIn("credentials", { password: "guess" });
          return "too early";
        },
      },
      {
        path: "/late-sign-in-as",
        action: ({ context }) => {
          const auth = getAuth(context);
          late.promise.then(() => void auth.signInAs({ id: "1", count: 1n }));
          return "too early";
        },
      },
    ]);
    const browser = server.browser();
    for (const path of ["/late-sign-in", "/late-sign-in-as"]) {
      assertEquals(await browser.json(path, { body: {} }), "too early");
    }
    late.resolve(null);
    // An unhandled rejection would fail the test by then.
    await new Promise((resolve) => setTimeout(resolve, 10));
  });
  assertEquals(
    text.match(/A sign-in failed after the response was ready.*/g)?.length,
    2,
  );
  assert(text.includes("AuthError: Invalid credentials"), text);
  assert(!text.includes("guess"), text);
});
