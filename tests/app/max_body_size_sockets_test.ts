/** The body limit of routes, over real connections. */

import { assert, assertEquals } from "@std/assert";
import { createApp, createUpgrader, toNode } from "@quartet/kit/app";
import type { App } from "@quartet/kit/app";
import { serve } from "@hono/node-server";
import { once } from "node:events";
import { connect as connectHTTP2 } from "node:http2";

const LIMIT = 1_000;

/**
 * Waits for the half-second timer after which `@hono/node-server` discards the
 * rest of an unread body.
 */
function drained(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 600));
}

interface Listening extends AsyncDisposable {
  readonly port: number;
}

const SERVERS: readonly (readonly [
  what: string,
  listen: (app: App) => Promise<Listening>,
])[] = [
  ["Deno", async (app) => {
    const server = await app.serve({
      port: 0,
      signals: false,
      onListen: () => {},
    });
    const { port } = server.address;
    return { port, [Symbol.asyncDispose]: () => server.shutdown() };
  }],
  ["Node's server", async (app) => {
    const { fetch } = toNode(app);
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    return {
      port,
      [Symbol.asyncDispose]: async () => {
        await app.close();
        await new Promise<void>((resolve) => {
          server.close(() => resolve());
          if ("closeAllConnections" in server) server.closeAllConnections();
        });
        await drained();
      },
    };
  }],
];

/** A connection that reads one response at a time. */
class Connection implements AsyncDisposable {
  readonly #connection: Deno.Conn;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  static async open({ port }: Listening): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  async send(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#connection.write(bytes.subarray(sent));
    }
  }

  /**
   * Reads the next response. Returns `undefined` if the server closed the
   * connection.
   */
  async receive(): Promise<{ status: number; body: string } | undefined> {
    for (;;) {
      const head = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/.exec(this.#text);
      const length = /content-length: (\d+)/i.exec(head?.[0] ?? "")?.[1];
      const end = (head?.[0].length ?? 0) + Number(length);
      if (head !== null && length !== undefined && this.#text.length >= end) {
        const body = this.#text.slice(head[0].length, end);
        this.#text = this.#text.slice(end);
        return { status: Number(head[1]), body };
      }
      const buffer = new Uint8Array(65_536);
      const size = await this.#connection.read(buffer).catch(() => null);
      if (size === null) return undefined;
      this.#text += this.#decoder.decode(buffer.subarray(0, size));
    }
  }

  /** Waits until the server has also closed the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.closeWrite().catch(() => {});
    while (await this.receive() !== undefined);
    this.#connection.close();
  }
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const END = "0\r\n\r\n";

function head(path: string, header = "Transfer-Encoding: chunked"): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;
}

const REFUSED = {
  status: 413,
  body: JSON.stringify({
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: `The body must be at most ${LIMIT} bytes`,
    },
  }),
};

/** Reads bodies, ignores them, or forwards them to itself. */
function createService() {
  const errors: unknown[] = [];
  const app = createApp({
    maxBodySize: LIMIT,
    onError: (error) => void errors.push(error),
  });
  const read = async (request: Request) =>
    new Response(`${(await request.text()).length}`);
  app.route({ path: "/read", method: "POST", handler: read });
  app.route({
    path: "/large",
    method: "POST",
    handler: read,
    maxBodySize: 2 * LIMIT,
  });
  app.route({
    path: "/any",
    method: "*",
    handler: read,
    maxBodySize: Infinity,
  });
  app.route({ path: "/ignore", method: "*", handler: () => new Response("-") });
  app.route({
    path: "/proxy",
    method: "POST",
    handler: async ({ headers, body }) => {
      const target = `http://127.0.0.1:${headers.get("x-port")}/any`;
      const response = await fetch(target, { method: "POST", body });
      return new Response(await response.text());
    },
  });
  return { app, errors };
}

// Runs before the Node tests, whose adapter replaces the global `Response`.
Deno.test("Deno: a body over HTTP/2 is refused as soon as it exceeds the limit", async () => {
  const { app } = createService();
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen: () => {},
  });
  const client = connectHTTP2(`http://127.0.0.1:${server.address.port}`);
  const post = async (body: string, isAll: boolean) => {
    const stream = client.request({ ":method": "POST", ":path": "/read" });
    stream.setEncoding("utf8");
    const answered = once(stream, "response");
    stream.write(body);
    if (isAll) stream.end();
    const [headers] = await answered;
    let text = "";
    for await (const part of stream) text += part;
    stream.close();
    return { status: headers[":status"], body: text };
  };
  try {
    const exact = await post("x".repeat(LIMIT), true);
    assertEquals(exact, { status: 200, body: "1000" });
    assertEquals(await post("x".repeat(LIMIT + 1), false), REFUSED);
  } finally {
    client.close();
  }
});

Deno.test("Deno: a WebSocket opens on a route with a limit", async () => {
  const upgrader = createUpgrader<undefined>({
    open: (ws) => void ws.send("hello"),
    message() {},
  });
  await using app = createApp({ maxBodySize: 0 });
  app.route({
    path: "/",
    method: "*",
    handler: (request) =>
      upgrader.upgrade(request, { data: undefined })
        ? upgrader.response(request)!
        : new Response(null, { status: 426 }),
  });
  const server = await app.serve({
    port: 0,
    signals: false,
    onListen: () => {},
  });
  const socket = new WebSocket(`ws://127.0.0.1:${server.address.port}/`);
  const message = await new Promise<MessageEvent>((resolve) => {
    socket.onmessage = resolve;
  });
  assertEquals(message.data, "hello");
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
  await server.shutdown();
});

