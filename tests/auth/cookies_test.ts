/**
 * The session's cookie: how it is set and removed, and which cookies of a
 * request are accepted.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { createAuthPlugin, credentials, getAuth } from "@quartet/kit/auth";
import type { CookieOptions, User } from "@quartet/kit/auth";
import { parseCookie } from "./browser.ts";
import { byName, SECRET, startAuth, STRATEGIES } from "./harness.ts";
import type { AuthServer, Me, TestConfig } from "./harness.ts";

const COOKIE = "app.session";

async function ask({ origin, errors }: AuthServer, cookie: string) {
  const response = await fetch(`${origin}/me`, { headers: { cookie } });
  assertEquals(response.status, 200, cookie);
  assertEquals(errors, []);
  const { user }: Me = await response.json();
  return { id: user?.id, set: response.headers.getSetCookie() };
}

/** Creates a config whose user's token needs several cookies. */
function large(): TestConfig {
  const user: User = { id: "1", text: "x".repeat(4000) };
  return {
    providers: [credentials({ authorize: () => Promise.resolve(user) })],
  };
}

Deno.test("The session cookie has the contract's defaults", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn();
    assertEquals(browser.received.length, 1);
    const [name, { attributes }] = parseCookie(browser.received[0]!);
    assertEquals(name, "app.session");
    assertEquals(attributes, {
      "max-age": "604800",
      path: "/",
      samesite: "Lax",
      httponly: true,
    });
  }
});

Deno.test("The session cookie is Secure in production", async () => {
  for (const variable of ["DENO_ENV", "NODE_ENV"]) {
    Deno.env.set(variable, "production");
    try {
      await using server = await startAuth();
      const browser = await server.signIn();
      assertEquals(browser.cookies.get(COOKIE)!.attributes["secure"], true);
      await using insecure = await startAuth({ cookie: { secure: false } });
      const other = await insecure.signIn();
      assertEquals(other.cookies.get(COOKIE)!.attributes["secure"], undefined);
    } finally {
      Deno.env.delete(variable);
    }
  }
});

Deno.test("All cookie attributes can be set, and sign-out repeats them", async () => {
  const settings: [CookieOptions, Record<string, string | true>][] = [
    [
      {
        name: "sid",
        secure: true,
        sameSite: "none",
        domain: "app.example",
        path: "/me",
        httpOnly: false,
      },
      { domain: "app.example", path: "/me", samesite: "None", secure: true },
    ],
    [
      { name: "__Host-sid", secure: true, sameSite: "strict" },
      { path: "/", samesite: "Strict", secure: true, httponly: true },
    ],
    [
      { name: "__Secure-sid", secure: true, domain: ".app.example" },
      {
        domain: ".app.example",
        path: "/",
        samesite: "Lax",
        secure: true,
        httponly: true,
      },
    ],
  ];
  for (const strategy of STRATEGIES) {
    for (const [cookie, expected] of settings) {
      await using server = await startAuth({ session: { strategy }, cookie });
      const browser = await server.signIn();
      const [name, set] = parseCookie(browser.received[0]!);
      assertEquals(name, cookie.name);
      assertEquals(set.attributes, { "max-age": "604800", ...expected });
      assertEquals((await browser.json("/me")).user.id, "1");

      await (await browser.ask("/sign-out", { method: "POST" })).text();
      assertEquals(browser.received.length, 1);
      const [cleared, { value, attributes }] = parseCookie(
        browser.received[0]!,
      );
      assertEquals([cleared, value], [cookie.name, ""]);
      assertEquals(attributes, { "max-age": "0", ...expected });
    }
  }
});

Deno.test("createAuthPlugin() rejects cookie options that browsers refuse or misread", () => {
  const wrong: [string, CookieOptions][] = [
    ["cookie.name", { name: "a\r\nSet-Cookie: b" }],
    ["cookie.name", { name: "a;b" }],
    ["cookie.name", { name: "a=b" }],
    ["cookie.name", { name: "a b" }],
    ["cookie.name", { name: "é" }],
    ["cookie.name", { name: "" }],
    ["cookie.name", { name: "a".repeat(129) }],
    ["cookie.name", { name: 1 as never }],
    ["cookie.path", { path: "/\r\nSet-Cookie: b" }],
    ["cookie.path", { path: "/;domain=evil.example" }],
    ["cookie.path", { path: "relative" }],
    ["cookie.path", { path: "" }],
    ["cookie.path", { path: `/${"a".repeat(1024)}` }],
    ["cookie.domain", { domain: "a.example\r\nSet-Cookie: b" }],
    ["cookie.domain", { domain: "a.example;path=/" }],
    ["cookie.domain", { domain: "a b" }],
    ["cookie.domain", { domain: "" }],
    ["cookie.domain", { domain: "-a.example" }],
    ["cookie.domain", { domain: "a..example" }],
    ["cookie.domain", { domain: `${"a.".repeat(127)}example` }],
    ["cookie.sameSite", { sameSite: "Lax" as never }],
    ["cookie.sameSite", { sameSite: "constructor" as never }],
    ["cookie.sameSite", { sameSite: null as never }],
    ["cookie.secure", { secure: "yes" as never }],
    ["cookie.httpOnly", { httpOnly: 0 as never }],
    ["cookie.secure", { sameSite: "none" }],
    ["cookie.secure", { sameSite: "none", secure: false }],
    ["cookie.secure", { name: "__Host-a" }],
    ["cookie.secure", { name: "__HOST-a", secure: false }],
    ["cookie.secure", { name: "__Secure-a", secure: false }],
    ["cookie.domain", { name: "__Host-a", secure: true, domain: "a.example" }],
    ["cookie.domain", { name: "__host-a", secure: true, path: "/a" }],
  ];
  for (const [name, cookie] of wrong) {
    assertThrows(
      () => createAuthPlugin({ session: { secret: SECRET }, cookie }),
      TypeError,
      name,
      JSON.stringify(cookie),
    );
  }
});

