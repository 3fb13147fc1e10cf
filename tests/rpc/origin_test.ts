import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { exchange } from "../helpers.ts";
import { handshake, serveRouter } from "./helpers.ts";

const router = createRouter({
  ping: procedure.query(() => "pong"),
  none: procedure.subscription(async function* () {}),
});

/** Returns the status line of the response to a handshake, and its body. */
async function tryHandshake(
  port: number,
  changes: Record<string, string | undefined>,
  path?: string,
): Promise<{ status: number; body: string }> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(handshake(changes, path)));
  const buffer = new Uint8Array(4096);
  let text = "";
  for (;;) {
    const size = await connection.read(buffer);
    if (size === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, size));
    const [head, body] = text.split("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(head!)?.[1] ?? "0";
    if (body !== undefined && body.length >= Number(length)) break;
  }
  const [head, body = ""] = text.split("\r\n\r\n");
  return { status: Number(head!.split(" ")[1]), body };
}

Deno.test("Pages of the same origin, and clients without an origin, may open sockets", async () => {
  await using server = await serveRouter(router);
  const host = `127.0.0.1:${server.port}`;
  for (
    const changes of [
      { Host: host, Origin: undefined },
      { Host: host, Origin: `http://${host}` },
      // The proxy terminates TLS, so the request inside is HTTP.
      { Host: "app.example", Origin: "https://app.example" },
      { Host: "APP.example:80", Origin: "http://app.example" },
    ]
  ) assertEquals((await tryHandshake(server.port, changes)).status, 101);
});

Deno.test("Pages of other origins may not open sockets", async () => {
  await using server = await serveRouter(router, {
    trustedOrigins: ["https://friend.example"],
  });
  const host = `127.0.0.1:${server.port}`;
  for (
    const origin of [
      "https://evil.example",
      "http://127.0.0.1",
      `http://127.0.0.1:${server.port + 1}`,
      `http://${host}.evil.example`,
      `http://evil.example/${host}`,
      `http://${host}@evil.example`,
      "null",
      "",
      "file://",
      "about:blank",
      "https://friend.example.evil.example",
      "https://friend.example:444",
      "http://friend.example",
      "https://FRIEND.example.",
      "https://friend.example, https://evil.example",
      "not an origin",
    ]
  ) {
    const { status, body } = await tryHandshake(server.port, {
      Host: host,
      Origin: origin,
    });
    assertEquals([status, body], [
      403,
      '{"ok":false,"error":{"code":"FORBIDDEN","message":"Pages of other origins can\'t open sockets unless trustedOrigins of rpcPlugin() lists them"}}',
    ], origin);
  }
  for (const origin of ["https://friend.example", `http://${host}`]) {
    const changes = { Host: host, Origin: origin };
    assertEquals((await tryHandshake(server.port, changes)).status, 101);
  }
});

Deno.test("Calls over HTTP don't check the origin: JSON bodies cause a CORS preflight", async () => {
  await using server = await serveRouter(router);
  const answer = await exchange(
    server.port,
    "GET /api/rpc?path=ping HTTP/1.1\r\nHost: a\r\nOrigin: https://b.example\r\nConnection: close\r\n\r\n",
  );
  assertMatch(answer, /^HTTP\/1.1 200 /);
  // Without this header the page can't read the response.
  assertEquals(/access-control/i.test(answer), false);
});

Deno.test("A malformed handshake is a BAD_REQUEST", async () => {
  await using server = await serveRouter(router);
  for (
    const changes of [
      { Connection: "close" },
      { "Sec-WebSocket-Version": "8" },
      { "Sec-WebSocket-Version": undefined },
      { "Sec-WebSocket-Key": undefined },
    ]
  ) {
    const { status, body } = await tryHandshake(server.port, changes);
    assertEquals([status, JSON.parse(body).error], [400, {
      code: "BAD_REQUEST",
      message: "The WebSocket handshake is malformed",
    }]);
  }
});

Deno.test("A handshake at another path opens no socket", async () => {
  await using server = await serveRouter(router);
  for (const path of ["/", "/api/rpcs", "/api/rpc/none", "/api"]) {
    const { status } = await tryHandshake(server.port, {}, path);
    assertEquals(status, path === "/api/rpc/none" ? 400 : 404, path);
  }
});

Deno.test("trustedOrigins must contain origins", () => {
  for (
    const origin of [
      "*",
      "app.example",
      "https://app.example/",
      "https://app.example/path",
      "https://App.example",
      "null",
      "",
    ]
  ) {
    assertThrows(
      () => rpcPlugin({ router, trustedOrigins: [origin] }),
      TypeError,
      'Cannot create RPC plugin: trustedOrigins must hold origins such as "https://app.example", without a path or a slash at the end',
    );
  }
  assertThrows(
    () => rpcPlugin({ router, trustedOrigins: "https://app.example" as never }),
    TypeError,
    'Cannot create RPC plugin: trustedOrigins must be an array of origins, received "https://app.example"',
  );
});
