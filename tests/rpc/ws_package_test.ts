/** A router's `websocket` handler on a server of the npm package `ws`. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createRouter, procedure, type Router } from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { freePort } from "../helpers.ts";
import { type Client, connect, errorLog, subscribe, until } from "./helpers.ts";

/** Types of a message's bytes in `ws`. */
type BinaryType = "nodebuffer" | "arraybuffer" | "fragments";

/** Serves a router's sockets as in the documentation. */
async function serveWithWs(
  { websocket }: Pick<Router, "websocket">,
  binaryType: BinaryType = "nodebuffer",
) {
  const sockets = new WebSocketServer({ noServer: true });
  // deno-lint-ignore no-explicit-any -- the package has no types
  sockets.on("connection", (ws: any, { url }: IncomingMessage) => {
    ws.binaryType = binaryType;
    const socket = Object.assign(ws, {
      data: { subscriptions: new Map(), ctx: { url } },
    });
    websocket.open?.(socket);
    ws.on("message", (data: never) => websocket.message(socket, data));
    ws.on("drain", () => websocket.drain?.(socket));
    ws.on("close", (code: number, reason: Uint8Array) => {
      websocket.close?.(socket, code, String(reason));
    });
  });
  const server = createServer();
  server.on("upgrade", (request, duplex, head) => {
    sockets.handleUpgrade(request, duplex, head, (ws: unknown) => {
      sockets.emit("connection", ws, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/api/rpc`,
    async [Symbol.asyncDispose]() {
      for (const ws of sockets.clients) ws.terminate();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

let ended = 0;

const router = createRouter({
  count: procedure.subscription(z.number(), async function* ({ input }) {
    for (let n = 1; n <= input; n++) yield await Promise.resolve(n);
  }),
  echo: procedure.subscription(z.string(), async function* ({ input }) {
    yield await Promise.resolve(input);
  }),
  wait: procedure.subscription(async function* ({ signal }) {
    try {
      yield "ready";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } finally {
      ended++;
    }
  }),
  url: procedure.context<{ url: string }>()
    .subscription(async function* ({ ctx }) {
      yield await Promise.resolve(ctx.url);
    }),
}, errorLog());

/** Returns the code and message of the next answer. */
async function refusal(client: Client): Promise<(string | undefined)[]> {
  const { error } = await client.next();
  return [error?.code, error?.message];
}

Deno.test("The kit's client subscribes, unsubscribes and receives errors over a ws server", async () => {
  await using server = await serveWithWs(router);
  const rpc = createClient<typeof router>({ httpEndpoint: server.url });

  assertEquals(await Array.fromAsync(rpc.count.subscribe(3)), [1, 2, 3]);
  assertEquals(await Array.fromAsync(rpc.echo.subscribe("Żółć 🎉")), [
    "Żółć 🎉",
  ]);

  const before = ended;
  for await (const word of rpc.wait.subscribe()) {
    assertEquals(word, "ready");
    break;
  }
  await until(() => ended === before + 1);

  const error = await Array.fromAsync(rpc.count.subscribe("x" as never))
    .catch((error) => error);
  assertEquals(
    error instanceof RPCClientError && error.code,
    "VALIDATION_ERROR",
  );
});

for (const binaryType of ["nodebuffer", "arraybuffer", "fragments"] as const) {
  Deno.test(`A ws server with binaryType ${binaryType} serves the whole protocol`, async () => {
    await using server = await serveWithWs(router, binaryType);
    await using client = await connect(server);
    client.send({ type: "ping" });
    assertEquals(await client.next(), { type: "pong" } as never);

    client.send(subscribe("a", "url"));
    assertEquals((await client.next()).data, "/api/rpc");
    assertEquals(await client.next(), { type: "complete", id: "a" });

    client.send(subscribe("b", "wait"));
    assertEquals((await client.next()).data, "ready");
    client.send(subscribe("b", "wait"));
    assertEquals((await client.next()).error?.code, "DUPLICATE_ID");
    const before = ended;
    client.send({ type: "unsubscribe", id: "b" });
    await until(() => ended === before + 1);

    client.send("{");
    assertEquals(await refusal(client), [
      "PARSE_ERROR",
      "The message is not valid JSON",
    ]);
    client.send(subscribe("c", "echo", "é".repeat(32_768)));
    const { id, error } = await client.next();
    assertEquals([id, error?.code], ["c", "PAYLOAD_TOO_LARGE"]);
    assertEquals(await client.settle(), []);
  });
}

Deno.test("A client whose sockets are of ws gives up if they can't connect", async () => {
  const rpc = createClient<typeof router>({
    httpEndpoint: `http://127.0.0.1:${freePort()}/`,
    webSocket: (url) => new WebSocket(url),
    reconnect: { attempts: 1, delayMs: 1 },
  });
  const error = await Array.fromAsync(rpc.count.subscribe(3))
    .catch((error) => error);
  assertEquals(
    error instanceof RPCClientError && error.code,
    "CONNECTION_LOST",
  );
});

Deno.test("A client that leaves a ws server ends its generators", async () => {
  await using server = await serveWithWs(router);
  const client = await connect(server);
  client.send(subscribe("a", "wait"));
  await client.next();
  const before = ended;
  await client[Symbol.asyncDispose]();
  await until(() => ended === before + 1);
});

/** Calls the handler as a server would, and returns the answers. */
function answersTo(...messages: unknown[]): { type: string; text: string }[] {
  const sent: { type: string; text: string }[] = [];
  const ws = {
    data: { subscriptions: new Map(), ctx: undefined },
    readyState: 1,
    bufferedAmount: 0,
    send(text: string) {
      const { type, error } = JSON.parse(text);
      sent.push({ type, text: error?.message ?? "" });
    },
    close() {},
  };
  for (const message of messages) {
    router.websocket.message(ws as never, message as never);
  }
  return sent;
}

const PING = new TextEncoder().encode('{"type":"ping"}');

/** Returns the same bytes as part of a longer buffer. */
function within<T extends ArrayBufferLike>(buffer: T): Uint8Array<T> {
  const view = new Uint8Array(buffer, 3, PING.length);
  view.set(PING);
  return view;
}

Deno.test("A message is read from any type that holds its bytes", () => {
  const view = within(new ArrayBuffer(64));
  const shared = within(new SharedArrayBuffer(64));
  const messages = [
    '{"type":"ping"}',
    PING,
    PING.buffer,
    view,
    new DataView(view.buffer, view.byteOffset, view.byteLength),
    shared,
    shared.buffer.slice(3, 3 + PING.length),
    [PING.subarray(0, 5), PING.subarray(5)],
    [shared.subarray(0, 5), new DataView(PING.buffer, 5)],
    // RFC 8259, section 8.1, allows a reader to ignore a byte order mark.
    '\ufeff{"type":"ping"}',
    new Uint8Array([0xef, 0xbb, 0xbf, ...PING]),
  ];
  assertEquals(
    answersTo(...messages),
    messages.map(() => ({ type: "pong", text: "" })),
  );
});

Deno.test("A character split between two fragments is decoded correctly", () => {
  const bytes = new TextEncoder().encode(
    JSON.stringify({ type: "ping", note: "🎉" }),
  );
  for (let at = 0; at <= bytes.length; at++) {
    const [{ type } = { type: "" }] = answersTo([
      bytes.subarray(0, at),
      bytes.subarray(at),
    ]);
    assertEquals(type, "pong");
  }
});

Deno.test("Invalid UTF-8 is a PARSE_ERROR, and so is a value that isn't text", () => {
  const invalid = [
    [0xff],
    [0xc3, 0x28],
    [0xed, 0xa0, 0x80],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [...PING, 0x80],
  ].map((bytes) => new Uint8Array(bytes));
  for (const { type, text } of answersTo(...invalid)) {
    assertEquals([type, text], ["error", "The message must be UTF-8"]);
  }
  for (
    const [message, received] of [
      [5, "a number"],
      [null, "null"],
      [undefined, "nothing"],
      [{}, "an object"],
      [["{}"], "an array"],
      [new Blob(["{}"]), "an object"],
    ]
  ) {
    assertEquals(answersTo(message), [{
      type: "error",
      text: `Messages must be text or its bytes, received ${received}`,
    }]);
  }
});

Deno.test("A message beyond the limit isn't copied to find its id", () => {
  const start = new TextEncoder().encode('{"type":"subscribe","id":"a","x":"');
  const rest = new Uint8Array(1_000_000);
  const { set } = Uint8Array.prototype;
  let copied = 0;
  Uint8Array.prototype.set = function (values, offset) {
    copied += values.length;
    set.call(this, values, offset);
  };
  try {
    const [answer] = answersTo([start, rest, rest]);
    assertMatch(answer!.text, /^The message must be at most \d+ bytes$/);
  } finally {
    Uint8Array.prototype.set = set;
  }
  assert(copied < 10_000, `${copied} bytes were copied`);
});

Deno.test("The limit applies to the bytes of a binary message before decoding", () => {
  const limit = "The message must be at most 65536 bytes";
  const note = (size: number) => {
    const empty = JSON.stringify({ type: "ping", note: "" });
    const text = empty.replace('""', `"${"x".repeat(size - empty.length)}"`);
    return new TextEncoder().encode(text);
  };
  const long = note(65_537);
  assertEquals(
    answersTo(
      note(65_536),
      long,
      long.buffer,
      new DataView(long.buffer),
      [long.subarray(0, 60_000), long.subarray(60_000)],
      new Uint8Array(70_000).fill(0xff),
    ).map(({ type, text }) => text || type),
    ["pong", ...Array(5).fill(limit)],
  );
});

Deno.test("A socket without connection data is rejected with an error that names it", () => {
  let thrown: unknown;
  try {
    router.websocket.message(
      { send() {}, close() {}, bufferedAmount: 0 } as never,
      '{"type":"ping"}',
    );
  } catch (error) {
    thrown = error;
  }
  assertMatch(
    String(thrown),
    /^TypeError: Cannot serve socket: ws\.data must be a WSConnectionData/,
  );
});
