/**
 * Sends each message of a Redis channel to all sockets, for `broadcast.ts`.
 * Arguments: the candidate, the URL of the Redis, and the port.
 *
 * @module
 */

import { createClient } from "redis";

const [name, url, port] = Deno.args as [string, string, string];
const client = createClient({ url });
client.on("error", console.error);

const servers: Readonly<Record<string, () => unknown>> = {
  /**
   * Pub/sub of `npm:redis`, and a loop. Messages during a disconnection are
   * lost.
   */
  async "bare"() {
    const sockets = new Set<WebSocket>();
    await client.connect();
    await client.subscribe("news", (text) => {
      for (const socket of sockets) {
        socket.send(`{"type":"data","id":"1","data":${text}}`);
      }
    });
    Deno.serve({
      port: Number(port),
      hostname: "127.0.0.1",
      onListen: () => console.log("ready"),
    }, (request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = () => sockets.add(socket);
      socket.onclose = () => sockets.delete(socket);
      return response;
    });
  },

  async "@quartet/kit"() {
    const { createApp } = await import("@quartet/kit/app");
    const { createRouter, procedure, rpcPlugin } = await import(
      "@quartet/kit/rpc"
    );
    const { createRedisChannel } = await import("@quartet/kit/rpc/redis");
    const news = createRedisChannel<unknown>({ client, name: "news" });
    const router = createRouter({
      news: procedure.subscription(({ signal, lastEventId }) =>
        news.subscribe(signal, { lastEventId })
      ),
    });
    const app = createApp({ plugins: [rpcPlugin({ router })] });
    await app.serve({ port: Number(port), hostname: "127.0.0.1" });
    console.log("ready");
  },
};

await servers[name]!();
