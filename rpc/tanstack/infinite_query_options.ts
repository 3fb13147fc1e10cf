import { kindOf } from "../../core/check/rules.ts";
import { type KeyOf, pathOf, toKey } from "./query_key.ts";
import type { CallLike, DataOf, ErrorOption } from "./types.ts";

/**
 * Returns the page parameter of the page after the last one or before the first
 * one, or `undefined` if there is none.
 */
export type GetPageParam<Data, PageParam> = (
  page: Data,
  allPages: Data[],
  pageParam: PageParam,
  allPageParams: PageParam[],
) => PageParam | undefined | null;

/** The order of pages, and further options of TanStack Query. */
export interface InfiniteQueryExtras<Data, PageParam> {
  /** The page parameter of the first page. */
  readonly initialPageParam: PageParam;
  /**
   * Returns the page parameter of the next page, or `undefined` after the last.
   */
  readonly getNextPageParam: GetPageParam<Data, PageParam>;
  /**
   * Returns the page parameter of the previous page, or `undefined` before the
   * first.
   */
  readonly getPreviousPageParam?: GetPageParam<Data, PageParam>;
  /** Any other option. */
  readonly [option: string]: unknown;
}

/** The result of {@linkcode infiniteQueryOptions}. */
export interface InfiniteQueryOptions<Data, PageParam> extends ErrorOption {
  /** Path and input of the first page. */
  readonly queryKey: KeyOf<
    { readonly pages: Data[]; readonly pageParams: PageParam[] }
  >;
  /** Fetches a page. */
  readonly queryFn: (
    context: { readonly signal: AbortSignal; readonly pageParam: PageParam },
  ) => Promise<Data>;
  /** The page parameter of the first page. */
  readonly initialPageParam: PageParam;
  /** Returns the page parameter of the next page. */
  readonly getNextPageParam: GetPageParam<Data, PageParam>;
}

/**
 * Returns options for `useInfiniteQuery` or `InfiniteQueryObserver`. The pages
 * are cached separately from a plain query with the same input.
 * `queryKey(call)` matches both.
 *
 * @param call A query of a client, such as `rpc.posts.list.query`.
 * @param input Returns the input for a page. The first page's input is part of
 * the key.
 * @param options The order of pages, and further options.
 * @throws {TypeError} If `call` isn't a query of a client, `input` isn't a
 * function, or the options are missing.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { infiniteQueryOptions } from "@quartet/kit/rpc/tanstack";
 * import { QueryClient } from "@tanstack/query-core";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   count: procedure.query(
 *     z.object({ from: z.int() }),
 *     ({ input: { from } }) => ({ numbers: [from, from + 1], next: from + 2 }),
 *   ),
 * });
 * const rpc = createClient<typeof api>({
 *   httpEndpoint: "http://localhost/api/rpc",
 *   fetch: (url, init) => api.handler(new Request(url, init)),
 * });
 *
 * const options = infiniteQueryOptions(
 *   rpc.count.query,
 *   (from: number) => ({ from }),
 *   { initialPageParam: 1, getNextPageParam: (page) => page.next },
 * );
 * const queries = new QueryClient();
 * const { pages } = await queries.fetchInfiniteQuery({ ...options, pages: 2 });
 * console.assert(pages[1]?.numbers[0] === 3);
 * queries.clear();
 * ```
 */
export function infiniteQueryOptions<
  Input,
  Output,
  PageParam,
  // Not inferred from the place of the result, such as `computed()` of Vue.
  Extras extends InfiniteQueryExtras<DataOf<Output>, PageParam>,
>(
  call: CallLike<Input, Output>,
  input: (pageParam: PageParam) => NoInfer<Input>,
  options: Extras & InfiniteQueryExtras<DataOf<Output>, PageParam>,
):
  & Omit<InfiniteQueryOptions<DataOf<Output>, PageParam>, keyof Extras>
  & Readonly<NoInfer<Extras>> {
  if (typeof input !== "function" || !options) {
    const received = `${kindOf(input)} and ${kindOf(options)}`;
    throw new TypeError(
      `Cannot create infinite query: input must be a function and options an object, as in (cursor) => ({ cursor }), { initialPageParam: 0, getNextPageParam }, received ${received}`,
    );
  }
  const first = toKey(input(options.initialPageParam));
  const made = {
    queryKey: [...pathOf(call, "query"), { infinite: true, input: first }],
    queryFn: async (
      { signal, pageParam }: { signal: AbortSignal; pageParam: PageParam },
    ) => await call(input(pageParam), { signal }) ?? null,
    ...options,
  };
  // The compiler can't track which options are replaced.
  return made as never;
}