Deno.test("Deno: methods that can't have a body are answered without it, in any case", async () => {
  const app = createApp({ maxBodySize: LIMIT });
  app.route({
    path: "/any",
    method: "*",
    handler: async (request) =>
      new Response(`${request.method} ${(await request.text()).length}`),
  });
  const [, listen] = SERVERS[0]!;
  await using server = await listen(app);
  for (const method of ["get", "Get", "connect", "trace", "track"]) {
    await using connection = await Connection.open(server);
    const start = head("/any").replace("POST", method);
    await connection.send(start + chunk("x".repeat(LIMIT + 1)) + END);
    assertEquals(await connection.receive(), {
      status: 200,
      body: `${method} 0`,
    });
  }
});

for (const [what, listen] of SERVERS) {
  Deno.test(`${what}: a chunked body may have at most as many bytes as the limit`, async () => {
    const { app, errors } = createService();
    await using server = await listen(app);
    const ask = async (path: string, size: number) => {
      await using connection = await Connection.open(server);
      const text = "x".repeat(size);
      await connection.send(
        head(path) + chunk(text.slice(0, 600)) + chunk(text.slice(600)) + END,
      );
      return await connection.receive();
    };
    assertEquals(await ask("/read", LIMIT), { status: 200, body: "1000" });
    assertEquals(await ask("/read", LIMIT + 1), REFUSED);
    assertEquals(await ask("/large", 2 * LIMIT), { status: 200, body: "2000" });
    assertEquals((await ask("/large", 2 * LIMIT + 1))?.status, 413);
    assertEquals(await ask("/any", 50_000), { status: 200, body: "50000" });
    assertEquals(await ask("/ignore", 50_000), { status: 200, body: "-" });
    assertEquals(errors, []);
  });

  Deno.test(`${what}: a declared body may have at most as many bytes as the limit`, async () => {
    const { app } = createService();
    await using server = await listen(app);
    const ask = async (path: string, size: number) => {
      await using connection = await Connection.open(server);
      const header = `Content-Length: ${size}`;
      await connection.send(head(path, header) + "x".repeat(size));
      return await connection.receive();
    };
    assertEquals(await ask("/read", LIMIT), { status: 200, body: "1000" });
    assertEquals(await ask("/read", LIMIT + 1), REFUSED);
    assertEquals(await ask("/ignore", LIMIT + 1), REFUSED);
    assertEquals(await ask("/large", 2 * LIMIT), { status: 200, body: "2000" });
    assertEquals(await ask("/any", 50_000), { status: 200, body: "50000" });
    assertEquals(await ask("/read", 0), { status: 200, body: "0" });
  });

  Deno.test(`${what}: a declared body over the limit is refused before it arrives`, async () => {
    const { app } = createService();
    await using server = await listen(app);
    await using connection = await Connection.open(server);
    await connection.send(head("/read", "Content-Length: 9000000000"));
    assertEquals(await connection.receive(), REFUSED);
  });

  Deno.test(`${what}: a slow upload is refused as soon as it exceeds the limit`, async () => {
    const { app } = createService();
    await using server = await listen(app);
    await using connection = await Connection.open(server);
    await connection.send(head("/read"));
    for (let sent = 0; sent < LIMIT; sent += 100) {
      await connection.send(chunk("x".repeat(100)));
    }
    await connection.send(chunk("x"));
    assertEquals(await connection.receive(), REFUSED);
  });

  Deno.test(`${what}: after a refusal the connection answers the next request or is closed`, async () => {
    const { app } = createService();
    await using server = await listen(app);
    const next = head("/read", "Content-Length: 2") + "ok";
    const bodies = [
      head("/read") + chunk("x".repeat(LIMIT + 1)) + END,
      head("/read") + chunk("x".repeat(200_000)) + END,
      head("/read", "Content-Length: 5000") + "x".repeat(5_000),
      head("/ignore") + chunk("x".repeat(LIMIT + 1)) + END,
      head("/ignore", "Content-Length: 900") + "x".repeat(900),
    ];
    for (const body of bodies) {
      await using connection = await Connection.open(server);
      await connection.send(body);
      const first = await connection.receive();
      assert(first?.status === 413 || first?.body === "-");
      await connection.send(next).catch(() => {});
      const second = await connection.receive();
      assert(second === undefined || second.body === "2", second?.body);
    }
  });

  Deno.test(`${what}: a body forwarded with fetch() stays limited`, async () => {
    const { app, errors } = createService();
    await using server = await listen(app);
    const ask = async (size: number) => {
      await using connection = await Connection.open(server);
      const start = head(
        "/proxy",
        `Transfer-Encoding: chunked\r\nX-Port: ${server.port}`,
      );
      await connection.send(start + chunk("x".repeat(size)) + END);
      return await connection.receive();
    };
    assertEquals(await ask(LIMIT), { status: 200, body: "1000" });
    assertEquals(await ask(LIMIT + 1), REFUSED);
    assertEquals(
      errors.filter((error) => String(error).includes("at most")),
      [],
    );
  });

  Deno.test(`${what}: a TRACE request has no body`, async () => {
    const app = createApp({ maxBodySize: LIMIT });
    app.route({
      path: "/any",
      method: "*",
      handler: async (request) =>
        new Response(`${request.method} ${(await request.text()).length}`),
    });
    await using server = await listen(app);
    await using connection = await Connection.open(server);
    const start = head("/any").replace("POST", "TRACE");
    await connection.send(start + chunk("x".repeat(LIMIT + 1)) + END);
    assertEquals(await connection.receive(), { status: 200, body: "TRACE 0" });
  });
}
