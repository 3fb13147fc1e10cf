/**
 * The limit of open sockets per address. The sockets are real, and their
 * addresses are faked.
 *
 * @module
 */

import { assertEquals, assertThrows } from "@std/assert";
import { createApp, createUpgrader } from "@quartet/kit/app";
import type { ConnectionInfo, UpgraderOptions } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  createTracer,
  createTraceWebSocket,
  tracePlugin,
} from "@quartet/kit/trace";

function from(hostname: string): ConnectionInfo {
  return { remoteAddr: { transport: "tcp", hostname, port: 50_000 } };
}

/** Starts a server that reads a client's address from the query. */
function serveAs(
  fetch: (
    request: Request,
    info: ConnectionInfo,
  ) => Response | Promise<Response>,
) {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      const address = new URL(request.url).searchParams.get("from") ?? "";
      return fetch(request, from(address));
    },
  );
  return {
    /** Opens a socket. Returns `undefined` if it's refused. */
    async open(address: string, path = "/"): Promise<WebSocket | undefined> {
      const query = `from=${encodeURIComponent(address)}`;
      const { port } = server.addr;
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}?${query}`);
      return await new Promise((resolve) => {
        socket.onopen = () => resolve(socket);
        socket.onerror = (event) => {
          event.preventDefault();
          resolve(undefined);
        };
      });
    },
    /** Sends a handshake over plain HTTP, and returns the response. */
    async refused(address: string, path = "/") {
      const url = `http://127.0.0.1:${server.addr.port}${path}`;
      const connection = await Deno.connect({ port: server.addr.port });
      const query = `?from=${encodeURIComponent(address)}`;
      await connection.write(new TextEncoder().encode([
        `GET ${new URL(url).pathname}${query} HTTP/1.1`,
        "Host: 127.0.0.1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "\r\n",
      ].join("\r\n")));
      const buffer = new Uint8Array(4096);
      const size = await connection.read(buffer) ?? 0;
      connection.close();
      const text = new TextDecoder().decode(buffer.subarray(0, size));
      const [head = "", body = ""] = text.split("\r\n\r\n");
      return { status: Number(head.split(" ")[1]), body: JSON.parse(body) };
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function closed(socket: WebSocket): Promise<void> {
  const gone = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await gone;
}

/** Creates an app with one upgrader at its root. */
function echoApp(options?: UpgraderOptions) {
  const upgrader = createUpgrader<undefined>({ message() {} }, options);
  const app = createApp({
    plugins: [{ name: "echo", close: () => upgrader.close() }],
    routes: [{
      path: "/",
      handler(request) {
        upgrader.upgrade(request, { data: undefined });
        return upgrader.response(request) ??
          new Response("Expected a WebSocket", { status: 426 });
      },
    }],
  });
  return { app, upgrader };
}

Deno.test("An address with maxSocketsPerAddress open sockets gets a 429 until one closes", async () => {
  const { app, upgrader } = echoApp({ maxSocketsPerAddress: 2 });
  await using server = serveAs(app.fetch);
  const first = await server.open("203.0.113.1");
  await server.open("203.0.113.1");
  assertEquals(upgrader.size, 2);

  assertEquals(await server.refused("203.0.113.1"), {
    status: 429,
    body: {
      error: {
        code: "TOO_MANY_SOCKETS",
        message: "One address may have at most 2 sockets open here",
      },
    },
  });
  assertEquals(await server.open("203.0.113.1"), undefined);
  assertEquals((await server.open("203.0.113.2"))?.readyState, 1);

  await closed(first!);
  while (upgrader.size > 2) await new Promise((done) => setTimeout(done));
  assertEquals((await server.open("203.0.113.1"))?.readyState, 1);
  assertEquals(await server.open("203.0.113.1"), undefined);
  await app.close();
});

Deno.test("Sockets of an IPv6 /64 network count together, and IPv4-mapped addresses as IPv4", async () => {
  const { app } = echoApp({ maxSocketsPerAddress: 2 });
  await using server = serveAs(app.fetch);
  await server.open("2001:db8:1:2::1");
  await server.open("2001:db8:1:2:ffff:ffff:ffff:ffff");
  assertEquals(await server.open("2001:db8:1:2::3"), undefined);
  assertEquals((await server.open("2001:db8:1:3::1"))?.readyState, 1);
  await server.open("203.0.113.1");
  await server.open("::ffff:203.0.113.1");
  assertEquals(await server.open("::ffff:cb00:7101"), undefined);
  await app.close();
});

Deno.test("By default, a public address may have 100 sockets, and a private one any number", async () => {
  const { app, upgrader } = echoApp();
  await using server = serveAs(app.fetch);
  const open = (address: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => server.open(address)));
  await open("198.51.100.7", 100);
  assertEquals(upgrader.size, 100);
  assertEquals((await server.refused("198.51.100.7")).status, 429);
  const proxies = [
    "127.0.0.1",
    "::1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.9",
    "100.64.0.1",
    "169.254.1.1",
    "fd00::1",
    "fe80::1",
    "::ffff:10.0.0.1",
  ];
  for (const address of proxies) {
    const sockets = await open(address, 101);
    assertEquals(sockets.includes(undefined), false, address);
    await Promise.all(sockets.map((socket) => closed(socket!)));
  }
  for (const address of ["172.32.0.1", "11.0.0.1", "100.128.0.1", "2002::1"]) {
    await open(address, 100);
    assertEquals(await server.open(address), undefined, address);
  }
  await app.close();
});

