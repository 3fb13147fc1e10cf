/**
 * Pending password checks: addresses with many of them don't keep others from
 * signing in.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  hashPassword,
  rateLimitSignIn,
  verifyPassword,
} from "@quartet/kit/auth";
import type {
  AuthConfig,
  AuthError,
  CredentialsOptions,
} from "@quartet/kit/auth";

const SECRET = "a secret of at least thirty-two bytes";
/** Cheap scrypt parameters, so that tests are fast. */
const CHEAP = { ln: 10, r: 8, p: 1 };

/** Starts an app whose requests come from addresses that the test sets. */
function start(
  authorize: CredentialsOptions["authorize"],
  config: Partial<AuthConfig> = {},
) {
  const auth = createAuthPlugin({
    session: { secret: SECRET },
    providers: [credentials({ authorize })],
    ...config,
  });
  const app = createApp({
    plugins: [auth],
    routes: [
      {
        path: "/sign-in",
        action: async ({ request, context }) => {
          const form = await request.json();
          const session = await getAuth(context).signIn("credentials", form);
          return session.userId;
        },
      },
      {
        path: "/sign-up",
        action: async ({ request }) => {
          const { password } = await request.json();
          return await hashPassword(password, CHEAP);
        },
      },
    ],
    onError: (error) => console.error(error),
  });
  const ask = async (
    path: string,
    address: string | undefined,
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers,
    });
    const info = address === undefined ? undefined : {
      remoteAddr: { transport: "tcp" as const, hostname: address, port: 1 },
    };
    const response = await app.fetch(request, info);
    await response.body?.cancel();
    return response;
  };
  return { app, auth, ask };
}

/** Waits until the condition holds, or fails. */
async function until(hasHappened: () => boolean): Promise<void> {
  // Far longer than anything that tests wait for.
  for (let i = 0; i < 60_000; i++) {
    if (hasHappened()) return;
    await new Promise((resolve) => setTimeout(resolve));
  }
  throw new Error("It has not happened");
}

const ATTACKERS = ["198.51.100.1", "::ffff:198.51.100.2", "2001:db8::3"];
/** Single addresses, and many addresses of one network. */
const addressOf = (attacker: string, i: number) =>
  attacker.includes("db8") ? `2001:db8::${i + 1}` : attacker;

for (
  const [what, path] of [["sign-ins", "/sign-in"], ["sign-ups", "/sign-up"]]
) {
  Deno.test(`While three addresses flood the password queue with ${what}, a fourth signs in promptly`, async () => {
    const hash = await hashPassword("right", CHEAP);
    const { app, ask } = start(async ({ user, password }) =>
      await verifyPassword(password, hash) ? { id: String(user) } : null
    );
    const done: number[] = [];
    const flood = ATTACKERS.flatMap((attacker) =>
      Array.from({ length: 100 }, async (_, i) => {
        const body = { user: `u${i}`, password: "wrong" };
        const { status } = await ask(path!, addressOf(attacker, i), body);
        done.push(status);
      })
    );
    // All of them are waiting or were refused before the fourth one starts.
    await until(() => done.includes(429));
    const checked = () => done.filter((status) => status !== 429).length;
    const before = checked();
    const own = await ask("/sign-in", "203.0.113.9", {
      user: "ada",
      password: "right",
    });
    assertEquals(own.status, 200);
    // 256 checks are waiting. The running ones come first, and one more per
    // address.
    assert(checked() - before < 100, `${checked() - before} came first`);
    await Promise.all(flood);
    await app.close();
  });
}

