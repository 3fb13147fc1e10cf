import type { RPCClientError } from "../client/error.ts";
import { pathOf, type QueryKey } from "./query_key.ts";
import type { CallLike, ErrorOption } from "./types.ts";

/**
 * The last arguments of a mutation's callbacks. To use `context`, annotate it
 * as TanStack Query's `MutationFunctionContext`.
 */
export type MutationRest<Variables, OnMutateResult> = [
  variables: Variables,
  onMutateResult: OnMutateResult,
  context: unknown,
];

/** Further options of TanStack Query for a mutation. */
export interface MutationExtras<Data, Variables, Result = unknown> {
  /** Called before the mutation. Its result is passed to the other callbacks. */
  onMutate?(variables: Variables, context: unknown): Result | Promise<Result>;
  /** Called with the result of the mutation. */
  onSuccess?(
    data: Data,
    ...rest: MutationRest<Variables, Result>
  ): unknown;
  /** Called with the error. */
  onError?(
    error: RPCClientError,
    ...rest: MutationRest<Variables, Result | undefined>
  ): unknown;
  /** Called after the mutation, with its result or its error. */
  onSettled?(
    data: Data | undefined,
    error: RPCClientError | null,
    ...rest: MutationRest<Variables, Result | undefined>
  ): unknown;
  /** Any other option. */
  readonly [option: string]: unknown;
}

/** The result of {@linkcode mutationOptions}. */
export interface MutationOptions<Data, Variables> extends ErrorOption {
  /** The path. */
  readonly mutationKey: QueryKey;
  /** Calls the mutation. */
  readonly mutationFn: (variables: Variables) => Promise<Data>;
}

/**
 * Returns options for `useMutation` or `MutationObserver`. Errors are
 * `RPCClientError`s.
 *
 * @param call A mutation of a client, such as `rpc.posts.add.mutate`.
 * @param options Further options. They replace the ones set here.
 * @throws {TypeError} If `call` isn't a mutation of a client.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { mutationOptions } from "@quartet/kit/rpc/tanstack";
 * import { MutationObserver, QueryClient } from "@tanstack/query-core";
 * import { z } from "zod";
 *
 * const names: string[] = [];
 * const api = createRouter({
 *   add: procedure.mutation(z.string(), ({ input }) => names.push(input)),
 * });
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 *
 * const queries = new QueryClient();
 * const add = new MutationObserver(queries, mutationOptions(rpc.add.mutate));
 * console.assert(await add.mutate("ada") === 1);
 * queries.clear();
 * ```
 */
export function mutationOptions<
  Input,
  Output,
  // The parameter is optional if the input is.
  Variables = undefined extends Input ? Input | void : Input,
  // Not inferred from the place of the result, such as `computed()` of Vue.
  Extras extends MutationExtras<Output, Variables> = Record<never, never>,
  Result = unknown,
>(
  call: CallLike<Input, Output>,
  options?: Extras & MutationExtras<Output, Variables, Result>,
):
  & Omit<MutationOptions<Output, Variables>, keyof Extras>
  & Readonly<NoInfer<Extras>> {
  const made = {
    mutationKey: pathOf(call, "mutate"),
    mutationFn: (variables: Input) => call(variables),
    ...options,
  };
  // The compiler can't track which options are replaced.
  return made as never;
}
