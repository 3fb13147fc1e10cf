import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createUpgrader, serve } from "@quartet/kit/app";
import type {
  ServerWebSocket,
  Upgrader,
  WebSocketHandler,
} from "@quartet/kit/app";
import { captureErrors, exchange, handshake } from "../helpers.ts";

/** Starts a server whose sockets have the path of their request as data. */
function listen(
  handler: Partial<WebSocketHandler<string>>,
): AsyncDisposable & { upgrader: Upgrader<string>; url: string; port: number } {
  const upgrader = createUpgrader<string>({ message() {}, ...handler });
  const server = serve({
    fetch(request) {
      const data = new URL(request.url).pathname;
      return upgrader.upgrade(request, { data })
        ? upgrader.response(request)!
        : new Response("Expected a WebSocket", { status: 426 });
    },
    close: () => upgrader.close(),
  }, { port: 0, signals: false, shutdownTimeout: 3_600, onListen() {} });
  const { port } = server.address;
  return {
    upgrader,
    port,
    url: `ws://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Connects a client. It's closed at the end of its block. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const messages: (string | ArrayBuffer)[] = [];
  const waiting: ((message: string | ArrayBuffer) => void)[] = [];
  socket.onmessage = ({ data }) => {
    const next = waiting.shift();
    if (next === undefined) messages.push(data);
    else next(data);
  };
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  await new Promise((resolve) => socket.onopen = resolve);
  return {
    socket,
    closed,
    next: (): Promise<string | ArrayBuffer> => {
      const message = messages.shift();
      return message === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(message);
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await closed;
    },
  };
}

Deno.test("message() receives text as a string and bytes as a Uint8Array", async () => {
  const received: unknown[] = [];
  await using server = listen({
    message(ws, message) {
      received.push(message);
      ws.send(
        typeof message === "string" ? `${message}!` : new Uint8Array([9]),
      );
    },
  });
  await using client = await connect(server.url);
  client.socket.send("héllo");
  assertEquals(await client.next(), "héllo!");
  client.socket.send(new Uint8Array([1, 2, 3]));
  assertEquals(
    new Uint8Array(await client.next() as ArrayBuffer),
    new Uint8Array([9]),
  );
  client.socket.send("");
  assertEquals(await client.next(), "!");
  assertEquals(received, ["héllo", new Uint8Array([1, 2, 3]), ""]);
});

Deno.test("open() runs before the first message and can send", async () => {
  const order: string[] = [];
  await using server = listen({
    open(ws) {
      order.push("open");
      assertEquals(ws.readyState, WebSocket.OPEN);
      ws.send("welcome");
    },
    message: () => void order.push("message"),
  });
  await using client = await connect(server.url);
  assertEquals(await client.next(), "welcome");
  client.socket.send("x");
  client.socket.close();
  await client.closed;
  assertEquals(order, ["open", "message"]);
});

Deno.test("Each connection has its own data, which the handler can change", async () => {
  await using server = listen({
    message(ws, message) {
      ws.data += message;
      ws.send(ws.data);
    },
  });
  await using a = await connect(`${server.url}a`);
  await using b = await connect(`${server.url}b`);
  a.socket.send("1");
  assertEquals(await a.next(), "/a1");
  b.socket.send("2");
  assertEquals(await b.next(), "/b2");
  a.socket.send("3");
  assertEquals(await a.next(), "/a13");
});

Deno.test("All calls of a handler receive the same connection object", async () => {
  const seen: ServerWebSocket<string>[] = [];
  const gone = Promise.withResolvers<void>();
  await using server = listen({
    open: (ws) => void seen.push(ws),
    message: (ws) => void seen.push(ws),
    close(ws) {
      seen.push(ws);
      gone.resolve();
    },
  });
  const client = await connect(server.url);
  client.socket.send("x");
  client.socket.close();
  await client.closed;
  await gone.promise;
  assertEquals(seen.length, 3);
  for (const ws of seen) assertStrictEquals(ws, seen[0]);
});

Deno.test("close() receives the client's code and reason, after the connection was uncounted", async () => {
  const gone = Promise.withResolvers<unknown[]>();
  await using server = listen({
    close(_ws, code, reason) {
      gone.resolve([code, reason, server.upgrader.size]);
    },
  });
  const client = await connect(server.url);
  assertEquals(server.upgrader.size, 1);
  client.socket.close(4001, "enough");
  assertEquals(await gone.promise, [4001, "enough", 0]);
  await client.closed;
});

Deno.test("A handler can close its connection, with code 1000 or its own", async () => {
  await using server = listen({
    message(ws, message) {
      if (message === "plain") ws.close();
      else ws.close(4002, "own");
    },
  });
  for (
    const [message, code, reason] of [
      ["plain", 1000, ""],
      ["own", 4002, "own"],
    ] as const
  ) {
    const client = await connect(server.url);
    client.socket.send(message);
    const event = await client.closed;
    assertEquals([event.code, event.reason], [code, reason]);
  }
});

Deno.test("A client that disconnects without a close frame is closed with code 1006", async () => {
  const gone = Promise.withResolvers<unknown[]>();
  const opened = Promise.withResolvers<void>();
  await using server = listen({
    open: () => opened.resolve(),
    close: (_ws, code, reason) => gone.resolve([code, reason]),
  });
  const connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  await connection.write(new TextEncoder().encode(handshake()));
  await connection.read(new Uint8Array(1024));
  await opened.promise;
  connection.close();
  assertEquals(await gone.promise, [1006, ""]);
  assertEquals(server.upgrader.size, 0);
});

Deno.test("send() does nothing after the connection is closed", async () => {
  const gone = Promise.withResolvers<ServerWebSocket<string>>();
  await using server = listen({
    message(ws) {
      ws.close();
      ws.send("while it closes");
    },
    close: (ws) => gone.resolve(ws),
  });
  const client = await connect(server.url);
  let received = 0;
  client.socket.onmessage = () => received++;
  client.socket.send("x");
  await client.closed;
  const ws = await gone.promise;
  ws.send("text");
  ws.send(new Uint8Array(1));
  ws.close();
  assertEquals(ws.readyState, WebSocket.CLOSED);
  assertEquals(received, 0);
});

Deno.test("drain() runs when all buffered data has been sent", async () => {
  const SIZE = 1 << 20;
  const COUNT = 32;
  const drained = Promise.withResolvers<number>();
  let backlog = 0;
  await using server = listen({
    open(ws) {
      for (let i = 0; i < COUNT; i++) ws.send(new Uint8Array(SIZE));
      backlog = ws.bufferedAmount;
    },
    drain: (ws) => drained.resolve(ws.bufferedAmount),
  });
  await using client = await connect(server.url);
  for (let i = 0; i < COUNT; i++) {
    assertEquals((await client.next() as ArrayBuffer).byteLength, SIZE);
  }
  assertEquals(await drained.promise, 0);
  assert(backlog > 0, "some data was buffered");
});

Deno.test("upgrade() returns false for a request that isn't a WebSocket handshake", async () => {
  const upgrader = createUpgrader<undefined>({ message() {} });
  const plain = new Request("http://localhost/");
  assertStrictEquals(upgrader.upgrade(plain, { data: undefined }), false);
  assertStrictEquals(upgrader.response(plain), undefined);

  await using server = listen({});
  for (
    const changes of [
      { Upgrade: undefined, Connection: "close" },
      { Upgrade: "h2c", Connection: "Upgrade, close" },
      { Connection: "close" },
      { Connection: "Upgrade, close", "Sec-WebSocket-Key": undefined },
      { Connection: "Upgrade, close", "Sec-WebSocket-Version": undefined },
      { Connection: "Upgrade, close", "Sec-WebSocket-Version": "8" },
    ]
  ) {
    const answer = await exchange(
      server.port,
      handshake(changes),
    );
    assertMatch(answer, /^HTTP\/1.1 426 /, JSON.stringify(changes));
  }
  const post = handshake({ Connection: "Upgrade, close" }, { method: "POST" });
  assertMatch(
    await exchange(server.port, post),
    /^HTTP\/1.1 426 /,
  );
  assertEquals(server.upgrader.size, 0);
});

Deno.test("upgrade() accepts handshakes as browsers and proxies write them", async () => {
  await using server = listen({});
  for (
    const changes of [
      { Connection: "keep-alive, Upgrade" },
      { Connection: "upgrade" },
      { Upgrade: "WebSocket" },
    ]
  ) {
    using connection = await Deno.connect({
      hostname: "127.0.0.1",
      port: server.port,
    });
    const text = handshake(changes);
    await connection.write(new TextEncoder().encode(text));
    const buffer = new Uint8Array(1024);
    const size = await connection.read(buffer);
    const answer = new TextDecoder().decode(buffer.subarray(0, size!));
    assertMatch(answer, /^HTTP\/1.1 101 /, JSON.stringify(changes));
  }
});

Deno.test("Upgrader.close() closes every connection with code 1001", async () => {
  const codes: number[] = [];
  await using server = listen({ close: (_ws, code) => void codes.push(code) });
  const clients = await Promise.all(
    Array.from({ length: 10 }, () => connect(server.url)),
  );
  assertEquals(server.upgrader.size, 10);
  await Promise.all([server.upgrader.close(), server.upgrader.close()]);
  assertEquals(server.upgrader.size, 0);
  assertEquals(codes.length, 10);
  for (const { closed } of clients) assertEquals((await closed).code, 1001);
});

Deno.test("Upgrader.close() also closes a connection that hasn't opened yet", async () => {
  const opened: unknown[] = [];
  const upgrader = createUpgrader<null>({
    message() {},
    open: (ws) => void opened.push(ws),
  });
  let closed: Promise<void> | undefined;
  await using server = serve({
    fetch(request) {
      assert(upgrader.upgrade(request, { data: null }));
      closed = upgrader.close();
      return upgrader.response(request)!;
    },
  }, { port: 0, signals: false, onListen() {} });
  await using client = await connect(`ws://127.0.0.1:${server.address.port}`);
  const { code, reason } = await client.closed;
  assertEquals([code, reason], [1001, "Going away"]);
  await closed;
  assertEquals([upgrader.size, opened], [0, []]);
});