Deno.test("Password checks of sign-ins without a middleware are fair too", async () => {
  const hash = await hashPassword("right", CHEAP);
  const { app, auth } = start(async ({ password }) =>
    await verifyPassword(password, hash) ? { id: "1" } : null
  );
  const signIn = async (hostname: string, password: string) => {
    const visit = await auth.authenticate(new Request("http://localhost/"), {
      remoteAddr: { transport: "tcp", hostname, port: 1 },
    });
    return await visit.signIn("credentials", { password })
      .then(() => "signed in", (error) => (error as AuthError).code);
  };
  const flood = ATTACKERS.flatMap((attacker) =>
    Array.from({ length: 100 }, () => signIn(attacker, "wrong"))
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(await signIn("203.0.113.9", "right"), "signed in");
  await Promise.all(flood);
  await app.close();
});

Deno.test("Behind a proxy, networks are counted by the address that the application sets", async () => {
  const hash = await hashPassword("right", CHEAP);
  const { app, ask } = start(
    async ({ password }) =>
      await verifyPassword(password, hash) ? { id: "1" } : null,
    {
      address: ({ headers }) => headers.get("x-real-ip") ?? undefined,
    },
  );
  for (const path of ["/sign-in", "/sign-up"]) {
    const proxy = "10.0.0.1";
    const flood = Array.from(
      { length: 300 },
      () =>
        ask(path, proxy, { password: "wrong" }, { "x-real-ip": "192.0.2.1" }),
    );
    await new Promise((resolve) => setTimeout(resolve));
    const own = await ask("/sign-in", proxy, { password: "right" }, {
      "x-real-ip": "192.0.2.2",
    });
    assertEquals(own.status, 200);
    await Promise.all(flood);
  }
  await app.close();
});

/** Creates checks that wait until the test completes them. */
function slowChecks() {
  const pending: PromiseWithResolvers<{ id: string } | null>[] = [];
  return {
    pending,
    authorize() {
      const check = Promise.withResolvers<{ id: string } | null>();
      pending.push(check);
      return check.promise;
    },
  };
}

Deno.test("rateLimitSignIn() limits each network to 20 pending sign-ins", async () => {
  const { pending, authorize } = slowChecks();
  const { app, ask } = start(authorize, { signInLimiter: rateLimitSignIn() });
  const flood = ATTACKERS.flatMap((attacker) =>
    Array.from(
      { length: 100 },
      (_, i) => ask("/sign-in", addressOf(attacker, i), { user: `u${i}` }),
    )
  );
  const refused: Response[] = [];
  for (const asked of flood) {
    void asked.then((response) => refused.push(response));
  }
  await until(() => refused.length >= 3 * 80);
  assertEquals(pending.length, 3 * 20);
  for (const { status, headers } of refused) {
    assertEquals([status, headers.get("retry-after")], [429, "1"]);
  }
  const own = ask("/sign-in", "203.0.113.9", { user: "ada" });
  await until(() => pending.length > 60);
  pending.at(-1)!.resolve({ id: "ada" });
  assertEquals((await own).status, 200);
  for (const check of pending) check.resolve(null);
  await Promise.all(flood);
  await app.close();
});

Deno.test("Every outcome ends a pending sign-in, and a refused one doesn't count as a failure", async () => {
  const { pending, authorize } = slowChecks();
  const { app, auth } = start(authorize, {
    signInLimiter: rateLimitSignIn({
      maxPendingPerAddress: 1,
      perAccountAndAddress: 4,
    }),
  });
  const signIn = async (hostname?: string) => {
    const visit = await auth.authenticate(
      new Request("http://localhost/"),
      hostname === undefined
        ? undefined
        : { remoteAddr: { transport: "tcp", hostname, port: 1 } },
    );
    return await visit.signIn("credentials", { user: "ada" })
      .then(({ userId }) => userId, (error) => error.code ?? error.message);
  };
  const endings: [(check: typeof pending[number]) => void, string][] = [
    [(check) => check.resolve({ id: "ada" }), "ada"],
    [(check) => check.resolve(null), "INVALID_CREDENTIALS"],
    [(check) => check.reject(new Error("down")), "down"],
    [(check) => check.resolve(undefined as never), "INVALID_CREDENTIALS"],
  ];
  for (const [end, outcome] of endings) {
    const first = signIn("192.0.2.1");
    for (let i = 0; i < 50; i++) {
      assertEquals(await signIn("::ffff:192.0.2.1"), "RATE_LIMITED");
    }
    assertEquals(pending.length, 1);
    end(pending.pop()!);
    assertEquals(await first, outcome);
  }
  // Three failures so far, because refused ones don't count. One more is
  // allowed.
  const last = signIn("192.0.2.1");
  await until(() => pending.length === 1);
  pending.pop()!.resolve({ id: "ada" });
  assertEquals(await last, "ada");
  // Sign-ins from an unknown address aren't limited.
  const unknown = [signIn(), signIn(), signIn()];
  await until(() => pending.length === 3);
  for (const check of pending) check.resolve({ id: "ada" });
  assertEquals(await Promise.all(unknown), ["ada", "ada", "ada"]);
  await app.close();
});
