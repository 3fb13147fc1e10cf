/**
 * The client of a router, for pages and for other programs.
 *
 * @example
 * ```ts ignore
 * import { createClient } from "@quartet/kit/rpc/client";
 * import type { Api } from "./api.ts";
 *
 * const rpc = createClient<Api>({ httpEndpoint: "/api/rpc" });
 *
 * const country = await rpc.countries.byCode.query({ code: "FR" });
 * for await (const change of rpc.favourites.live.subscribe()) {
 *   console.log(change);
 * }
 * ```
 *
 * @module
 */

export type * from "./calls.ts";
export { batching } from "./client/batch.ts";
export type { Batching } from "./client/batch.ts";
export { createClient, createHTTPClient } from "./client/create_client.ts";
export { RPCClientError } from "./client/error.ts";
export type { Answer, CallOptions, Exchange } from "./client/exchange.ts";
export type {
  Client,
  ClientOptions,
  HTTPClient,
  HTTPClientOptions,
  ReconnectOptions,
  SubscribeOptions,
  TransformerOption,
  WireOf,
} from "./client/types.ts";
export type { RPCFailure } from "./error.ts";
export type * from "./json.ts";
export type { BatchMessage, CallMessage } from "./protocol.ts";
