import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { exchange, ROOT } from "../helpers.ts";
import { serveApp } from "./dev_command.ts";

/** The header of browsers that navigate. */
const NAVIGATION =
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const APP = `
  import { createApp } from "${new URL("app/mod.ts", ROOT)}";
  const inner = createApp({
    routes: [{ path: "/", handler: () => { throw new Error("inside"); } }],
  });
  const app = createApp({
    routes: [
      { path: "/notes/:id", method: "*", handler() {
        throw new TypeError("no <b>note</b> at postgres://ada:pw@db/notes");
      } },
      { path: "/thrown", handler() { throw "only text"; } },
      { path: "/own", handler: () =>
        Response.json({ error: { code: "INTERNAL_ERROR" } }, { status: 500 }) },
      { path: "/handled", handler: async () => {
        const { status } = await inner.fetch(new Request("http://localhost/"));
        return new Response("inner: " + status, { status: 500 });
      } },
      { path: "/page", handler() { throw new Error("for the app's page"); } },
    ],
  });
  app.use(async (request, _context, next) => {
    try {
      const response = await next();
      response.headers.set("x-app", "yes");
      return response;
    } catch (error) {
      if (new URL(request.url).pathname !== "/page") throw error;
      return new Response("<h1>The app's page</h1>", { status: 500 });
    }
  });
  export default app;`;

async function visit(url: URL, init: RequestInit = {}) {
  const response = await fetch(url, {
    headers: { accept: NAVIGATION },
    ...init,
  });
  return { response, text: await response.text() };
}

Deno.test("dev --trace shows a browser the error that the app didn't handle, and links to its trace", async () => {
  await using dev = await serveApp(APP, "--trace");
  const { response, text } = await visit(new URL("/notes/7?token=s3", dev.url));
  const { status, headers } = response;
  assertEquals(status, 500);
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(headers.get("cache-control"), "no-store");
  assertMatch(
    headers.get("content-security-policy")!,
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; /,
  );
  assertStringIncludes(text, "<h1>TypeError</h1>");
  assertStringIncludes(
    text,
    "no &lt;b&gt;note&lt;/b&gt; at postgres://REDACTED:REDACTED@db/notes",
  );
  assertStringIncludes(text, "<dd>GET /notes/7</dd>");
  assertStringIncludes(text, "<dd>/notes/:id</dd>");
  const id = headers.get("x-app-trace-id");
  assertMatch(
    text,
    new RegExp(`href="/__app/traces#trace=${id}&amp;span=[\\da-f]{16}"`),
  );
  for (const hidden of ["main.ts", "    at ", "s3", "<script", "pw@"]) {
    assert(!text.includes(hidden), hidden);
  }
  await dev.child.printed(/^GET \/notes\/7 500 /m);
});

Deno.test("The error page keeps the method and headers of the failed request", async () => {
  await using dev = await serveApp(APP, "--trace");
  const url = new URL("/notes/7", dev.url);
  const post = await visit(url, { method: "POST" });
  assertStringIncludes(post.text, "<dd>POST /notes/7</dd>");
  const head = await visit(url, { method: "HEAD" });
  assertEquals([head.response.status, head.text], [500, ""]);
  const thrown = await visit(new URL("/thrown", dev.url));
  assertStringIncludes(thrown.text, "<h1>string</h1>");
  assertStringIncludes(thrown.text, "only text");
});

Deno.test("Any entry that throws, or returns no Response, has an error page", async () => {
  for (
    const [entry, message] of [
      [
        `export default { fetch() { throw new RangeError("from fetch"); } };`,
        "<h1>RangeError</h1>\n<pre>from fetch</pre>",
      ],
      [
        `export default { fetch: async () => "text" };`,
        "fetch of main.ts must return a Response, received a string",
      ],
    ] as const
  ) {
    await using dev = await serveApp(entry, "--trace");
    const { text } = await visit(dev.url);
    assertStringIncludes(text, message);
  }
});

Deno.test("The app's own error pages and responses stay, and so does the JSON of other clients", async () => {
  await using dev = await serveApp(APP, "--trace");
  const own: [path: string, text: string][] = [
    ["/own", '{"error":{"code":"INTERNAL_ERROR"}}'],
    ["/handled", "inner: 500"],
    ["/page", "<h1>The app's page</h1>"],
  ];
  for (const [path, expected] of own) {
    const { response, text } = await visit(new URL(path, dev.url));
    assertEquals([response.status, text], [500, expected]);
  }
  for (
    const accept of [
      "*/*",
      "application/json",
      "application/json, text/html;q=0.9",
      "text/html;q=0",
    ]
  ) {
    const { text } = await visit(new URL("/notes/7", dev.url), {
      headers: { accept },
    });
    assertEquals(JSON.parse(text).error.code, "INTERNAL_ERROR");
  }
});

Deno.test("Clients that aren't local get no error page, and without --trace nobody does", async () => {
  await using dev = await serveApp(APP, "--trace");
  const lines = (host: string, ...more: string[]) =>
    ["GET /notes/7 HTTP/1.1", `Host: ${host}`, `Accept: ${NAVIGATION}`, ...more]
      .join("\r\n") + "\r\nConnection: close\r\n\r\n";
  for (
    const request of [
      lines("app.example"),
      lines(dev.url.host, "X-Forwarded-For: 192.0.2.1"),
      lines(dev.url.host, "Origin: https://app.example"),
    ]
  ) {
    const answer = await exchange(Number(dev.url.port), request);
    assertStringIncludes(answer, '{"error":{"code":"INTERNAL_ERROR"');
    assert(!answer.includes("TypeError"));
  }
  await using plain = await serveApp(APP);
  const { text } = await visit(new URL("/notes/7", plain.url));
  assertEquals(JSON.parse(text).error.code, "INTERNAL_ERROR");
});

Deno.test("The error page of a request that the app doesn't trace has no link", async () => {
  await using dev = await serveApp(
    `
    import { createApp } from "${new URL("app/mod.ts", ROOT)}";
    import { createTracer, tracePlugin } from "${new URL(
      "trace/mod.ts",
      ROOT,
    )}";
    export default createApp({
      trace: tracePlugin(createTracer(), { exclude: ["/quiet"] }),
      routes: [{ path: "/quiet", handler() { throw new Error("quiet"); } }],
    });`,
    "--trace",
  );
  const { text } = await visit(new URL("/quiet", dev.url));
  assertStringIncludes(text, "<pre>quiet</pre>");
  assert(!text.includes('href="/__app/traces'));
});
