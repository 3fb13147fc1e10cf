import { type KeyOf, keyOf, pathOf } from "./query_key.ts";
import type { CallLike, DataOf, ErrorOption } from "./types.ts";

/** Further options of TanStack Query for a query. */
export interface QueryExtras<Data> {
  /** Maps the data for the component. */
  readonly select?: (data: Data) => unknown;
  /** Any other option. */
  readonly [option: string]: unknown;
}

/** The result of {@linkcode queryOptions}. */
export interface QueryOptions<Data> extends ErrorOption {
  /** Path and input; see `queryKey`. */
  readonly queryKey: KeyOf<Data>;
  /**
   * Calls the query. For `skipToken` as input, it is that token. The type omits
   * this, because `fetchQuery` would then reject all options.
   */
  readonly queryFn: (
    context: { readonly signal: AbortSignal },
  ) => Promise<Data>;
}

/**
 * Returns options for `useQuery`, `QueryObserver` or `fetchQuery`. A query that
 * is no longer needed is aborted, also on the server.
 *
 * An output of `undefined` becomes `null`, as TanStack Query requires. Errors
 * are `RPCClientError`s.
 *
 * @param call A query of a client, such as `rpc.posts.list.query`.
 * @param input The input, or TanStack Query's `skipToken`.
 * @param options Further options. They replace the ones set here.
 * @throws {TypeError} If `call` isn't a query of a client.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { queryOptions } from "@quartet/kit/rpc/tanstack";
 * import { QueryClient } from "@tanstack/query-core";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   greet: procedure.query(z.string(), ({ input }) => `hello ${input}`),
 * });
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 *
 * const queries = new QueryClient();
 * const options = queryOptions(rpc.greet.query, "ada", { staleTime: 60_000 });
 * console.assert(await queries.fetchQuery(options) === "hello ada");
 * queries.clear();
 * ```
 */
export function queryOptions<Output>(
  call: (
    input?: undefined,
    options?: { readonly signal: AbortSignal },
  ) => Promise<Output>,
): QueryOptions<DataOf<Output>>;
/** Returns options for a query with input. */
export function queryOptions<
  Input,
  Output,
  // Not inferred from the place of the result, such as `computed()` of Vue.
  Extras extends QueryExtras<DataOf<Output>> = Record<never, never>,
>(
  call: CallLike<Input, Output>,
  input: NoInfer<Input | symbol>,
  options?: Extras & QueryExtras<DataOf<Output>>,
): Omit<QueryOptions<DataOf<Output>>, keyof Extras> & Readonly<NoInfer<Extras>>;
export function queryOptions(
  call: CallLike<never, unknown>,
  input?: unknown,
  options?: object,
): unknown {
  const path = pathOf(call, "query");
  // An input is never a symbol, so this is `skipToken`.
  const skipped = typeof input === "symbol";
  return {
    queryKey: keyOf(path, skipped ? undefined : input),
    queryFn: skipped
      ? input
      : async ({ signal }: { readonly signal: AbortSignal }) =>
        await call(input as never, { signal }) ?? null,
    ...options,
  };
}