Deno.test("An explicit maxSocketsPerAddress also limits private addresses, and Infinity limits none", async () => {
  for (const [max, last] of [[1, undefined], [Infinity, 1]] as const) {
    const { app } = echoApp({ maxSocketsPerAddress: max });
    await using server = serveAs(app.fetch);
    await server.open("127.0.0.1");
    assertEquals((await server.open("127.0.0.1"))?.readyState, last);
    await app.close();
  }
});

Deno.test("Sockets of an unknown address aren't limited", async () => {
  const { app, upgrader } = echoApp({ maxSocketsPerAddress: 1 });
  await using server = serveAs((request) => app.fetch(request));
  await server.open("203.0.113.1");
  await server.open("203.0.113.1");
  assertEquals(upgrader.size, 2);
  await app.close();
});

Deno.test("An invalid maxSocketsPerAddress is rejected where it is passed", () => {
  const router = createRouter({ ping: procedure.query(() => "pong") });
  for (const value of [0, -1, 1.5, NaN, "5", null]) {
    const options = { maxSocketsPerAddress: value as number };
    for (
      const [operation, make] of [
        ["create upgrader", () => createUpgrader({ message() {} }, options)],
        ["create RPC plugin", () => rpcPlugin({ router, ...options })],
        ["create trace plugin", () => tracePlugin(createTracer(), options)],
        [
          "create trace socket",
          () => createTraceWebSocket(createTracer(), options),
        ],
      ] as const
    ) {
      assertThrows(
        make,
        TypeError,
        `Cannot ${operation}: maxSocketsPerAddress must be a positive integer or Infinity, received `,
      );
    }
  }
});

Deno.test("rpcPlugin() and tracePlugin() each limit the sockets of an address", async () => {
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const app = createApp({
    trace: tracePlugin(createTracer(), {
      authorize: () => true,
      maxSocketsPerAddress: 1,
    }),
    plugins: [rpcPlugin({ router, maxSocketsPerAddress: 1 })],
  });
  await using server = serveAs(app.fetch);
  for (const path of ["/api/rpc", "/__app/traces/ws"]) {
    const socket = await server.open("203.0.113.1", path);
    assertEquals(socket?.readyState, 1, path);
    assertEquals(await server.open("203.0.113.1", path), undefined, path);
  }
  assertEquals(await server.refused("203.0.113.1", "/api/rpc"), {
    status: 429,
    body: {
      ok: false,
      error: {
        code: "RATE_LIMITED",
        message: "This address has too many sockets open",
      },
    },
  });
  assertEquals(
    (await server.refused("203.0.113.1", "/__app/traces/ws")).status,
    429,
  );
  await app.close();
});

Deno.test("A trace socket mounted by hand uses the address in the given info", async () => {
  const stream = createTraceWebSocket(createTracer(), {
    authorize: () => true,
    maxSocketsPerAddress: 1,
  });
  await using server = serveAs((request, info) =>
    stream.upgrade(request, info)
  );
  await server.open("203.0.113.1");
  assertEquals(await server.open("203.0.113.1"), undefined);
  assertEquals(stream.size, 1);
  await stream.close();
});
