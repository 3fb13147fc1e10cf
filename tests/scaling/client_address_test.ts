/**
 * The address of a client behind the proxies of `docs/scaling.md`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { findProgram, start } from "../trace/proxies.ts";
import { haproxy, nginx, shown } from "./scaling_page.ts";

const [haproxyPage = ""] = shown("haproxy");
const [nginxPage = ""] = shown("nginx");

for (
  const { name, configure } of [
    { name: "haproxy", configure: haproxy.bind(null, haproxyPage) },
    { name: "nginx", configure: nginx.bind(null, nginxPage) },
  ]
) {
  const program = findProgram(name);
  const ignore = program === undefined;
  Deno.test({
    name: `The page's ${name} overwrites an address sent by the client` +
      (ignore ? " (it isn't installed)" : ""),
    ignore,
    async fn() {
      await using server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        ({ headers }) => new Response(headers.get("x-real-ip")),
      );
      const { port } = server.addr;
      await using proxy = await start(
        program!,
        configure([port, port, port]),
      );
      const url = `http://127.0.0.1:${proxy.target.port}/`;
      const response = await fetch(url, {
        headers: { "x-real-ip": "203.0.113.7" },
      });
      assertEquals(await response.text(), "127.0.0.1");
    },
  });
}
