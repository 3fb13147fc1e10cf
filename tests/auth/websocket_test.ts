/** Sockets opened through the plugin. */

import { assert, assertEquals } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { getAuth, requireAuth } from "@quartet/kit/auth";
import { captureErrors } from "../helpers.ts";
import type { Browser } from "./browser.ts";
import { startAuth, STRATEGIES } from "./harness.ts";
import type { AuthServer } from "./harness.ts";

/** Answers each message with the user, and can sign in and out. */
const handler: Route["handler"] = (request, context) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onmessage = async ({ data }) => {
    const auth = getAuth(context);
    if (data === "sign out") await auth.signOut();
    const [what, user] = data.split(": ");
    if (what === "sign in") {
      await auth.signIn("credentials", { user }).catch(() => {});
    }
    if (data === "refresh") await auth.refreshSession();
    socket.send(JSON.stringify({
      id: auth.session?.userId ?? null,
      token: await auth.getToken() !== null,
    }));
  };
  return response;
};
const ROUTES: readonly Route[] = [
  { path: "/socket", handler },
  { path: "/guarded", config: { ...requireAuth() }, handler },
];

/** Sends messages one after another, and returns the answers. */
async function talk(
  { origin }: AuthServer,
  path: string,
  cookies: Browser["cookies"],
  messages: readonly string[],
  more: Record<string, string> = {},
): Promise<unknown[] | "refused"> {
  const cookie = Array.from(cookies, ([name, { value }]) => `${name}=${value}`)
    .join("; ");
  // With browser types loaded, `WebSocket` has no `headers` option.
  const options: object = {
    headers: cookie === "" ? more : { cookie, ...more },
  };
  const url = `${origin.replace("http", "ws")}${path}`;
  const socket = new WebSocket(url, options as string[]);
  const closed = Promise.withResolvers<void>();
  socket.onclose = () => closed.resolve();
  const opened = Promise.withResolvers<boolean>();
  socket.onopen = () => opened.resolve(true);
  socket.onerror = () => opened.resolve(false);
  if (!await opened.promise) {
    await closed.promise;
    return "refused";
  }
  const answers: unknown[] = [];
  for (const message of messages) {
    const answer = Promise.withResolvers<string>();
    socket.onmessage = ({ data }) => answer.resolve(data);
    socket.send(message);
    answers.push(JSON.parse(await answer.promise));
  }
  socket.close();
  await closed.promise;
  return answers;
}

Deno.test("A socket has the user of its request, and can sign out and refresh", async () => {
  for (const strategy of STRATEGIES) {
    for (const isDue of [false, true]) {
      await using server = await startAuth({
        session: { strategy, updateAge: 60 },
      }, ROUTES);
      const browser = await server.signIn();
      if (isDue) server.clock.pass(61);
      const ada = { id: "1", token: true };
      const nobody = { id: null, token: false };
      const messages = ["who", "refresh", "sign out", "who"];
      for (const path of ["/socket", "/guarded"]) {
        const { cookies } = await server.signIn();
        if (isDue) server.clock.pass(61);
        assertEquals(
          await talk(server, path, cookies, messages),
          [ada, ada, nobody, nobody],
        );
      }
      const { length } = server.events;
      assertEquals(await talk(server, "/socket", browser.cookies, ["who"]), [
        ada,
      ]);
      // The upgrade's response couldn't set a refreshed cookie.
      assertEquals(server.events.length, length);
      assertEquals(server.errors, []);
    }
  }
});

Deno.test("A cookie that a socket can't set or remove is reported", async () => {
  const problem = (operation: string) =>
    `Cannot set the session's cookie: a WebSocket can't carry it; use an HTTP request for the ${operation}`;
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, ROUTES);
    using captured = captureErrors();
    const { cookies } = await server.signIn();
    assertEquals(
      await talk(server, "/socket", cookies, [
        "sign in: nobody",
        "sign in: bob",
        "sign out",
        "sign out",
      ]),
      [
        { id: "1", token: true },
        { id: "2", token: true },
        { id: null, token: false },
        { id: null, token: false },
      ],
    );
    // A store has ended the session. Without one, its cookie is still valid.
    const operations = strategy === "jwt"
      ? ["sign-in", "sign-out"]
      : ["sign-in"];
    assertEquals(captured.lines, operations.map(problem));
    await talk(server, "/socket", new Map(), ["sign out"]);
    assertEquals(captured.lines.length, operations.length);
  }
});

Deno.test("A socket with an invalid session is anonymous, and a guard refuses it", async () => {
  await using server = await startAuth({}, ROUTES);
  const cookies = new Map([["app.session", { value: "x", attributes: {} }]]);
  const nobody = { id: null, token: false };
  for (const jar of [cookies, new Map()]) {
    assertEquals(await talk(server, "/socket", jar, ["who", "sign out"]), [
      nobody,
      nobody,
    ]);
    assertEquals(await talk(server, "/guarded", jar, ["who"]), "refused");
  }
  assertEquals(server.errors, []);
});

Deno.test("A guard refuses cross-site WebSocket handshakes", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      trustedOrigins: ["https://app.example"],
    }, ROUTES);
    const { cookies } = await server.signIn();
    const open = (headers: Record<string, string>) =>
      talk(server, "/guarded", cookies, ["who"], headers);
    const ada = [{ id: "1", token: true }];
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: server.origin },
    ];
    const own: Record<string, string>[] = [
      {},
      { origin: server.origin },
      { "sec-fetch-site": "same-origin", origin: server.origin },
      { "sec-fetch-site": "cross-site", origin: "https://app.example" },
    ];
    for (const headers of foreign) {
      assertEquals(await open(headers), "refused", JSON.stringify(headers));
    }
    for (const headers of own) {
      assertEquals(await open(headers), ada, JSON.stringify(headers));
    }
  }
});

Deno.test("authenticate() works for a request outside the middleware chain", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const { value } = (await server.signIn()).cookies.get("app.session")!;
    const request = new Request("http://localhost/", {
      headers: { cookie: `app.session=${value}` },
    });
    const auth = await server.plugin.authenticate(request);
    assertEquals(auth.session?.userId, "1");
    assertEquals(auth.getCookieHeaders(), []);
    await auth.signOut();
    const [cookie] = auth.getCookieHeaders();
    assert(cookie!.includes("Max-Age=0"));
  }
});
