/**
 * Access to traces: `authorize` decides separately about reading traces and
 * posting spans.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createAuthPlugin, credentials } from "@quartet/kit/auth";
import {
  type Authorize,
  createCollector,
  createTracer,
  createTracesAPIHandler,
  createTraceWebSocket,
  createViewerHandler,
  type TraceAccess,
  tracePlugin,
  type Tracer,
} from "@quartet/kit/trace";
import { handshake } from "../helpers.ts";
import { all, askForTraces, statusOf } from "./ask_for_traces.ts";

// deno-lint-ignore no-explicit-any -- tests read any field
type Message = any;

/** Serves a tracer with the plugin. */
async function serveTraces(tracer: Tracer, authorize: Authorize) {
  const errors: unknown[] = [];
  const app = createApp({
    trace: tracePlugin(tracer, { authorize }),
    onError: (error) => errors.push(error),
  });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const { port } = server.address;
  return {
    errors,
    target: { hostname: "127.0.0.1", port },
    url: `http://127.0.0.1:${port}/__app/traces`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Opens a socket that records its messages, with a function to wait for more.
 */
async function connect(url: string) {
  const socket = new WebSocket(url.replace("http", "ws"));
  const messages: Message[] = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    messages.push(JSON.parse(data));
    wake();
  };
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => resolve();
  });
  await new Promise((resolve) => socket.onopen = resolve);
  return {
    messages,
    send: (message: unknown) =>
      socket.send(
        typeof message === "string" ? message : JSON.stringify(message),
      ),
    async next(): Promise<Message> {
      while (messages.length === 0) {
        await new Promise<void>((resolve) => wake = resolve);
      }
      return messages.shift();
    },
    async close() {
      socket.close();
      await closed;
    },
  };
}

const spansFor = (traceId: string) => ({
  type: "client:spans",
  traceId,
  spans: [{
    id: "00f067aa0ba902b7",
    name: "paint",
    startTime: Date.now(),
    endTime: Date.now(),
  }],
});

/** Returns a tracer with a finished trace. */
function traced() {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /");
  root.end();
  return { tracer, traceId: root.traceId };
}

Deno.test("authorize receives the kind of access, read or write, for each request", async () => {
  const accesses: TraceAccess[] = [];
  const authorize: Authorize = (_request, _info, access) => {
    accesses.push(access);
    return true;
  };
  const { tracer } = traced();
  const collector = createCollector(tracer);
  const viewer = createViewerHandler({ authorize });
  const api = createTracesAPIHandler(tracer, { authorize, collector });
  const readOnly = createTracesAPIHandler(tracer, { authorize });
  await using stream = createTraceWebSocket(tracer, { authorize });
  const cases = [
    [viewer, "GET", "", ["read"]],
    [viewer, "HEAD", "", ["read"]],
    [viewer, "POST", "", ["read"]],
    [api, "GET", "", ["read"]],
    [api, "GET", "?role=client", ["read"]],
    [api, "HEAD", "", ["read"]],
    [api, "POST", "", ["write"]],
    [api, "POST", "?id=1", ["write"]],
    [api, "PUT", "", ["read"]],
    [api, "OPTIONS", "", ["read"]],
    [readOnly, "POST", "", ["write"]],
    [stream.upgrade, "GET", "?role=client", ["write"]],
    [stream.upgrade, "POST", "?role=client", ["write"]],
    [stream.upgrade, "GET", "", ["read", "write"]],
    [stream.upgrade, "GET", "?role=", ["read", "write"]],
    [stream.upgrade, "GET", "?role=CLIENT", ["read", "write"]],
    [stream.upgrade, "GET", "?role=viewer&role=client", ["read", "write"]],
    [stream.upgrade, "GET", "?ROLE=client", ["read", "write"]],
    [stream.upgrade, "GET", "#?role=client", ["read", "write"]],
  ] as const;
  for (const [handler, method, query, expected] of cases) {
    accesses.length = 0;
    const request = new Request(`http://localhost/t${query}`, { method });
    const response = await handler(request);
    await response.body?.cancel();
    assertEquals(accesses, [...expected], `${method} ${query}`);
  }
});

