/**
 * Failed sign-ins from HTML forms.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createApp, toHono, withPlugins } from "@quartet/kit/app";
import {
  AuthError,
  createAuthPlugin,
  credentials,
  getAuth,
} from "@quartet/kit/auth";
import { currentContext } from "@quartet/kit/app";
import { Hono } from "hono";
import { SECRET } from "./harness.ts";

/** The `Accept` header of browsers for navigations and forms. */
const BROWSER =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

function createPlugin() {
  return createAuthPlugin({
    session: { secret: SECRET },
    providers: [credentials({ authorize: () => null })],
  });
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** Returns hosts by name. Each answers every request with a failed sign-in. */
function hosts(): Readonly<Record<string, Fetch>> {
  const app = createApp({ plugins: [createPlugin()] });
  app.route({
    path: "/sign-in",
    action: async ({ context }) =>
      void await getAuth(context).signIn("credentials", {}),
  });
  const hono = new Hono();
  hono.use(toHono(createPlugin()));
  hono.post("/sign-in", async (c) => {
    await getAuth(c).signIn("credentials", {});
    return c.text("in");
  });
  const { fetch } = withPlugins([createPlugin()], async () => {
    await getAuth(currentContext()).signIn("credentials", {});
    return new Response("in");
  });
  return {
    app: (request) => app.fetch(request),
    hono: (request) => hono.fetch(request),
    withPlugins: (request) => fetch(request),
  };
}

/** Sends a form to a listening server. */
async function submit(
  fetchHost: Fetch,
  headers: (origin: string) => Record<string, string>,
): Promise<{ response: Response; text: string }> {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    fetchHost,
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const response = await fetch(`${origin}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ password: "guess" }),
    headers: headers(origin),
  });
  return { response, text: await response.text() };
}

for (const [name, host] of Object.entries(hosts())) {
  Deno.test(`A wrong password from an HTML form gets a page, with ${name}`, async () => {
    const { response, text } = await submit(host, (origin) => ({
      accept: BROWSER,
      referer: `${origin}/sign-in?next=/secret`,
    }));
    const { status, headers } = response;
    assertEquals(status, 401);
    assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
    assertEquals(headers.get("cache-control"), "no-store");
    assertMatch(
      headers.get("content-security-policy")!,
      /^default-src 'none'; /,
    );
    assertMatch(text, /<p>Invalid credentials<\/p>/);
    assertMatch(text, /<a href="\/sign-in">Back<\/a>/);
    assert(!text.includes("secret") && !text.includes("guess"), text);
  });

  Deno.test(`A wrong password from a script gets JSON, with ${name}`, async () => {
    for (
      const accept of [
        "*/*",
        "application/json",
        "application/json, text/html",
        "text/html;q=0.5, */*",
        "text/html;q=0",
        "text/html;q=., application/*;q=0.1",
      ]
    ) {
      const { response, text } = await submit(host, () => ({ accept }));
      assertEquals(response.status, 401);
      assertEquals(JSON.parse(text), {
        error: { code: "INVALID_CREDENTIALS", message: "Invalid credentials" },
      }, accept);
    }
  });
}

Deno.test("The page of a failed sign-in links only to a path of this server", async () => {
  const { app } = hosts();
  for (
    const referer of [
      () => "https://evil.example/sign-in",
      () => "javascript:alert(1)",
      () => "no URL",
      (origin: string) => `${origin}//evil.example`,
    ]
  ) {
    const { text } = await submit(app!, (origin) => ({
      accept: BROWSER,
      referer: referer(origin),
    }));
    assertMatch(text, /^<!DOCTYPE html>/);
    assert(!text.includes("<a "), text);
  }
  const { text } = await submit(app!, (origin) => ({
    accept: "application/json;q=0.5, text/html",
    referer: `${origin}/a'"><script>&`,
  }));
  assertMatch(text, /<a href="\/a&#39;%22%3E%3Cscript%3E&amp;">Back<\/a>/);
});

Deno.test("The page of a failed sign-in escapes its message, and keeps Retry-After", async () => {
  const error = new AuthError("RATE_LIMITED", "Wait <b>a minute</b>", {
    retryAfter: 60,
    cause: new Error("a secret"),
  });
  const request = new Request("http://localhost/", {
    headers: { accept: BROWSER },
  });
  const page = error.toResponse(request);
  assertEquals([page.status, page.headers.get("retry-after")], [429, "60"]);
  const text = await page.text();
  assertMatch(text, /<p>Wait &lt;b&gt;a minute&lt;\/b&gt;<\/p>/);
  assert(!text.includes("a secret"));
  assertEquals((await error.toResponse().json()).error.code, "RATE_LIMITED");
});

Deno.test("A failed sign-in on a socket still has a response", async () => {
  const app = createApp({ plugins: [createPlugin()] });
  app.route({
    path: "/socket",
    handler(request, context) {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = async () => {
        const error = await assertRejects(
          () => getAuth(context).signIn("unknown", {}),
          AuthError,
        );
        socket.send(await error.toResponse().text());
      };
      return response;
    },
  });
  await using server = await app.serve({ port: 0, onListen() {} });
  const socket = new WebSocket(
    `ws://127.0.0.1:${server.address.port}/socket`,
  );
  const received = await new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).error.code);
    socket.onclose = () => resolve("closed");
  });
  assertEquals(received, "UNKNOWN_PROVIDER");
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
});
