/**
 * A server without an adapter: the RPC plugin receives Bun's server directly.
 *
 * @module
 */

import { withPlugins } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import process from "node:process";
import { Bun } from "./bun.ts";

/** The procedures of the server. */
export const router = createRouter({
  greet: procedure.query(() => "hello"),
  count: procedure.subscription(async function* () {
    for (let n = 1; n <= 3; n++) yield await Promise.resolve(n);
  }),
  flood: procedure.subscription(async function* () {
    for (let n = 0; n < 5_000; n++) {
      yield await Promise.resolve("x".repeat(4_096));
    }
  }),
});
const rpc = rpcPlugin({ router });
const app = withPlugins([rpc], () => new Response("hello"));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, server) =>
    rpc.upgradeToWebSocket(server, request, {})
      ? undefined
      : app.fetch(request),
  websocket: rpc.getWebSocketConfig(),
});
console.log(`Listening on ${server.port}`);

process.on("SIGTERM", async () => {
  await app.close();
  await server.stop(true);
  console.log("Closed");
});