Deno.test("A caller with write access can only post", async () => {
  const { tracer, traceId } = traced();
  await using server = await serveTraces(
    tracer,
    (_request, _info, access) => access === "write",
  );
  assertEquals(await askForTraces(server.target, {}, traceId), {
    viewer: 403,
    api: 403,
    ws: 403,
    post: 202,
    wsClient: 101,
    otlp: 200,
  });
  assertEquals(tracer.getTrace(traceId)?.spans.size, 2);
  const refused = await fetch(server.url);
  assertEquals((await refused.json()).error, {
    code: "FORBIDDEN",
    message: "This request may not read traces: authorize refused it",
  });
});

Deno.test("A caller with read access can't post", async () => {
  const { tracer, traceId } = traced();
  await using server = await serveTraces(
    tracer,
    (_request, _info, access) => access === "read",
  );
  assertEquals(await askForTraces(server.target, {}, traceId), {
    viewer: 200,
    api: 200,
    ws: 101,
    post: 403,
    wsClient: 403,
    otlp: 403,
  });
  const refused = await fetch(`${server.url}/api`, {
    method: "POST",
    body: JSON.stringify(spansFor(traceId)),
  });
  assertEquals((await refused.json()).error, {
    code: "FORBIDDEN",
    message: "This request may not post spans: authorize refused it",
  });

  const socket = await connect(`${server.url}/ws`);
  assertEquals((await socket.next()).type, "initial");
  socket.send(spansFor(traceId));
  assertEquals(await socket.next(), {
    type: "error",
    error: "This socket may not post spans",
  });
  // The trace is still readable.
  tracer.startTrace("job").end();
  assertEquals((await socket.next()).type, "trace:start");
  assertEquals(tracer.getTrace(traceId)?.spans.size, 1);
  await socket.close();
});

Deno.test("No message makes a write-only socket send a trace", async () => {
  const { tracer, traceId } = traced();
  await using server = await serveTraces(
    tracer,
    (_request, _info, access) => access === "write",
  );
  const socket = await connect(`${server.url}/ws?role=client`);
  const types = [
    "initial",
    "subscribe",
    "trace:start",
    "read",
    "role",
    "client:read",
    "__proto__",
  ];
  const hostile = [
    ...types.map((type) => ({ type, role: "viewer", traceId, access: "read" })),
    "",
    "null",
    "[]",
    "{",
    { ...spansFor(traceId), reads: true, role: "viewer", access: "read" },
    { ...spansFor("1".repeat(32)), reads: true },
    { type: "ping", sentAt: { type: "subscribe" }, reads: true },
  ];
  for (const message of hostile) {
    socket.send(message);
    // Other sockets would receive this event.
    tracer.startTrace("secret job").end();
  }
  socket.send({ type: "ping", sentAt: "last" });
  const received = [];
  for (;;) {
    const message = await socket.next();
    if (message.sentAt === "last") break;
    received.push(message);
  }
  assertEquals(
    new Set(received.map(({ type }) => type)),
    new Set(["error", "pong"]),
  );
  assertEquals(JSON.stringify(received).includes("secret job"), false);
  assertEquals(tracer.getTrace(traceId)?.spans.size, 2);
  await socket.close();
});

Deno.test("By default, pages of other sites neither read nor post", async () => {
  const { tracer, traceId } = traced();
  const app = createApp({ trace: tracePlugin(tracer) });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const { port } = server.address;
  const target = { hostname: "127.0.0.1", port };
  const Host = `127.0.0.1:${port}`;
  for (
    const headers of [
      { Host, Origin: "http://evil.example" },
      { Host, Origin: "null" },
      { Host, Origin: `http://localhost:${port}` },
      { Host: "evil.example", Origin: "http://evil.example" },
      // `sendBeacon` and forms send it like this, without a CORS preflight.
      {
        Host,
        Origin: "http://evil.example",
        "Content-Type": "text/plain;charset=UTF-8",
      },
    ]
  ) {
    assertEquals(await askForTraces(target, headers, traceId), all(403));
  }
  assertEquals(tracer.getTrace(traceId)?.spans.size, 1);
  const own = { Host, Origin: `http://${Host}` };
  assertEquals((await askForTraces(target, own, traceId)).post, 202);
});

