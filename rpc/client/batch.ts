import type { CallMessage } from "../protocol.ts";
import type { Answer, Exchange } from "./types.ts";

/**
 * Sends the calls of a tick as one request, up to 50 calls: the default limit
 * of a router. All resolve when the last one is done. Pass it as the client's
 * option `batch`.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { batching, createClient } from "@quartet/kit/rpc/client";
 *
 * const api = createRouter({ ping: procedure.query(() => "pong") });
 * let requests = 0;
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   batch: batching,
 *   fetch(url, init) {
 *     requests++;
 *     return api.handler(new Request(url, init));
 *   },
 * });
 * await Promise.all([rpc.ping.query(), rpc.ping.query()]);
 * console.assert(requests === 1);
 * ```
 */
export function batching(exchange: Exchange): Exchange {
  let batch: CallMessage[] = [];
  let sending: Promise<Answer>;

  return async (message) => {
    const mine = batch;
    // A copy, because the caller may change its input until it is sent.
    const index = mine.push(JSON.parse(JSON.stringify(message))) - 1;
    if (index === 0) {
      // After the microtasks of this tick, which may make more calls.
      sending = new Promise((resolve) =>
        setTimeout(() => {
          batch = [];
          resolve(exchange({ batch: mine }, {}));
        })
      );
    }
    if (index === 49) batch = [];
    const all = await sending;
    if (!all.ok) return all;
    const answers = all.data as Answer[] | null | undefined;
    return { status: all.status, ...answers?.[index] };
  };
}
