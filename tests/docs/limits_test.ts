/**
 * The figures of `docs/limits.md`. Each test reads its figure from the page,
 * and tries values just below and just above it.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createApp, createUpgrader } from "@quartet/kit/app";
import {
  createAuthPlugin,
  createMemorySessionStore,
  hashPassword,
} from "@quartet/kit/auth";
import { createCache, createRevalidationHandler } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  createCollector,
  createOTLPReceiver,
  createTracer,
  createTracesAPIHandler,
} from "@quartet/kit/trace";
import { MAX_TOKEN_LENGTH } from "../../auth/tokens/jwt.ts";
import * as bounds from "../../trace/record/limits.ts";
import { handshake } from "../helpers.ts";
import { statusOf } from "../trace/ask_for_traces.ts";
import { figure, rows } from "./limits_page.ts";

Deno.test("Each limit on the page has a default, a setting, a consequence and an enforcer", () => {
  assert(rows.size > 60);
  for (const [limit, cells] of rows) {
    assertEquals(cells.length, 5, limit);
    assert(cells.every((cell) => cell !== ""), limit);
    assert(["kit", "runtime", "proxy", "your code"].includes(cells[4]!), limit);
  }
});

Deno.test("Bodies over the documented limit are rejected", async () => {
  const headers = { "content-type": "application/json" };
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const api = createTracesAPIHandler(createTracer(), {
    authorize: () => true,
    collector: createCollector(createTracer()),
  });
  const secret = "secret";
  const app = createApp();
  app.route({
    path: "/",
    action: async ({ request }) => {
      await request.text();
      return new Response(null, { status: 400 });
    },
  });
  const cases: [string, (body: string) => Promise<Response>][] = [
    [
      "body of an app's route",
      (body) =>
        app.fetch(new Request("http://localhost/", { method: "POST", body })),
    ],
    [
      "body of an RPC call",
      (body) =>
        router.handler(
          new Request("http://localhost/", { method: "POST", headers, body }),
          undefined,
        ),
    ],
    [
      "body of the revalidation route",
      (body) =>
        createRevalidationHandler(secret)(
          new Request("http://localhost/", {
            method: "POST",
            headers: { ...headers, authorization: `Bearer ${secret}` },
            body,
          }),
        ),
    ],
    [
      "body of posted spans",
      (body) => api(new Request("http://localhost/", { method: "POST", body })),
    ],
  ];
  for (const [limit, send] of cases) {
    const length = figure(limit);
    for (const excess of [0, 1]) {
      const response = await send(`"${"x".repeat(length - 2 + excess)}"`);
      const text = await response.text();
      assertEquals(response.status, excess ? 413 : 400, limit);
      // The app's own 400 has no body.
      const code = text === "" ? undefined : JSON.parse(text).error.code;
      assertEquals(code === "PAYLOAD_TOO_LARGE", excess === 1, limit);
    }
  }
});

Deno.test("RPC batches and messages have the documented maximum size", async () => {
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const calls = figure("calls in a batch");
  for (const [length, status] of [[calls, 200], [calls + 1, 413]] as const) {
    const response = await router.handler(
      new Request("http://localhost/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ batch: Array(length).fill({ path: ["ping"] }) }),
      }),
      undefined,
    );
    await response.body?.cancel();
    assertEquals(response.status, status);
  }

  const app = createApp({ plugins: [rpcPlugin({ router })] });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const { port } = server.address;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/rpc`);
  await new Promise((resolve) => socket.onopen = resolve);
  const size = figure("message on a socket");
  for (const excess of [0, 1]) {
    const reply = new Promise<MessageEvent>((resolve) =>
      socket.onmessage = resolve
    );
    const frame = JSON.stringify({ type: "ping", pad: "" });
    const pad = "x".repeat(size - frame.length + excess);
    socket.send(JSON.stringify({ type: "ping", pad }));
    const { type, error } = JSON.parse((await reply).data);
    assertEquals(type, excess ? "error" : "pong");
    assertEquals(error?.code, excess ? "PAYLOAD_TOO_LARGE" : undefined);
  }
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
});

Deno.test("A service's request has the documented limits", async () => {
  const receive = createOTLPReceiver(createTracer(), {
    authorize: () => true,
  });
  const send = (body: string) =>
    receive(
      new Request("http://localhost/v1/traces", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      }),
    );
  const answerTo = async (body: string) => {
    const response = await send(body);
    await response.body?.cancel();
    return response.status;
  };
  const size = figure("body of a service's spans");
  for (const excess of [0, 1]) {
    const body = `"${"x".repeat(size - 2 + excess)}"`;
    assertEquals(await answerTo(body), excess ? 413 : 400);
  }
  const objects = figure("objects in a service's request");
  const listOf = (empty: number) => `[${Array(empty).fill("{}").join(",")}]`;
  // These are empty requests.
  assertEquals(await answerTo(listOf(objects - 1)), 200);
  assertMatch(await (await send(listOf(objects))).text(), /at most 500000/);
  const spans = figure("spans or logs of a service's request");
  const traces = `{"resourceSpans":[{"scopeSpans":[{"spans":${
    listOf(spans + 1)
  }}]}]}`;
  assertMatch(await (await send(traces)).text(), /"rejectedSpans":"20001"/);
});

Deno.test("One public address can open the documented number of sockets", async () => {
  const upgrader = createUpgrader<undefined>({ message() {} });
  const info = {
    remoteAddr: { transport: "tcp", hostname: "203.0.113.1", port: 1 },
  } as const;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      upgrader.upgrade(request, { data: undefined, info });
      return upgrader.response(request) ?? new Response(null, { status: 426 });
    },
  );
  const target = { hostname: "127.0.0.1", port: server.addr.port };
  const max = figure("sockets of an address");
  const connections: WebSocket[] = [];
  for (let i = 0; i < max; i++) {
    const socket = new WebSocket(`ws://127.0.0.1:${target.port}`);
    await new Promise((resolve) => socket.onopen = resolve);
    connections.push(socket);
  }
  assertEquals(await statusOf(target, handshake()), 429);
  const closed = connections.map((socket) =>
    new Promise((resolve) => socket.onclose = resolve)
  );
  await upgrader.close();
  await Promise.all(closed);
});

Deno.test("createTracer() keeps the documented number of traces and spans", () => {
  const tracer = createTracer();
  const traces = figure("traces kept");
  for (let i = 0; i <= traces; i++) tracer.startTrace(`job ${i}`).end();
  assertEquals(tracer.getTraces().length, traces);
  const spans = figure("spans of a trace");
  const root = tracer.startTrace("many");
  for (let i = 0; i < spans; i++) root.child("step", "custom").end();
  root.end();
  assertEquals(tracer.getTrace(root.traceId)?.spans.size, spans);
});

Deno.test("A trace has the documented bounds", () => {
  const documented = {
    MAX_RUNNING_TRACES: figure("traces that run at once"),
    MAX_ATTRIBUTES: figure("attributes of a span"),
    MAX_EVENT_ATTRIBUTES: figure("attributes of an event"),
    MAX_EVENTS: figure("events of a span"),
    MAX_NAME_LENGTH: figure("characters of a name"),
    MAX_KEY_LENGTH: figure("characters of an attribute's key"),
    MAX_VALUE_LENGTH: figure("characters of an attribute's value"),
    TRACE_SIZE: figure("attributes and events of a trace"),
  };
  for (const [name, value] of Object.entries(documented)) {
    assertEquals(bounds[name as keyof typeof documented], value, name);
  }
});

Deno.test("createMemorySessionStore() holds the documented number of sessions, in total and per user", () => {
  const store = createMemorySessionStore();
  const set = (id: string, userId: string) =>
    store.set({
      id,
      userId,
      payload: { sub: userId, iat: 0, exp: 1e10 },
      createdAt: 0,
      refreshedAt: 0,
      expiresAt: Date.now() + 60_000,
    });
  const perUser = figure("sessions of a user in memory");
  for (let i = 0; i <= perUser; i++) set(`one ${i}`, "ada");
  assertEquals(store.listByUser("ada").length, perUser);
  const max = figure("sessions in memory");
  for (let i = 0; i <= max; i++) set(`many ${i}`, `user ${i}`);
  assertEquals(store.size, max);
});

Deno.test("Passwords and session tokens have the documented maximum length", async () => {
  const max = figure("password");
  const cheap = { ln: 10 };
  await hashPassword("x".repeat(max), cheap);
  await assertRejects(
    () => hashPassword("x".repeat(max + 1), cheap),
    TypeError,
  );
  assertEquals(
    figure("session token, from cookies or a bearer"),
    MAX_TOKEN_LENGTH,
  );
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const headers = {
    authorization: `Bearer ${"x".repeat(MAX_TOKEN_LENGTH + 1)}`,
  };
  const found = await auth.authenticate(
    new Request("http://localhost/", { headers }),
  );
  assertEquals(found.isAuthenticated(), false);
  await auth.close();
});

Deno.test("createCache() keeps the documented number of entries", async () => {
  const cache = createCache();
  const max = figure("entries in memory");
  for (let id = 0; id <= max; id++) {
    await cache.cached(`entry ${id}`, () => id, { maxAge: 60 });
  }
  assertEquals(cache.stats().entries, max);
});