Deno.test("Other cookies of a request are ignored, also malformed ones", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const { value } = (await server.signIn()).cookies.get(COOKIE)!;
    const mine = `${COOKIE}=${value}`;
    for (
      const others of [
        "a=%E0%A4%A",
        "%E0%A4%A=%",
        "a",
        "=",
        "=a",
        ";;;",
        "a=b=c==",
        'a="b; c"',
        `x${COOKIE}=1`,
        `${COOKIE}x=1`,
        `${COOKIE}.x=1`,
        `${COOKIE}.10=1`,
        `${COOKIE}.-1=1`,
        `${COOKIE}.oauth.abc=1`,
        `a=${COOKIE}`,
        `a=${COOKIE}=1`,
        `${COOKIE}`,
        `__proto__=1; constructor=2; toString=3`,
        "\xe9=\xff",
        Array.from({ length: 200 }, (_, i) => `c${i}=${i}`).join("; "),
      ]
    ) {
      assertEquals((await ask(server, `${others}; ${mine}`)).id, "1", others);
      assertEquals((await ask(server, `${mine}; ${others}`)).id, "1", others);
      assertEquals(await ask(server, others), { id: undefined, set: [] });
    }
    for (const blanks of [` ${mine}`, `a=b;${mine}`, `a=b;  ${mine} `]) {
      assertEquals((await ask(server, blanks)).id, "1", blanks);
    }
  }
});

Deno.test("An invalid session cookie is anonymous and is cleared", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const { value } = (await server.signIn()).cookies.get(COOKIE)!;
    const garbage = [
      "",
      "%E0%A4%A",
      "undefined",
      "null",
      "\xff\xfe",
      `"${value}"`,
      encodeURIComponent(`${value}=`),
      `${value}x`,
      value.slice(0, -1),
      value.slice(1),
      "../../etc/passwd",
      "a".repeat(6000),
    ];
    for (const text of garbage) {
      const { id, set } = await ask(server, `${COOKIE}=${text}`);
      assertEquals(id, undefined, text);
      assertEquals(set.length, 1);
      const [name, { attributes }] = parseCookie(set[0]!);
      assertEquals([name, attributes["max-age"]], [COOKIE, "0"]);
      // Sign-out clears it too, and signing in replaces it.
      const browser = server.browser();
      browser.cookies.set(COOKIE, { value: text, attributes: {} });
      await (await browser.ask("/sign-out", { method: "POST" })).text();
      assertEquals(browser.cookies.size, 0);
      browser.cookies.set(COOKIE, { value: text, attributes: {} });
      await (await browser.ask("/sign-in", { body: { user: "ada" } })).text();
      assertEquals((await browser.json("/me")).user.id, "1");
    }
  }
});

Deno.test("Two different session cookies are ambiguous, and neither is accepted", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const ada = (await server.signIn("ada")).cookies.get(COOKIE)!.value;
    const eve = (await server.signIn("eve")).cookies.get(COOKIE)!.value;
    const both = (...values: string[]) =>
      ask(server, values.map((value) => `${COOKIE}=${value}`).join("; "));
    assertEquals((await both(ada, eve)).id, undefined);
    assertEquals((await both(eve, ada)).id, undefined);
    assertEquals((await both(ada, "x")).id, undefined);
    assertEquals((await both("", ada)).id, undefined);
    assertEquals((await both(ada, ada)).id, "1");
    const [rejected] = server.events.filter(({ type }) =>
      type === "session_rejected"
    );
    assertEquals(
      rejected,
      {
        type: "session_rejected",
        reason: "ambiguous",
        time: new Date(server.clock.now()),
      },
    );
  }
});