Deno.test("Upgrader.close() does nothing without connections", async () => {
  const upgrader = createUpgrader<undefined>({ message() {} });
  assertEquals(upgrader.size, 0);
  await upgrader.close();
});

Deno.test("An upgrader accepts new connections after close()", async () => {
  await using server = listen({ message: (ws) => ws.send("again") });
  const first = await connect(server.url);
  await server.upgrader.close();
  await first.closed;
  await using second = await connect(server.url);
  second.socket.send("x");
  assertEquals(await second.next(), "again");
});

Deno.test("await using closes an upgrader's connections", async () => {
  await using server = listen({});
  const client = await connect(server.url);
  {
    await using upgrader = server.upgrader;
    assertEquals(upgrader.size, 1);
  }
  assertEquals(server.upgrader.size, 0);
  assertEquals((await client.closed).code, 1001);
});

for (
  const [how, fail] of [
    ["throws", () => {
      throw new Error("boom");
    }],
    ["rejects", () => Promise.reject(new Error("boom"))],
  ] as const
) {
  Deno.test(`A handler that ${how} closes its own connection with code 1011 and no other`, async () => {
    using captured = captureErrors();
    await using server = listen({
      message(ws, message) {
        if (message === "fail") return fail();
        if (message === "\x1b[2J") throw new Error(message);
        ws.send(message as string);
      },
    });
    await using other = await connect(server.url);
    const client = await connect(server.url);
    client.socket.send("fail");
    assertEquals((await client.closed).code, 1011);
    const hostile = await connect(server.url);
    hostile.socket.send("\x1b[2J");
    assertEquals((await hostile.closed).code, 1011);
    other.socket.send("alive");
    assertEquals(await other.next(), "alive");
    assertEquals(captured.calls.length, 2);
    assertEquals((captured.calls[0]![1] as Error).message, "boom");
    const [, printed] = captured.calls[1]!;
    assert(!String(printed).includes("\x1b"), "a terminal would interpret it");
  });
}

Deno.test("createUpgrader() rejects a handler without a function message", () => {
  // A name from another library, in code without types.
  const handler = { onMessage() {} } as never;
  assertThrows(
    () => createUpgrader(handler),
    TypeError,
    "Cannot create upgrader: handler must be an object of callbacks, received an object without a function message",
  );
});
