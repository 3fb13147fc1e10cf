import { assertEquals } from "@std/assert";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { exchange, handshake } from "../helpers.ts";

Deno.test("handle() and upgradeToWebSocket() refuse a Host that would choose the path", async () => {
  const router = createRouter({ user: procedure.query(() => "ada") });
  const plugin = rpcPlugin({ router });
  let upgrades = 0;
  const upgrader = { upgrade: () => ++upgrades > 0 };
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
  }, (request) => {
    plugin.upgradeToWebSocket(upgrader, request, {});
    return plugin.handle(request) ?? new Response("elsewhere");
  });
  const send = async (text: string) =>
    (await exchange(server.addr.port, text)).slice(9, 12);

  for (const target of ["/files", "/api/rpc?path=user"]) {
    const Host = `a/api/rpc?path=user&rest=`;
    const close = "Connection: close\r\n\r\n";
    const get = (host: string) =>
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${close}`;
    assertEquals(await send(get(Host)), "400");
    assertEquals(await send(get("a")), "200");
    const headers = { Host, Connection: "Upgrade, close" };
    assertEquals(await send(handshake(headers, { target })), "400");
  }
  assertEquals(upgrades, 0);
  await plugin.close?.();
});
