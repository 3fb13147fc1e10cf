/**
 * The client of a router, for pages and for other programs.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { z } from "zod";
 *
 * // On the server.
 * const router = createRouter({
 *   math: { double: procedure.query(z.number(), ({ input }) => input * 2) },
 * });
 *
 * // In the page: `import type { Api }`, and `httpEndpoint: "/api/rpc"`. This
 * // one asks the router itself.
 * type Api = typeof router;
 * const rpc = createClient<Api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => router.handler(new Request(url, init)),
 * });
 * console.assert(await rpc.math.double.query(21) === 42);
 * ```
 *
 * @module
 */

export { batching } from "./client/batch.ts";
export { createClient, createHTTPClient } from "./client/create_client.ts";
export { RPCClientError } from "./client/error.ts";
export type { RPCClientErrorCode } from "./client/error.ts";
export type {
  CallOptions,
  Client,
  ClientOptions,
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
