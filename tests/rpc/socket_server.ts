/**
 * A server whose memory is measured from outside. Started with `--expose-gc`,
 * it prints its port.
 */

import { createApp, type ServerWebSocket } from "@quartet/kit/app";
import {
  createRouter,
  procedure,
  RPCError,
  rpcPlugin,
  type WSConnectionData,
} from "@quartet/kit/rpc";
import { z } from "zod";

declare const gc: () => void;

/** Figures of the server. */
export interface Figures {
  /** Number of running generators. */
  readonly running: number;
  /** Number of connections whose data is still alive. */
  readonly connections: number;
  /** Number of subscriptions in those connections' maps. */
  readonly subscriptions: number;
  /** Unsent bytes of the connection with the most. */
  readonly buffered: number;
  /** Number of values that `flood` has yielded. */
  readonly produced: number;
  readonly heap: number;
  readonly rss: number;
}

let running = 0;
let produced = 0;
const sockets: WeakRef<ServerWebSocket<WSConnectionData>>[] = [];
const seen = new WeakSet<object>();

const api = createRouter({
  wait: procedure.subscription(async function* ({ signal }) {
    running++;
    try {
      yield "ready";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } finally {
      running--;
    }
  }),
  flood: procedure.subscription(
    z.object({ count: z.number(), size: z.number() }),
    async function* ({ input: { count, size } }) {
      const text = "x".repeat(size);
      for (let n = 0; n < count; n++) {
        produced++;
        yield { n, text };
      }
    },
  ),
  count: procedure.subscription(z.number(), async function* ({ input }) {
    for (let n = 0; n < input; n++) {
      if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
      yield n;
    }
  }),
  // deno-lint-ignore require-yield -- it fails before
  fail: procedure.subscription(async function* () {
    throw new RPCError("TOO_MUCH", "x".repeat(10_000));
  }),
  figures: procedure.query(z.boolean().default(false), figures),
}, { onError() {} });

async function figures({ input }: { input: boolean }): Promise<Figures> {
  for (let i = 0; input && i < 3; i++) {
    // A WeakRef keeps its target alive until the current job ends.
    await new Promise((resolve) => setTimeout(resolve));
    gc();
  }
  const alive = sockets.map((ref) => ref.deref()).filter((ws) => ws != null);
  const { heapUsed: heap, rss } = Deno.memoryUsage();
  return {
    ...{ running, produced, heap, rss },
    connections: alive.length,
    subscriptions: alive.reduce((n, ws) => n + ws.data.subscriptions.size, 0),
    buffered: Math.max(0, ...alive.map((ws) => ws.bufferedAmount)),
  };
}

const { websocket } = api;
const router = {
  ...api,
  websocket: {
    ...websocket,
    message(ws: ServerWebSocket<WSConnectionData>, text: string | Uint8Array) {
      if (!seen.has(ws)) {
        seen.add(ws);
        sockets.push(new WeakRef(ws));
      }
      websocket.message(ws, text);
    },
  },
};

if (import.meta.main) {
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  await app.serve({
    port: 0,
    onListen: ({ port }) => console.log(`port ${port}`),
  });
}
