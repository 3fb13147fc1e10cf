/**
 * Options for TanStack Query 5 from the procedures of an RPC client, in any
 * framework. With React, for example:
 * `useQuery(queryOptions(rpc.posts.list.query, { page: 1 }))`. This entry point
 * uses only types of `@tanstack/query-core`, so it works with each of TanStack's
 * packages.
 *
 * @example Fetch a query, then invalidate it
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { queryKey, queryOptions } from "@quartet/kit/rpc/tanstack";
 * import { QueryClient } from "@tanstack/query-core";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   math: { double: procedure.query(z.number(), ({ input }) => input * 2) },
 * });
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   // Calls the router without a server.
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 *
 * const queries = new QueryClient();
 * const double = queryOptions(rpc.math.double.query, 21);
 * console.assert(await queries.fetchQuery(double) === 42);
 *
 * await queries.invalidateQueries({ queryKey: queryKey(rpc.math) });
 * queries.clear();
 * ```
 *
 * @module
 */

export type { RPCClientError, RPCClientErrorCode } from "./client/error.ts";
export * from "./tanstack/infinite_query_options.ts";
export * from "./tanstack/mutation_options.ts";
export { type KeyOf, type QueryKey, queryKey } from "./tanstack/query_key.ts";
export * from "./tanstack/query_options.ts";
export type { CallLike, DataOf, ErrorOption } from "./tanstack/types.ts";
