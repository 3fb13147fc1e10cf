/**
 * A response that comes after a sign-out or a sign-in in the same browser. The
 * browser takes its cookies although they are older.
 */

import { assertEquals } from "@std/assert";
import { getAuth } from "@quartet/kit/auth";
import type { SessionStrategy } from "@quartet/kit/auth";
import type { Browser } from "./browser.ts";
import {
  createClock,
  startAuth,
  STRATEGIES,
  type TestConfig,
} from "./harness.ts";

const COOKIE = "app.session";
const STORED = ["cookie", "hybrid"] as const;
/** Headers of browsers for the requests of a script. */
const BY_SCRIPT = { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };

/** Starts an app whose requests to `/slow` wait for `finish()`. */
async function startSlow(strategy: SessionStrategy, config: TestConfig = {}) {
  const gate = Promise.withResolvers<void>();
  let running = Promise.withResolvers<void>();
  const wait = async () => {
    running.resolve();
    await gate.promise;
  };
  const server = await startAuth({
    ...config,
    session: { strategy, updateAge: 60 },
  }, [
    { path: "/slow", loader: wait },
    {
      path: "/slow-refresh",
      action: async ({ context }) => {
        await wait();
        return await getAuth(context).refreshSession();
      },
    },
  ]);
  const askSlowly = async (
    browser: Browser,
    path = "/slow",
    method = "GET",
  ) => {
    running = Promise.withResolvers();
    const response = browser.ask(path, { method, headers: BY_SCRIPT });
    await running.promise;
    return async () => {
      gate.resolve();
      await (await response).body?.cancel();
      return browser.received.length;
    };
  };
  return Object.assign(server, { askSlowly });
}

async function post(browser: Browser, path: string, user?: string) {
  await (await browser.ask(path, { method: "POST", body: { user } })).text();
}

async function nameOf(browser: Browser): Promise<string | undefined> {
  return (await browser.json("/me")).user?.name;
}

Deno.test("A response that is late brings nobody back after a sign-out or a sign-in", async () => {
  for (const strategy of STRATEGIES) {
    for (const [path, user] of [["/sign-out"], ["/sign-in", "bob"]]) {
      await using server = await startSlow(strategy);
      const browser = await server.signIn("ada");
      server.clock.pass(61);
      const finish = await server.askSlowly(browser);
      server.clock.pass(6);
      await post(browser, path!, user);
      assertEquals(await finish(), 0);
      assertEquals(await nameOf(browser), user && "Bob", strategy);
    }
  }
});

Deno.test("A response refreshes the session up to five seconds after its request, then the next one does", async () => {
  for (const strategy of STRATEGIES) {
    const cases = [[0, 1], [5, 1], [5.001, 0], [3_000, 0], [-20, 1]] as const;
    for (const [seconds, cookies] of cases) {
      await using server = await startSlow(strategy);
      const browser = await server.signIn("ada");
      server.clock.pass(100);
      const finish = await server.askSlowly(browser);
      server.clock.pass(seconds);
      assertEquals(await finish(), cookies, `${strategy} ${seconds}`);
      assertEquals(await nameOf(browser), "Ada");
      assertEquals(browser.received.length, 1 - cookies);
    }
  }
});

Deno.test("The time that the check of a session takes counts too", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    let delay = 0;
    await using server = await startAuth({
      clock,
      session: { strategy, updateAge: 60 },
      callbacks: {
        onSessionValidate: async () => {
          await Promise.resolve();
          clock.pass(delay);
          return true;
        },
      },
    });
    const browser = await server.signIn("ada");
    clock.pass(61);
    delay = 6;
    assertEquals(await nameOf(browser), "Ada");
    assertEquals(browser.received, []);
  }
});

Deno.test("refreshSession() refreshes however long its request takes", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startSlow(strategy);
    const browser = await server.signIn("ada");
    server.clock.pass(61);
    const finish = await server.askSlowly(browser, "/slow-refresh", "POST");
    server.clock.pass(60);
    assertEquals(await finish(), 1, strategy);
  }
});

Deno.test("The response to an ended session's cookie doesn't remove the cookie of a later sign-in", async () => {
  for (const strategy of STORED) {
    await using server = await startSlow(strategy);
    const browser = await server.signIn("ada");
    const cookie = `${COOKIE}=${browser.cookies.get(COOKIE)!.value}`;
    const headers = { cookie, ...BY_SCRIPT };
    await post(browser, "/sign-in", "bob");
    // The page sent this request before it had the response of the sign-in.
    await (await browser.ask("/me", { headers })).body?.cancel();
    assertEquals(browser.received, []);
    assertEquals(await nameOf(browser), "Bob");
    const auth = await server.plugin.authenticate(
      new Request("http://localhost/", { headers }),
    );
    assertEquals(auth.getCookieHeaders(), []);
    // An explicit sign-out removes it, and so does the next page.
    await auth.signOut();
    assertEquals(auth.getCookieHeaders().length, 1);
    const loads = [
      {},
      { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      // Node's `fetch` sends this header alone.
      { "sec-fetch-mode": "cors" },
    ];
    for (const mode of loads) {
      const page = await server.plugin.authenticate(
        new Request("http://localhost/", { headers: { cookie, ...mode } }),
      );
      assertEquals(page.getCookieHeaders().length, 1);
    }
    assertEquals(
      server.events.filter(({ type }) => type === "session_rejected").length,
      5,
    );
  }
});

Deno.test("The response to a script's malformed cookie doesn't remove the cookie of a later sign-in", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startSlow(strategy);
    const browser = await server.signIn("ada");
    const headers = { cookie: `${COOKIE}=malformed`, ...BY_SCRIPT };
    await (await browser.ask("/me", { headers })).body?.cancel();
    assertEquals(browser.received, []);
    assertEquals(await nameOf(browser), "Ada");
  }
});

Deno.test("A refresh whose session a sign-in ends doesn't remove the new cookie", async () => {
  for (const strategy of STORED) {
    for (const path of ["/slow", "/slow-refresh"]) {
      await using server = await startSlow(strategy);
      const browser = await server.signIn("ada");
      server.clock.pass(61);
      const method = path === "/slow" ? "GET" : "POST";
      const finish = await server.askSlowly(browser, path, method);
      await post(browser, "/sign-in", "bob");
      assertEquals(await finish(), 0);
      assertEquals(await nameOf(browser), "Bob");
    }
  }
});
