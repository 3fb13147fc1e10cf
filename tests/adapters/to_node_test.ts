/** Sockets on a Node server, with bytes that no well-behaved client sends. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { createApp, createUpgrader, toBun, toNode } from "@quartet/kit/app";
import type { Fetcher, NodeHostOptions, Upgrader } from "@quartet/kit/app";
import { serve } from "@hono/node-server";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer } from "ws";
import {
  captureErrors,
  exchange,
  handshake as handshakeOf,
} from "../helpers.ts";

interface Listening extends AsyncDisposable {
  readonly port: number;
}

/** Serves only an app's sockets. */
async function listen(
  app: Fetcher,
  options: NodeHostOptions = {
    webSocketServer: new WebSocketServer({ noServer: true }),
  },
): Promise<Listening> {
  const server = createServer();
  server.on("upgrade", toNode(app, options).upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends a greeting, then closes the socket. */
function createGreeter(): Upgrader<string> {
  return createUpgrader<string>({
    open(ws) {
      ws.send(`hello ${ws.data}`);
      ws.close(4000, "that was it");
    },
    message() {},
  });
}

function serving(upgrader: Upgrader<string>): Fetcher {
  return {
    fetch(request) {
      if (!upgrader.upgrade(request, { data: new URL(request.url).pathname })) {
        return new Response("no", { status: 426 });
      }
      const response = upgrader.response(request)!;
      response.headers.append("set-cookie", "a=1");
      response.headers.append("set-cookie", "b=2");
      return response;
    },
  };
}

const handshake = (
  changes?: Record<string, string | undefined>,
  method = "GET",
) => handshakeOf(changes, { target: "//a", method });

Deno.test("toNode() keeps the app's headers in the handshake's response, and the path unchanged", async () => {
  const upgrader = createGreeter();
  await using server = await listen(serving(upgrader));
  const url = `ws://127.0.0.1:${server.port}//a`;
  const socket = new WebSocket(url);
  const message = new Promise<MessageEvent>((resolve) => {
    socket.onmessage = resolve;
  });
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  assertEquals((await message).data, "hello //a");
  const { code, reason } = await closed;
  assertEquals([code, reason], [4000, "that was it"]);
  await upgrader.close();
  assertEquals(upgrader.size, 0);
});

Deno.test("toNode() turns on TCP keep-alive for sockets, so that those of vanished clients close", async () => {
  const upgrader = createGreeter();
  const { upgrade } = toNode(serving(upgrader), {
    webSocketServer: new WebSocketServer({ noServer: true }),
  });
  const settings: unknown[][] = [];
  const server = createServer();
  server.on("upgrade", (incoming, connection, head) => {
    const { setKeepAlive } = connection as Socket;
    (connection as Socket).setKeepAlive = (...args: unknown[]) => {
      settings.push(args);
      return Reflect.apply(setKeepAlive, connection, args);
    };
    upgrade(incoming, connection, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}//a`);
  await new Promise((resolve) => socket.onclose = resolve);
  assertEquals(settings, [[true, 30_000]]);
  const closed = once(server, "close");
  server.close();
  await closed;
});

Deno.test("toNode() sends the app's response to an invalid handshake and closes the connection", async () => {
  const upgrader = createGreeter();
  await using server = await listen(serving(upgrader));
  const answer = await exchange(
    server.port,
    handshake({ "Sec-WebSocket-Version": "12" }),
  );
  assertMatch(answer, /^HTTP\/1\.1 426 /);
  assertMatch(answer, /\r\nconnection: close\r\n/);
  // The body ends with the connection.
  assertMatch(answer, /\r\n\r\nno$/);
  assertNotMatch(answer, /\r\n(content-length|transfer-encoding):/);
  assertEquals(upgrader.size, 0);
});

Deno.test("toNode() leaves no socket behind after an invalid Sec-WebSocket-Key", async () => {
  const upgrader = createGreeter();
  await using server = await listen(serving(upgrader));
  const answer = await exchange(
    server.port,
    handshake({ "Sec-WebSocket-Key": "short" }),
  );
  assertMatch(answer, /^HTTP\/1\.1 400 /);
  await upgrader.close();
  assertEquals(upgrader.size, 0);
});

Deno.test("toNode() answers a malformed Host with 400 without calling the app", async () => {
  let asked = 0;
  await using server = await listen({
    fetch() {
      asked++;
      return new Response();
    },
  });
  const answer = await exchange(server.port, handshake({ Host: "a b<" }));
  assertMatch(answer, /^HTTP\/1\.1 400 /);
  assertEquals(asked, 0);
});

Deno.test("toNode() rejects an upgrade to another protocol without calling the app", async () => {
  let asked = 0;
  await using server = await listen({
    fetch() {
      asked++;
      return new Response();
    },
  });
  const POST = { "Content-Length": "4" };
  for (
    const request of [
      `${handshake({ ...POST, Upgrade: "h2c" }, "POST")}body`,
      `${handshake(POST, "POST")}body`,
      `${handshake(POST, "PUT")}body`,
      handshake({}, "HEAD"),
      handshake({ Upgrade: "h2c" }),
      handshake({ Upgrade: "notwebsocket" }),
    ]
  ) {
    const answer = await exchange(server.port, request);
    assertMatch(answer, /^HTTP\/1\.1 400 /, request);
    assertMatch(answer, /without the header Upgrade/);
  }
  assertEquals(asked, 0);
});

Deno.test("On Node a POST that offers HTTP/2 is answered over HTTP/1.1 if the server allows it", async () => {
  const upgrader = createGreeter();
  const greeter = serving(upgrader);
  const { fetch, upgrade } = toNode({
    fetch: async (request) =>
      request.method === "POST"
        ? new Response(`received ${await request.text()}`)
        : await greeter.fetch(request),
  }, { webSocketServer: new WebSocketServer({ noServer: true }) });
  const server = serve({
    fetch,
    hostname: "127.0.0.1",
    port: 0,
    serverOptions: {
      // @types/node lacks this option.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) =>
        headers.upgrade?.toLowerCase() === "websocket",
    } as ServerOptions,
  });
  server.on("upgrade", upgrade);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  try {
    const post = {
      "Content-Length": "4",
      Upgrade: "h2c",
      Connection: "Upgrade, close",
    };
    const answer = await exchange(port, `${handshake(post, "POST")}body`);
    assertMatch(answer, /^HTTP\/1\.1 200 [^]*received body/);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/a`);
    const closed = new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve;
    });
    assertEquals((await closed).code, 4000);
  } finally {
    server.close();
    await once(server, "close");
  }
});

Deno.test("toNode() without webSocketServer answers sockets with 501 and logs the error once", async () => {
  using captured = captureErrors();
  await using server = await listen({ fetch: () => new Response() }, {});
  for (let i = 0; i < 2; i++) {
    assertMatch(
      await exchange(server.port, handshake()),
      /^HTTP\/1\.1 501 /,
    );
  }
  assertEquals(captured.calls.length, 1);
  assertMatch(
    String(captured.calls),
    /Cannot open a WebSocket: pass webSocketServer to toNode\(\): new WebSocketServer/,
  );
});

Deno.test("toNode() sends a response other than the upgrade's and closes its socket", async () => {
  const gone = Promise.withResolvers<number>();
  const upgrader = createUpgrader<null>({
    message() {},
    close: (_, code) => gone.resolve(code),
  });
  await using server = await listen({
    fetch(request) {
      assert(upgrader.upgrade(request, { data: null }));
      return new Response("second thoughts", { status: 403 });
    },
  });
  const answer = await exchange(server.port, handshake());
  assertMatch(answer, /^HTTP\/1\.1 403 [^]*second thoughts$/);
  assertEquals(await gone.promise, 1006);
  assertEquals(upgrader.size, 0);
});

Deno.test("On Node a socket closes with 1011 if the handler's close code or reason is invalid", async () => {
  const farewells: [number, string][] = [[9999, ""], [4000, "x".repeat(200)]];
  for (const farewell of farewells) {
    using _captured = captureErrors();
    const upgrader = createUpgrader<string>({
      message: (ws) => ws.close(...farewell),
    });
    await using server = await listen(serving(upgrader));
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
    socket.onopen = () => socket.send("close");
    const { code } = await new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve;
    });
    assertEquals(code, 1011);
    await upgrader.close();
    assertEquals(upgrader.size, 0);
  }
});

Deno.test("toNode() and toBun() close an upgraded socket when the app returns no response", async () => {
  using _captured = captureErrors();
  for (const answer of [() => undefined, () => Promise.reject("no")]) {
    const upgrader = createGreeter();
    const fetcher = {
      fetch(request: Request) {
        upgrader.upgrade(request, { data: "" });
        return answer() as never;
      },
    };
    {
      await using server = await listen(fetcher);
      await exchange(server.port, handshake());
    }
    assertEquals(upgrader.size, 0);

    const request = new Request("http://localhost/", {
      headers: { upgrade: "websocket" },
    });
    const bun = { requestIP: () => null, upgrade: () => true };
    await assertRejects(
      () =>
        toBun(fetcher).fetch(request, bun).catch((error) => {
          throw new Error(String(error));
        }),
    );
    assertEquals(upgrader.size, 0);
  }
});

Deno.test("toBun() serves below another host, as the dev command does, with the client's address and sockets", async () => {
  const upgrader = createGreeter();
  const inner = toBun({
    fetch: (request, info) =>
      request.headers.has("upgrade")
        ? serving(upgrader).fetch(request)
        : Response.json(info?.remoteAddr ?? null),
  });
  const host = createApp();
  host.use(async (request, { info }) => (await inner.fetch(request, info))!);
  const outer = toBun(host);

  let upgraded = 0;
  const bun = {
    requestIP: () => ({ address: "192.0.2.1", port: 5 }),
    upgrade: () => ++upgraded > 0,
  };
  const url = "http://localhost/a";
  const response = await outer.fetch(new Request(url), bun);
  assertEquals(await response!.json(), {
    transport: "tcp",
    hostname: "192.0.2.1",
    port: 5,
  });
  const opening = new Request(url, {
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    },
  });
  assertEquals(await outer.fetch(opening, bun), undefined);
  assertEquals(upgraded, 1);
  const alone = await inner.fetch(new Request(url), undefined);
  assertEquals(await alone!.json(), null);
  await host.close();
});

Deno.test("toNode() streams a refusal's body and cancels it when the client disconnects", async () => {
  const CHUNK = new Uint8Array(65_536);
  const CHUNKS = 1_024;
  const end = Promise.withResolvers<string>();
  let sent = 0;
  await using server = await listen({
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            if (sent++ < CHUNKS) return controller.enqueue(CHUNK);
            controller.close();
            end.resolve("read to its end");
          },
          cancel: () => end.resolve("cancelled"),
        }),
      ),
  });
  const client = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  await client.write(new TextEncoder().encode(handshake()));
  await client.read(new Uint8Array(1_024));
  client.close();
  assertEquals(await end.promise, "cancelled");
});

Deno.test("toNode() cancels a body without chunks when the client disconnects", async () => {
  const cancelled = Promise.withResolvers<void>();
  await using server = await listen({
    fetch: () =>
      new Response(new ReadableStream({ cancel: () => cancelled.resolve() })),
  });
  const client = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  await client.write(new TextEncoder().encode(handshake()));
  await client.read(new Uint8Array(1_024));
  client.close();
  // The test passes once this resolves.
  await cancelled.promise;
});

Deno.test("toNode() sends a body of many chunks completely", async () => {
  const parts = Array.from({ length: 200 }, (_, i) => `${i}`.repeat(2_000));
  await using server = await listen({
    fetch: () =>
      new Response(
        ReadableStream.from(parts).pipeThrough(new TextEncoderStream()),
      ),
  });
  const answer = await exchange(server.port, handshake());
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  assert(body === parts.join(""), `${body.length} characters`);
});

Deno.test("toNode() and toBun() reject an app without fetch", () => {
  for (const wrong of [undefined, null, {}, () => new Response()]) {
    assertThrows(
      () => toNode(wrong as never),
      TypeError,
      "Cannot serve on Node: the app must be an object with a fetch method",
    );
    assertThrows(
      () => toBun(wrong as never),
      TypeError,
      "Cannot serve on Bun: the app must be an object with a fetch method",
    );
  }
});

Deno.test("toNode() answers 500 and logs the fix if node:http calls its fetch directly", async () => {
  using captured = captureErrors();
  const { fetch: answer } = toNode({ fetch: () => new Response("hello") });
  const server = createServer(answer as never);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assertEquals(response.status, 500);
    await response.body?.cancel();
    assertEquals(captured.calls.length, 1);
    assertMatch(
      String(captured.calls),
      /^Cannot answer: the request must be a Web Request, .* use createServer\(getRequestListener\(toNode\(app\)\.fetch\)\)/,
    );
  } finally {
    server.close();
    await once(server, "close");
  }
});