Deno.test("An authorize that throws, rejects or doesn't return a boolean denies access", async () => {
  const { tracer, traceId } = traced();
  const secret = "postgres://admin:hunter2@db";
  const rules: [unknown, number][] = [
    [() => false, 403],
    [() => undefined, 403],
    [() => null, 403],
    [() => Promise.resolve(undefined), 403],
    [() => 1, 500],
    [() => "yes", 500],
    [() => ({ user: "ada" }), 500],
    [() => Promise.resolve({}), 500],
    [() => Promise.resolve("true"), 500],
    [() => Promise.resolve(() => true), 500],
    [() => {
      throw new Error(secret);
    }, 500],
    [() => Promise.reject(new Error(secret)), 500],
  ];
  for (const [rule, status] of rules) {
    await using server = await serveTraces(tracer, rule as Authorize);
    assertEquals(
      await askForTraces(server.target, {}, traceId),
      all(status),
      String(rule),
    );
    assertEquals(server.errors.length, status === 500 ? 6 : 0);
    const text = await (await fetch(server.url)).text();
    assertEquals(text.includes("hunter2"), false);
    if (typeof server.errors[0] === "object") {
      assertMatch(
        (server.errors[0] as Error).message,
        /^Cannot check access to traces: authorize must return a boolean, received |^postgres:/,
      );
    }
  }
  assertEquals(tracer.getTrace(traceId)?.spans.size, 1);
});

Deno.test("No socket opens if authorize fails on its second call", async () => {
  const { tracer } = traced();
  await using server = await serveTraces(tracer, (_request, _info, access) => {
    if (access === "write") throw new Error("no");
    return true;
  });
  const upgrade = handshake({}, { target: "/__app/traces/ws" });
  assertEquals(await statusOf(server.target, upgrade), 500);
});

Deno.test("With auth, visitors' pages post spans and only admins read them", async () => {
  const tracer = createTracer();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({
      authorize: ({ name }) =>
        Promise.resolve({
          id: String(name),
          roles: name === "ada" ? ["admin"] : [],
        }),
    })],
  });
  let site = "";
  const app = createApp({
    trace: tracePlugin(tracer, {
      // The recipe in docs/viewer.md.
      async authorize(request, info, access) {
        const origin = request.headers.get("origin") ?? site;
        if (origin !== site) return false;
        if (access === "write") return true;
        return (await auth.authenticate(request, info)).hasRole("admin");
      },
    }),
    plugins: [auth],
    routes: [
      { path: "/", handler: () => new Response("the shop") },
      {
        path: "/sign-in/:name",
        action: async ({ params, context }) => {
          await auth.getAuth(context).signIn("credentials", params);
        },
      },
    ],
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const { port } = server.address;
  const target = { hostname: "127.0.0.1", port };
  site = `http://127.0.0.1:${port}`;
  const ended = new Promise((resolve) =>
    tracer.subscribe(resolve, ["trace:end"])
  );
  const page = await fetch(site);
  await page.text();
  await ended;
  const traceId = page.headers.get("x-app-trace-id")!;

  async function cookieOf(name: string): Promise<string> {
    const response = await fetch(`${site}/sign-in/${name}`, { method: "POST" });
    await response.body?.cancel();
    return response.headers.getSetCookie()[0]!.split(";")[0]!;
  }
  const admin = { Cookie: await cookieOf("ada") };
  const member = { Cookie: await cookieOf("bob") };
  const posts = {
    viewer: 403,
    api: 403,
    ws: 403,
    post: 202,
    wsClient: 101,
    otlp: 200,
  };

  assertEquals(await askForTraces(target, { Origin: site }, traceId), posts);
  assertEquals(
    await askForTraces(target, { Origin: site, ...member }, traceId),
    posts,
  );
  assertEquals(
    await askForTraces(target, { Origin: site, ...admin }, traceId),
    { viewer: 200, api: 200, ws: 101, post: 202, wsClient: 101, otlp: 200 },
  );
  // A page of another site makes an admin's browser send a request.
  const foreign = { Origin: "https://evil.example", ...admin };
  assertEquals(await askForTraces(target, foreign, traceId), all(403));
  const { spans } = tracer.getTrace(traceId)!;
  const posted = spans.values().filter(({ name }) => name === "paint");
  assertEquals([...posted].length, 3);
});
