import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { exchange } from "../helpers.ts";
import { pathOf } from "../../core/http/message.ts";

const URLS = [
  "http://h",
  "http://h/",
  "http://h?x=/a",
  "http://h#/a",
  "http://h/a?b#c",
  "http://h/a#b?c",
  "http://a?b/admin",
  "http://a#b/admin",
  "http://a\\b/p",
  "http://h/p\\q",
  "http://h/a/../b",
  "http://h/a/%2e%2E/b",
  "http://h/a/.%2E/b",
  "http://h/./a",
  "http://h/a/..",
  "http://h/.hidden",
  "http://h//x//y/",
  "http://u:p@h:1/x",
  "http://[::1]:80/x",
  "http://h/café",
  "http://h/a b",
  "http://h/%",
  "http://h/%zz",
  "http://h/a|b[c]^`{}\"<>'",
  "http://h/a;b=c,d",
  "http://h/*",
  "https://h/~a!$&'()*+@:",
  "http://h/a%2Fb",
  "http://h/a\tb",
];

Deno.test("pathOf() returns the same path as the URL parser", () => {
  for (const url of URLS) assertEquals(pathOf(url), new URL(url).pathname, url);
});

Deno.test("pathOf() agrees with the URL parser on every character", () => {
  for (let code = 0; code < 0x180; code++) {
    const char = String.fromCharCode(code);
    for (const url of [`http://h/a${char}b`, `http://h${char}i/b?c`]) {
      const expected = URL.parse(url)?.pathname;
      if (expected !== undefined) assertEquals(pathOf(url), expected, url);
    }
  }
});

Deno.test("pathOf() returns the path of a URL that can't be parsed unchanged", () => {
  assertEquals(pathOf("http://a b/x?y"), "/x");
  assertEquals(pathOf("http://[::1/x"), "/x");
});

Deno.test("Routes and middlewares see the same path for any request target", async () => {
  const app = createApp();
  app.use((_request, { url }, next) => {
    return url.pathname.startsWith("/admin")
      ? new Response("guarded", { status: 403 })
      : next();
  });
  app.route({ path: "/admin/**", handler: () => new Response("SECRET") });
  const server = await app.serve({ port: 0, onListen() {}, signals: false });
  const targets = [
    ["/admin/delete", "h"],
    ["/admin/delete", "h?h"],
    ["/admin/delete", "h#h"],
    ["/admin/delete", "h\\h"],
    ["/admin/delete", "h h"],
    ["/admin/delete", "[::1"],
    ["/admin/../x", "h"],
    ["/admin/%2e%2e/x", "h"],
    ["/admin/x/..\\..\\y", "h"],
    ["/x/../admin/delete", "h"],
    ["http://evil.example/admin/delete", "h"],
  ];
  for (const [target, host] of targets) {
    const answer = await exchange(
      server.address.port,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    assert(!answer.includes("SECRET"), `${target} of ${host} was let in`);
  }
  await server.shutdown();
});

Deno.test("A Host that isn't valid in a URL is answered with 400, not 500", async () => {
  const errors: unknown[] = [];
  const app = createApp({
    onError: (error) => errors.push(error),
    routes: [{ path: "/", loader: ({ context }) => context.url.href }],
  });
  const server = await app.serve({ port: 0, onListen() {}, signals: false });
  const answer = await exchange(
    server.address.port,
    "GET / HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n",
  );
  assertStringIncludes(answer, "HTTP/1.1 400 ");
  assertStringIncludes(answer, "The Host header is malformed");
  assertEquals(errors, []);
  await server.shutdown();
});
