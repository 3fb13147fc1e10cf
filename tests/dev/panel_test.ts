import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveApp, type ServedApp } from "./dev_command.ts";

const TAG = '<script async src="/__app/traces/panel.js"></script>';
const HEAD = "<!doctype html>\n<html lang='en'><!-- > --><head id='a>b'>";
const PAGE = `${HEAD}<title>Ä</title></head><body>Hello</body></html>`;
const WITH_PANEL = PAGE.replace("<title>", `${TAG}<title>`);

const APP = `
  const PAGE = ${JSON.stringify(PAGE)};
  const html = (body, headers = {}, status = 200) => {
    const type = { "content-type": "text/html; charset=utf-8" };
    return new Response(body, { status, headers: { ...type, ...headers } });
  };
  const policy = (text) => ({ "content-security-policy": text });
  const zip = (text) =>
    new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const streams = new Map();
  /** Sends a page in pieces of so many bytes. */
  const pieces = (text, size) => {
    const bytes = new TextEncoder().encode(text);
    return ReadableStream.from(function* () {
      for (let at = 0; at < bytes.length; at += size) {
        yield bytes.slice(at, at + size);
      }
    }());
  };
  const routes = {
    "/": () => html(PAGE, {
      "content-length": String(new TextEncoder().encode(PAGE).length), "etag": '"v1"', "last-modified": "yesterday",
      "cache-control": "max-age=60", "x-app": "1", "set-cookie": "a=1",
    }),
    "/bare": () => html("<!-- a --><!DOCTYPE html><p>Hi"),
    "/html": () => html("\\uFEFF <HTML><p>Hi"),
    "/mark": () => html(pieces("\\uFEFF<html><p>Hi", 1)),
    "/error": () => html(PAGE, {}, 404),
    "/fragment": () => html("<header>Hi</header>"),
    "/text": () => html(PAGE, { "content-type": "text/plain" }),
    "/empty": () => html(null),
    "/download": () => html(PAGE, { "content-disposition": "attachment" }),
    "/inline": () => html(PAGE, { "content-disposition": "inline" }),
    "/range": () => html(PAGE, { "content-range": "bytes 0-9/90" }, 206),
    "/same": () => new Response(null, { status: 304, headers: { etag: "1" } }),
    "/moved": () => html(PAGE, { location: "/" }, 302),
    "/gzip": () => html(zip(PAGE), { "content-encoding": "gzip" }),
    "/fixed": () => html(PAGE, { "cache-control": "no-transform" }),
    "/none": () => html(PAGE, policy("default-src 'none'; style-src 'self'")),
    "/deaf": () => html(PAGE, policy("script-src 'self'; connect-src a.b")),
    "/boxed": () => html(PAGE, policy("sandbox allow-scripts")),
    "/hash": () =>
      html(PAGE, policy("script-src 'strict-dynamic' 'sha256-aaa' 'self'")),
    "/meta": () => html(PAGE.replace("<title>",
      '<meta http-equiv="Content-Security-Policy" content="script-src a.b"><title>')),
    "/self": () => html(PAGE, policy("default-src 'self'; script-src *")),
    "/nonce": () => html(PAGE, policy("script-src 'nonce-aB+/=' 'strict-dynamic'")),
    "/both": () => html(PAGE, policy("script-src 'self' 'nonce-b', script-src 'nonce-b' c.d")),
    "/unframed": () => html(PAGE, policy("frame-src 'none'")),
    "/socket": (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = () => socket.send("hello");
      return response;
    },
    "/stream": () => html(new ReadableStream({
      start(controller) { streams.set("stream", controller); },
    }).pipeThrough(new TextEncoderStream())),
    "/send": () => {
      streams.get("stream").enqueue("rest");
      streams.get("stream").close();
      return new Response("sent");
    },
  };
  export default {
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/stream") {
        const response = routes["/stream"]();
        streams.get("stream").enqueue(PAGE);
        return response;
      }
      const size = searchParams.get("size");
      if (size !== null) return html(pieces(PAGE, Number(size)));
      return (routes[pathname] ?? (() => html("", {}, 404)))(request);
    },
  };`;

interface App extends ServedApp {
  /** Requests a path as a browser that opens it in a tab. */
  open(path: string, init?: RequestInit): Promise<Response>;
}