Deno.test("A session over 4 KB is split into several cookies and joined again", async () => {
  for (const strategy of ["jwt", "hybrid"] as const) {
    for (
      const cookie of [
        {},
        {
          name: "s".repeat(128),
          path: "/me".padEnd(1024, "/"),
          domain: "a.".repeat(120) + "example",
        },
      ]
    ) {
      await using server = await startAuth({
        ...large(),
        session: { strategy },
        cookie,
      });
      const browser = await server.signIn();
      const { name = COOKIE } = cookie;
      const names = [...browser.cookies.keys()];
      assertEquals(names, names.map((_, i) => `${name}.${i}`));
      assert(names.length >= 2, `${names.length}`);
      for (const line of browser.received) assert(line.length <= 4096);
      assertEquals((await browser.json("/me")).user.text.length, 4000);

      // The order of cookies in a header doesn't matter.
      const reversed = [...browser.cookies].reverse()
        .map(([name, { value }]) => `${name}=${value}`).join("; ");
      assertEquals((await ask(server, reversed)).id, "1");

      await (await browser.ask("/sign-out", { method: "POST" })).text();
      assertEquals(browser.cookies.size, 0);
      const cleared = browser.received.map((line) => parseCookie(line)[0]);
      assertEquals(cleared, [name, ...names]);
    }
  }
});

Deno.test("Forged, missing, duplicate or too many chunks are anonymous", async () => {
  await using server = await startAuth(large());
  const browser = await server.signIn();
  const [first, second] = [...browser.cookies.values()].map(({ value }) =>
    value
  ) as [string, string];
  assertEquals(browser.cookies.size, 2);
  const of = async (...chunks: [string, string][]) => {
    const header = chunks.map(([end, value]) => `${COOKIE}${end}=${value}`)
      .join("; ");
    const { id, set } = await ask(server, header);
    if (id === undefined) {
      // Each invalid chunk is cleared, and also the plain name.
      const names = set.map((line) => parseCookie(line)[0]).sort();
      const expected = new Set([
        COOKIE,
        ...chunks.map(([end]) => COOKIE + end),
      ]);
      assertEquals(names, [...expected].sort());
    }
    return id;
  };
  assertEquals(await of([".0", first], [".1", second]), "1");
  assertEquals(await of([".0", first]), undefined);
  assertEquals(await of([".1", second]), undefined);
  assertEquals(await of([".0", second], [".1", first]), undefined);
  assertEquals(await of([".0", first], [".1", `${second}x`]), undefined);
  assertEquals(await of([".0", first], [".1", ""]), undefined);
  assertEquals(await of([".0", first], [".2", second]), undefined);
  assertEquals(await of([".1", first], [".2", second]), undefined);
  assertEquals(
    await of([".0", first], [".1", second], [".2", "x"]),
    undefined,
  );
  assertEquals(
    await of([".0", first], [".1", second], [".1", "x"]),
    undefined,
  );
  assertEquals(await of(["", "x"], [".0", first], [".1", second]), undefined);
  assertEquals(await of([".0", first], [".1", second], [".9", "x"]), undefined);
  // Many small chunks aren't a valid session either.
  assertEquals(
    await of(
      ...Array.from({ length: 10 }, (_, i): [string, string] => [`.${i}`, "x"]),
    ),
    undefined,
  );
});

Deno.test("A session whose size changes leaves no cookies of its former size", async () => {
  let user: User = { id: "1", text: "x".repeat(4000) };
  await using server = await startAuth({
    providers: [credentials({ authorize: () => Promise.resolve(user) })],
  });
  const browser = await server.signIn();
  assertEquals([...browser.cookies.keys()], [`${COOKIE}.0`, `${COOKIE}.1`]);
  user = { id: "2" };
  await (await browser.ask("/sign-in", { body: {} })).text();
  assertEquals([...browser.cookies.keys()], [COOKIE]);
  assertEquals((await browser.json("/me")).user, { id: "2" });
  user = { id: "3", text: "x".repeat(4000) };
  await (await browser.ask("/sign-in", { body: {} })).text();
  assertEquals([...browser.cookies.keys()], [`${COOKIE}.0`, `${COOKIE}.1`]);
  assertEquals((await browser.json("/me")).user.id, "3");
});

Deno.test("signOut() after a sign-in with a long token removes all chunks of its cookie", async () => {
  const routes: Route[] = [{
    path: "/in-and-out",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signIn("large", {});
      await auth.signOut();
      return auth.getCookieHeaders();
    },
  }, {
    path: "/large-then-small",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signIn("large", {});
      await auth.signIn("credentials", { user: "ada" });
    },
  }];
  const large = credentials({
    id: "large",
    authorize: () => ({ id: "1", text: "x".repeat(5_000) }),
  });
  await using server = await startAuth(
    { providers: [byName(), large] },
    routes,
  );
  const browser = server.browser();
  const set: string[] = await browser.json("/in-and-out", { method: "POST" });
  for (const line of set) {
    assertEquals(parseCookie(line)[1].attributes["max-age"], "0", line);
  }
  assertEquals(browser.cookies.size, 0);
  await browser.ask("/large-then-small", { method: "POST" });
  assertEquals((await browser.json("/me")).session.name, "Ada");
});
