/**
 * Streams small messages to subscribers, for `subscriptions.ts`. The first
 * argument is the candidate.
 *
 * Each loads only its own library, because the memory is measured too.
 *
 * @module
 */

import { z } from "zod";

const countInput = z.object({ count: z.int() });

/** Waits only for its consumer. */
async function* generate({ count }: z.infer<typeof countInput>) {
  for (let id = 0; id < count; id++) yield { id, text: "A small message" };
}

function listen(fetch: (request: Request) => Response): void {
  Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: ({ port }) => console.log(port),
  }, fetch);
}

const servers: Readonly<Record<string, () => unknown>> = {
  "bare": () =>
    listen((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = async ({ data }) => {
        for await (const value of generate(JSON.parse(data))) {
          socket.send(JSON.stringify(value));
        }
      };
      return response;
    }),

  async "@quartet/kit"() {
    const { createApp } = await import("@quartet/kit/app");
    const { createRouter, procedure, rpcPlugin } = await import(
      "@quartet/kit/rpc"
    );
    const router = createRouter({
      count: procedure.subscription(
        countInput,
        ({ input }) => generate(input),
      ),
    });
    const app = createApp({ plugins: [rpcPlugin({ router })] });
    const { address } = await app.serve({ port: 0, hostname: "127.0.0.1" });
    console.log(address.port);
  },

  async "tRPC"() {
    const { initTRPC } = await import("@trpc/server");
    const { applyWSSHandler } = await import("@trpc/server/adapters/ws");
    const { WebSocketServer } = await import("ws");
    const { router, procedure } = initTRPC.create();
    const api = router({
      count: procedure.input(countInput)
        .subscription(({ input }) => generate(input)),
    });
    const wss = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    applyWSSHandler({ wss, router: api, createContext: () => ({}) });
    wss.on("listening", () => {
      console.log((wss.address() as { port: number }).port);
    });
  },

  async "oRPC"() {
    const { os } = await import("@orpc/server");
    const { RPCHandler } = await import("@orpc/server/websocket");
    const handler = new RPCHandler({
      count: os.input(countInput).handler(({ input }) => generate(input)),
    });
    listen((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      handler.upgrade(socket, { context: {} });
      return response;
    });
  },
};

await servers[Deno.args[0]!]!();