async function start(...args: string[]): Promise<App> {
  const app = await serveApp(APP, "--trace", ...args);
  return {
    ...app,
    open: (path, init = {}) =>
      fetch(new URL(path, app.url), {
        redirect: "manual",
        ...init,
        headers: { "sec-fetch-dest": "document", ...init.headers },
      }),
  };
}

async function textOf(response: Promise<Response>): Promise<string> {
  return await (await response).text();
}

/** Ends an app, and returns what it has warned of. */
async function warningsOf({ child }: App): Promise<string[]> {
  child.kill("SIGTERM");
  await child.code;
  return child.stderr.trimEnd().split("\n");
}

Deno.test("The panel's script goes to the start of a page's head, and leaves the rest as it is", async () => {
  await using app = await start();
  const response = await app.open("/");
  assertEquals(await response.text(), WITH_PANEL);
  const { headers } = response;
  assertEquals(headers.get("x-app"), "1");
  assertEquals(headers.getSetCookie(), ["a=1"]);
  assertEquals(headers.get("cache-control"), "max-age=60");
  // These describe or confirm the bytes without the panel.
  for (const name of ["content-length", "etag", "last-modified"]) {
    assertEquals(headers.get(name), null, name);
  }
  assertEquals(
    await textOf(app.open("/bare")),
    `<!-- a --><!DOCTYPE html>${TAG}<p>Hi`,
  );
  const bytes = await (await app.open("/html")).bytes();
  assertEquals(
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
    `\uFEFF <HTML>${TAG}<p>Hi`,
  );
  assertEquals(await textOf(app.open("/mark")), `<html>${TAG}<p>Hi`);
  assertEquals(await textOf(app.open("/error")), WITH_PANEL);
  assertEquals(await textOf(app.open("/inline")), WITH_PANEL);
  assertEquals(await textOf(app.open("/", { method: "POST" })), WITH_PANEL);
  for (const size of [1, 2, 3, 5, 7, 16, 17, 18, 40, 60]) {
    const text = await textOf(app.open(`/?size=${size}`));
    assertEquals(text, WITH_PANEL, `pieces of ${size} bytes`);
  }
});

Deno.test("The panel leaves alone all responses that aren't whole pages in a tab", async () => {
  await using app = await start();
  const unchanged: [path: string, text?: string][] = [
    ["/fragment", "<header>Hi</header>"],
    ["/text"],
    ["/empty", ""],
    ["/download"],
    ["/range"],
    ["/same", ""],
    ["/moved"],
    ["/fixed"],
    // Deno's fetch decompresses it.
    ["/gzip"],
  ];
  for (const [path, text = PAGE] of unchanged) {
    assertEquals(await textOf(app.open(path)), text, path);
  }
  assertEquals((await app.open("/same")).headers.get("etag"), "1");
  const head = await app.open("/", { method: "HEAD" });
  assertEquals(head.headers.get("etag"), '"v1"');
  assertEquals(await textOf(app.open("/error", { method: "POST" })), PAGE);
  const others: HeadersInit[] = [
    { "sec-fetch-dest": "iframe" },
    // As from `fetch` and htmx.
    { "sec-fetch-dest": "empty", "hx-request": "true" },
    { "sec-fetch-dest": "" },
    { "x-forwarded-for": "192.0.2.1" },
  ];
  for (const headers of others) {
    const response = await app.open("/", { headers });
    assertEquals(response.headers.get("etag"), '"v1"');
    assertEquals(await response.text(), PAGE, JSON.stringify(headers));
  }
  const { promise: greeting, ...socket } = Promise.withResolvers<unknown>();
  const ws = new WebSocket(new URL("/socket", app.url));
  ws.onmessage = ({ data }) => socket.resolve(data);
  ws.onerror = () => socket.resolve("an error");
  assertEquals(await greeting, "hello");
  ws.close();
  assertEquals(await warningsOf(app), [
    "GET /fixed has no trace panel: its Cache-Control has no-transform",
    "GET /gzip has no trace panel: its Content-Encoding is gzip",
  ]);
});

