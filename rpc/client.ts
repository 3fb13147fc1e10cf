/**
 * The typed RPC client, for browsers and for programs. It infers all types from
 * the type of the router and loads no server code. Queries and mutations use
 * `fetch`. The first subscription opens a WebSocket.
 *
 * @example Call a server
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { z } from "zod";
 *
 * // server.ts
 * const router = createRouter({
 *   math: { double: procedure.query(z.number(), ({ input }) => input * 2) },
 * });
 * export type Api = typeof router;
 * const app = createApp({ plugins: [rpcPlugin({ router })] });
 * const server = await app.serve({ port: 0 });
 *
 * // page.ts, with `import type { Api } from "./server.ts"`. In a page,
 * // `httpEndpoint: "/api/rpc"` is enough.
 * const rpc = createClient<Api>({
 *   httpEndpoint: `http://127.0.0.1:${server.address.port}/api/rpc`,
 * });
 * console.assert(await rpc.math.double.query(21) === 42);
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

export { batching } from "./client/batch.ts";
export { createClient, createHTTPClient } from "./client/create_client.ts";
export * from "./client/error.ts";
export type {
  CallOptions,
  Client,
  ClientHeaders,
  ClientOptions,
  ClientSocket,
  Exchange,
  HTTPClient,
  HTTPClientOptions,
  ReconnectOptions,
  SubscribeOptions,
  TransformerOption,
} from "./client/types.ts";
export type {
  inferInput,
  inferOutput,
  inferRouterInputs,
  inferRouterOutputs,
  SubscriptionHandlers,
} from "./procedure/calls.ts";