Deno.test("The panel obeys a page's policy, and the terminal names the directive that forbids it, once", async () => {
  await using app = await start();
  const tag = (attribute: string) =>
    PAGE.replace("<title>", `${TAG.replace("></", ` ${attribute}></`)}<title>`);
  assertEquals(await textOf(app.open("/self")), WITH_PANEL);
  assertEquals(await textOf(app.open("/nonce")), tag('nonce="aB+/="'));
  assertEquals(await textOf(app.open("/both")), tag('nonce="b"'));
  assertEquals(await textOf(app.open("/unframed")), tag('data-frame="no"'));
  const script = "must allow 'self' or a nonce";
  const refused: [path: string, reason: string][] = [
    ["/none", `default-src of its Content-Security-Policy ${script}`],
    ["/hash", `script-src of its Content-Security-Policy ${script}`],
    [
      "/deaf",
      "connect-src of its Content-Security-Policy must allow 'self' for connections",
    ],
    [
      "/boxed",
      "sandbox of its Content-Security-Policy must have allow-same-origin",
    ],
  ];
  for (const [path] of refused) {
    assertEquals(await textOf(app.open(path)), PAGE, path);
    assertEquals(await textOf(app.open(path)), PAGE, path);
  }
  const meta = await textOf(app.open("/meta"));
  assert(!meta.includes("panel.js"));
  assertEquals(
    await warningsOf(app),
    refused.map(([path, reason]) =>
      `GET ${path} has no trace panel: ${reason}`
    ),
  );
});

Deno.test("The start of a streamed page arrives before the rest exists", async () => {
  await using app = await start();
  const response = await app.open("/stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  while (!text.endsWith("</html>")) text += (await reader.read()).value;
  assertEquals(text, WITH_PANEL);
  await textOf(app.open("/send"));
  while (!text.endsWith("rest")) text += (await reader.read()).value;
  assertEquals((await reader.read()).done, true);
});

Deno.test("Under dev --trace, only pages of the same origin can frame the viewer", async () => {
  await using app = await start();
  const { body, headers } = await app.open("/__app/traces");
  await body?.cancel();
  assertMatch(
    headers.get("content-security-policy")!,
    /^default-src 'none'; .*; frame-ancestors 'self'$/,
  );
});

Deno.test("The panel's socket answers pages of its own origin that send trace ids", async () => {
  await using app = await start();
  const response = await app.open("/");
  await response.body?.cancel();
  const id = response.headers.get("x-app-trace-id");
  const path = "/__app/traces/panel";
  const statusOf = async (headers: Record<string, string>) => {
    const { body, status } = await app.open(path, { headers });
    await body?.cancel();
    return status;
  };
  assertEquals(await statusOf({ origin: "http://evil.example" }), 403);
  assertEquals(await statusOf({}), 400);
  const url = new URL(path, response.url.replace("http", "ws"));
  const ask = (message: string | Uint8Array<ArrayBuffer>) =>
    new Promise<MessageEvent | CloseEvent>((resolve) => {
      const socket = new WebSocket(url);
      let answer: MessageEvent | undefined;
      socket.onopen = () => socket.send(message);
      socket.onmessage = (event) => {
        answer = event;
        socket.close();
      };
      socket.onclose = (event) => resolve(answer ?? event);
    });
  const answer = await ask(JSON.stringify([id])) as MessageEvent;
  const { duration, ...state } = JSON.parse(answer.data);
  assertEquals(typeof duration, "number");
  assertEquals(state, {
    traceId: id,
    requests: 1,
    queries: 0,
    cacheHits: 0,
    cacheLookups: 0,
    errors: 0,
    findings: [],
  });
  // On Node without sockets, the page asks in this way.
  const once = await app.open(`${path}?ids=["${id}"]`);
  assertEquals(await once.text(), answer.data);
  const unknown = await ask(`["${"0".repeat(32)}"]`) as MessageEvent;
  assertEquals(JSON.parse(unknown.data).traceId, undefined);
  const wrong = [
    "",
    "7",
    '["../"]',
    JSON.stringify(Array(101).fill(id)),
    `${" ".repeat(9_000)}[]`,
    new Uint8Array(2),
  ];
  for (const message of wrong) {
    const { code } = await ask(message) as CloseEvent;
    assertEquals(code, 1008, String(message));
  }
});

Deno.test("With --no-panel, pages stay as they are, and the script isn't served", async () => {
  await using app = await start("--no-panel");
  const response = await app.open("/");
  assertEquals(response.headers.get("etag"), '"v1"');
  assertEquals(await response.text(), PAGE);
  const script = await app.open("/__app/traces/panel.js");
  assertEquals(script.status, 404);
  assertMatch(await script.text(), /nothing at this path/);
});
