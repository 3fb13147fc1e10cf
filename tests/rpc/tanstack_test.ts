import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { createApp, serve } from "@quartet/kit/app";
import {
  createCaller,
  createRouter,
  errors,
  procedure,
  rpcPlugin,
} from "@quartet/kit/rpc";
import {
  type Client,
  createClient,
  RPCClientError,
} from "@quartet/kit/rpc/client";
import {
  infiniteQueryOptions,
  mutationOptions,
  queryKey,
  queryOptions,
} from "@quartet/kit/rpc/tanstack";
import {
  InfiniteQueryObserver,
  type MutationFunctionContext,
  MutationObserver,
  type MutationObserverOptions,
  QueryClient,
  QueryObserver,
  type QueryObserverOptions,
  skipToken,
  type ThrowOnError,
} from "@tanstack/query-core";
import { z } from "zod";

/** Calls that the server's handlers received, and whether they were aborted. */
interface Seen {
  readonly calls: string[];
  readonly aborted: PromiseWithResolvers<void>;
  readonly waiting: PromiseWithResolvers<void>;
}

function createAPI({ calls, aborted, waiting }: Seen) {
  return createRouter({
    posts: {
      byId: procedure.query(z.int(), ({ input }) => {
        calls.push(`byId ${input}`);
        if (input < 0) throw errors.notFound(`No post ${input}`);
        return { id: input, at: new Date(0) };
      }),
      page: procedure.query(
        z.object({ after: z.int(), size: z.int().default(2) }),
        ({ input: { after, size } }) => {
          calls.push(`page ${after}`);
          const ids = Array.from({ length: size }, (_, i) => after + i + 1);
          return { ids, next: after < 4 ? after + size : null };
        },
      ),
      count: procedure.query(() => {
        calls.push("count");
        return 7;
      }),
      add: procedure.mutation(
        z.object({ title: z.string().min(1) }),
        ({ input }) => ({ id: 1, title: input.title }),
      ),
      reset: procedure.mutation(() => "done"),
    },
    slow: procedure.query(({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      waiting.resolve();
      return new Promise<string>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    }),
    maybe: procedure.query(
      z.string().optional(),
      ({ input }): string | undefined => input,
    ),
  });
}

type API = ReturnType<typeof createAPI>;

/** Registers a test with a server, its client and an empty cache. */
function test(
  name: string,
  fn: (t: Seen & { rpc: Client<API>; queries: QueryClient }) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const seen: Seen = {
      calls: [],
      aborted: Promise.withResolvers(),
      waiting: Promise.withResolvers(),
    };
    const app = createApp({
      plugins: [rpcPlugin({ router: createAPI(seen) })],
    });
    const server = serve(app, { port: 0, signals: false, onListen() {} });
    const rpc = createClient<API>({
      httpEndpoint: `http://127.0.0.1:${server.address.port}/api/rpc`,
    });
    const queries = new QueryClient({
      defaultOptions: { queries: { retry: false } },
    });
    try {
      await fn({ ...seen, rpc, queries });
    } finally {
      queries.clear();
      await server.shutdown();
    }
  });
}

/** Rejects after a time limit instead of waiting forever. */
async function soon(promise: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.reject(new Error("too late")), 60_000);
  await Promise.race([promise, late.promise]).finally(() =>
    clearTimeout(timer)
  );
}

/** Waits until an observer's result meets a condition. */
function until<Result>(
  observer: {
    subscribe(listener: (result: Result) => void): () => void;
    getCurrentResult(): Result;
  },
  wanted: (result: Result) => boolean,
): Promise<Result> {
  return new Promise((resolve) => {
    const look = (result: Result) => {
      if (!wanted(result)) return;
      queueMicrotask(() => stop());
      resolve(result);
    };
    const stop = observer.subscribe(look);
    look(observer.getCurrentResult());
  });
}

test("queryOptions() fetches once for equal inputs", async ({ rpc, queries, calls }) => {
  const options = (id: number) =>
    queryOptions(rpc.posts.byId.query, id, { staleTime: Infinity });
  const post = await queries.fetchQuery(options(1));
  assertEquals(post, { id: 1, at: "1970-01-01T00:00:00.000Z" });
  await queries.fetchQuery(options(1));
  await queries.fetchQuery(options(2));
  assertEquals(calls, ["byId 1", "byId 2"]);
});

test("queryOptions() caches a query without input under its path", async ({ rpc, queries }) => {
  assertEquals(
    await queries.fetchQuery(queryOptions(rpc.posts.count.query)),
    7,
  );
  assertEquals(queries.getQueryData(queryKey(rpc.posts.count.query)), 7);
});

test("queryOptions() returns null if a query returns undefined", async ({ rpc, queries }) => {
  const { query } = rpc.maybe;
  const data = await queries.fetchQuery(queryOptions(query));
  isType<string | null>()(data);
  assertEquals(data, null);
  assertEquals(await queries.fetchQuery(queryOptions(query, "a")), "a");
});

test("queryOptions() passes on other options", async ({ rpc, queries }) => {
  const observer = new QueryObserver(
    queries,
    queryOptions(rpc.posts.byId.query, 3, {
      select: (post) => post.at.length,
      meta: { from: "a test" },
    }),
  );
  const { data } = await until(observer, (result) => result.isSuccess);
  isType<number | undefined>()(data);
  assertEquals(data, 24);
  assertEquals(observer.options.meta, { from: "a test" });
});

test("queryOptions() aborts the query on the server when its last observer leaves", async ({ rpc, queries, aborted, waiting }) => {
  // The server's signal aborts, or the last line times out.
  const observer = new QueryObserver(queries, queryOptions(rpc.slow.query));
  const unsubscribe = observer.subscribe(() => {});
  await soon(waiting.promise);
  unsubscribe();
  await soon(aborted.promise);
});

test("queryOptions() aborts the query when it is cancelled", async ({ rpc, queries, aborted, waiting }) => {
  const options = queryOptions(rpc.slow.query);
  const fetching = queries.fetchQuery(options).catch(() => "cancelled");
  await soon(waiting.promise);
  await queries.cancelQueries({ queryKey: options.queryKey });
  await soon(aborted.promise);
  assertEquals(await fetching, "cancelled");
});

test("queryOptions() fails with the client's errors, also in its types", async ({ rpc, queries }) => {
  const observer = new QueryObserver(
    queries,
    queryOptions(rpc.posts.byId.query, -1),
  );
  const { error } = await until(observer, (result) => result.isError);
  isType<RPCClientError | null>()(error);
  assert(error instanceof RPCClientError);
  assertEquals([error.code, error.status, error.path], [
    "NOT_FOUND",
    404,
    "posts.byId",
  ]);
});

test("queryOptions() doesn't run if the input is skipToken", async ({ rpc, queries, calls }) => {
  const options = (id: number | undefined) =>
    queryOptions(rpc.posts.byId.query, id ?? skipToken);
  const observer = new QueryObserver(queries, options(undefined));
  const stop = observer.subscribe(() => {});
  assertEquals(observer.getCurrentResult().fetchStatus, "idle");
  assertEquals(calls, []);
  observer.setOptions(options(4));
  const { data } = await until(observer, (result) => result.isSuccess);
  assertEquals(data?.id, 4);
  stop();
});

test("queryKey() of a query or a router invalidates everything below it", async ({ rpc, queries }) => {
  const one = queryOptions(rpc.posts.byId.query, 1);
  const two = queryOptions(rpc.posts.byId.query, 2);
  const count = queryOptions(rpc.posts.count.query);
  const maybe = queryOptions(rpc.maybe.query);
  const all = [one, two, count, maybe];
  const stale = async (key: readonly unknown[]) => {
    await Promise.all(
      [one, two].map((options) => queries.fetchQuery(options)),
    );
    await queries.fetchQuery(count);
    await queries.fetchQuery(maybe);
    await queries.invalidateQueries({ queryKey: key });
    return all.map(({ queryKey }) =>
      queries.getQueryState(queryKey)!.isInvalidated
    );
  };
  const { posts } = rpc;
  assertEquals(await stale(queryKey(posts.byId.query, 1)), [
    true,
    false,
    false,
    false,
  ]);
  assertEquals(await stale(queryKey(posts.byId.query)), [
    true,
    true,
    false,
    false,
  ]);
  assertEquals(await stale(queryKey(posts)), [true, true, true, false]);
  assertEquals(await stale(queryKey(rpc)), [true, true, true, true]);
});

test("infiniteQueryOptions() fetches page after page", async ({ rpc, queries, calls }) => {
  const observer = new InfiniteQueryObserver(
    queries,
    infiniteQueryOptions(
      rpc.posts.page.query,
      (after: number) => ({ after }),
      { initialPageParam: 0, getNextPageParam: (page) => page.next },
    ),
  );
  const stop = observer.subscribe(() => {});
  await until(observer, (result) => result.isSuccess);
  await observer.fetchNextPage();
  const last = await observer.fetchNextPage();
  isType<RPCClientError | null>()(last.error);
  assertEquals(last.data?.pages.map((page) => page.ids), [
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  assertEquals(last.hasNextPage, false);
  assertEquals(calls, ["page 0", "page 2", "page 4"]);
  stop();
});

test("infiniteQueryOptions() returns null for an undefined page, which the cache rejects", async ({ rpc, queries }) => {
  const { pages } = await queries.fetchInfiniteQuery(
    infiniteQueryOptions(rpc.maybe.query, () => undefined, {
      initialPageParam: 0,
      getNextPageParam: () => null,
    }),
  );
  assertEquals(pages, [null]);
});

test("infiniteQueryOptions() caches pages separately from the plain query, and below its key", async ({ rpc, queries }) => {
  const { query } = rpc.posts.page;
  const pages = (size: number) =>
    infiniteQueryOptions(query, (after: number) => ({ after, size }), {
      initialPageParam: 0,
      getNextPageParam: (page) => page.next,
      staleTime: 1_000,
    });
  const plain = queryOptions(query, { after: 0, size: 2 });
  assertEquals((await queries.fetchQuery(plain)).ids, [1, 2]);
  const infinite = await queries.fetchInfiniteQuery(pages(2));
  assertEquals(infinite.pages[0]?.ids, [1, 2]);
  assertNotEquals(pages(2).queryKey, pages(3).queryKey);
  assertEquals(pages(2).staleTime, 1_000);

  await queries.invalidateQueries({ queryKey: queryKey(query) });
  for (const { queryKey } of [plain, pages(2)]) {
    assert(queries.getQueryState(queryKey)?.isInvalidated);
  }
});

test("queryKey() has the type of the cached data", async ({ rpc, queries }) => {
  type Post = { id: number; at: string };
  const { queryKey: key } = queryOptions(rpc.posts.byId.query, 3);
  await queries.fetchQuery(queryOptions(rpc.posts.byId.query, 3));
  const post = queries.getQueryData(key);
  isType<Post | undefined>()(post);
  assertEquals(post?.id, 3);
  isType<Post | undefined>()(
    queries.getQueryData(queryKey(rpc.posts.byId.query, 3)),
  );
  isType<number | undefined>()(
    queries.getQueryData(queryKey(rpc.posts.count.query)),
  );
  isType<string | null | undefined>()(
    queries.getQueryData(queryKey(rpc.maybe.query, "a")),
  );
  isType<RPCClientError | null | undefined>()(
    queries.getQueryState(key)?.error,
  );
  isType<unknown>()(queries.getQueryData(queryKey(rpc.posts.byId.query)));
  isType<unknown>()(queries.getQueryData(queryKey(rpc.posts)));

  queries.setQueryData(key, (old) => old && { ...old, id: old.id + 1 });
  assertEquals(queries.getQueryData(key)?.id, 4);
  // @ts-expect-error a post has no such form
  queries.setQueryData(key, { id: "5" });

  const pages = infiniteQueryOptions(
    rpc.posts.page.query,
    (after: number) => ({ after }),
    { initialPageParam: 0, getNextPageParam: (page) => page.next },
  );
  await queries.fetchInfiniteQuery(pages);
  const cached = queries.getQueryData(pages.queryKey);
  isType<number[] | undefined>()(cached?.pageParams);
  assertEquals(cached?.pages[0]?.ids, [1, 2]);

  // Custom options replace ours, in the types as well.
  const own = queryOptions(rpc.posts.byId.query, 3, {
    queryKey: ["mine"] as const,
  });
  isType<readonly ["mine"]>()(own.queryKey);
});

test("mutationOptions() runs mutations and callbacks", async ({ rpc, queries }) => {
  const successes: unknown[] = [];
  const observer = new MutationObserver(
    queries,
    mutationOptions(rpc.posts.add.mutate, {
      onSuccess: (post, variables) =>
        successes.push([post.id, variables.title]),
    }),
  );
  const post = await observer.mutate({ title: "a" });
  isType<{ id: number; title: string }>()(post);
  assertEquals(post, { id: 1, title: "a" });
  assertEquals(successes, [[1, "a"]]);
  assertEquals(observer.options.mutationKey, ["posts", "add", "mutate"]);

  const reset = new MutationObserver(
    queries,
    mutationOptions(rpc.posts.reset.mutate),
  );
  assertEquals(await reset.mutate(), "done");
});

test("The result of onMutate is typed in the callbacks that undo the change", async ({ rpc, queries }) => {
  const queryKeyOfCount = queryKey(rpc.posts.count.query);
  queries.setQueryData(queryKeyOfCount, 1);
  const settled: unknown[] = [];
  const observer = new MutationObserver(
    queries,
    mutationOptions(rpc.posts.add.mutate, {
      onMutate: async ({ title }) => {
        await queries.cancelQueries({ queryKey: queryKeyOfCount });
        const before = queries.getQueryData(queryKeyOfCount);
        queries.setQueryData(queryKeyOfCount, 2);
        return { before, title };
      },
      onError: (_error, _variables, made) => {
        isType<{ before: number | undefined; title: string } | undefined>()(
          made,
        );
        queries.setQueryData(queryKeyOfCount, made?.before);
      },
      onSuccess: (_post, _variables, made, context: MutationFunctionContext) =>
        context.client.setQueryData(["added"], made.title),
      onSettled: (post, error, { title }, made) =>
        settled.push([post?.id, error?.code, title, made?.before]),
    }),
  );
  await assertRejects(() => observer.mutate({ title: "" }), RPCClientError);
  assertEquals(queries.getQueryData(queryKeyOfCount), 1);
  await observer.mutate({ title: "a" });
  assertEquals(queries.getQueryData(["added"]), "a");
  assertEquals(settled, [
    [undefined, "VALIDATION_ERROR", "", 1],
    [1, undefined, "a", 1],
  ]);
});

test("mutationOptions() fails with the client's errors", async ({ rpc, queries }) => {
  const observer = new MutationObserver(
    queries,
    mutationOptions(rpc.posts.add.mutate),
  );
  const error = await assertRejects(
    () => observer.mutate({ title: "" }),
    RPCClientError,
  );
  assertEquals(error.code, "VALIDATION_ERROR");
  isType<RPCClientError | null>()(observer.getCurrentResult().error);
});

/** A value, or one that is computed, as in Vue. */
type Either<Value> = Value | { readonly value: Value } | (() => Value);

/** Options, each of which may be computed. */
type Computed<Options> = {
  [K in keyof Options]: Options[K] | { readonly value: Options[K] };
};

function computed<Value>(compute: () => Value): { readonly value: Value } {
  return { value: compute() };
}

test("Options may be computed values, and keep the types of their data", ({ rpc }) => {
  // The compiler checks this case.
  function useQuery<Data, Failure, Selected = Data>(
    _options: Either<Computed<QueryObserverOptions<Data, Failure, Selected>>>,
  ): { data?: Selected } {
    return {};
  }
  function useMutation<Data, Failure, Input, Made>(
    _options: Either<
      Computed<MutationObserverOptions<Data, Failure, Input, Made>>
    >,
  ): { data?: Data; variables?: Input; made?: Made } {
    return {};
  }

  const post = useQuery(
    computed(() => queryOptions(rpc.posts.byId.query, 3)),
  );
  isType<{ data?: { id: number; at: string } }>()(post);
  const add = useMutation(
    mutationOptions(rpc.posts.add.mutate, {
      onMutate: (input) => ({ before: input.title }),
      onError: (_error, _variables, made) => made?.before,
    }),
  );
  isType<{
    data?: { id: number; title: string };
    variables?: { title: string };
    made?: { before: string };
  }>()(add);
  return Promise.resolve();
});

test("Options in a list have the type of their errors, as for useQueries()", ({ rpc }) => {
  // TanStack Query infers it from this option alone.
  type ErrorOf<Options> = Options extends {
    // deno-lint-ignore no-explicit-any -- as in TanStack Query's own type
    throwOnError?: ThrowOnError<any, infer Failure, any, any>;
  } ? Failure
    : "none";
  const options = queryOptions(rpc.posts.count.query);
  const failures: ErrorOf<typeof options>[] = [];
  isType<RPCClientError[]>()(failures);
  return Promise.resolve();
});

test("The helpers accept createCaller(), to fill a cache on the server", async ({ queries, ...seen }) => {
  const caller = createCaller(createAPI(seen));
  const options = queryOptions(caller.posts.byId.query, 5);
  assertEquals((await queries.fetchQuery(options)).id, 5);
  assertEquals<unknown>(
    options.queryKey,
    queryOptions(seen.rpc.posts.byId.query, 5).queryKey,
  );
});

Deno.test("queryKey() distinguishes inputs that JSON doesn't", () => {
  const rpc = createClient<API>({ httpEndpoint: "/api/rpc" });
  const key = (input: unknown) =>
    JSON.stringify(queryKey(rpc.posts.byId.query, input as number));
  const inputs = [
    new Map([["a", 1]]),
    new Map([["a", 2]]),
    new Set([1]),
    { set: new Set([2n]) },
    1n,
    2n,
    [3n],
    {},
    new Date(0),
    new Date(1),
  ];
  assertEquals(new Set(inputs.map(key)).size, inputs.length);
});

Deno.test("The helpers reject anything but parts of a client", () => {
  const rpc = createClient<API>({ httpEndpoint: "/api/rpc" });
  assertThrows(
    () => queryKey(() => {}),
    TypeError,
    "Cannot create query key: target must be a part of a client, such as rpc.posts.list.query, received a function",
  );
  assertThrows(() => queryKey(null as never), TypeError, "received null");
  assertThrows(
    () => queryOptions(rpc.posts.reset.mutate),
    TypeError,
    "Cannot create options for posts.reset.mutate: it must end in .query, as in rpc.posts.list.query",
  );
  assertThrows(
    () => mutationOptions(rpc.posts.count.query),
    TypeError,
    "Cannot create options for posts.count.query: it must end in .mutate, as in rpc.posts.list.mutate",
  );
});

Deno.test("Wrong calls don't compile", () => {
  const rpc = createClient<API>({ httpEndpoint: "/api/rpc" });
  const { posts } = rpc;
  const paging = { initialPageParam: 0, getNextPageParam: () => undefined };
  // deno-lint-ignore no-unused-vars -- only compiled
  const wrong = () => {
    // @ts-expect-error the input has to be a number
    queryOptions(posts.byId.query, "1");
    // @ts-expect-error the input can't be left out
    queryOptions(posts.byId.query);
    // @ts-expect-error the input has no such field
    queryOptions(posts.page.query, { after: 1, sise: 2 });
    // @ts-expect-error the query takes no input
    queryOptions(posts.count.query, 1);
    // @ts-expect-error the input has to be a number
    queryKey(posts.byId.query, "1");
    // @ts-expect-error the input of a page has to be an object
    infiniteQueryOptions(posts.page.query, (after: number) => after, paging);
    // @ts-expect-error there is no such query
    queryOptions(posts.none.query);
    // @ts-expect-error the title has to be a string
    mutationOptions(posts.add.mutate).mutationFn({ title: 1 });
    const { queryFn } = queryOptions(posts.byId.query, 1);
    // @ts-expect-error the data has no such field
    queryFn({ signal: AbortSignal.any([]) }).then(({ title }) => title);
  };
});

Deno.test("queryOptions() takes each input of a query whose input is optional or a union", () => {
  const union = z.union([z.object({ id: z.int() }), z.object({ by: z.int() })]);
  const api = createRouter({
    page: procedure.query(z.object({ size: z.int() }).optional(), () => 1),
    find: procedure.query(union, () => 1),
  });
  const rpc = createClient<typeof api>({ httpEndpoint: "/" });
  const keys = [
    queryOptions(rpc.page.query),
    queryOptions(rpc.page.query, { size: 2 }),
    queryOptions(rpc.find.query, { id: 1 }),
    queryOptions(rpc.find.query, { by: 1 }, { staleTime: 5 }),
    // @ts-expect-error the size has to be a number
    queryOptions(rpc.page.query, { size: "2" }),
  ].map(({ queryKey }) => JSON.stringify(queryKey));
  assertEquals(keys, [
    '["page","query"]',
    '["page","query",{"input":{"size":2}}]',
    '["find","query",{"input":{"id":1}}]',
    '["find","query",{"input":{"by":1}}]',
    '["page","query",{"input":{"size":"2"}}]',
  ]);
});

/** Returns an assertion that a value has this type, checked by the compiler. */
function isType<Wanted>() {
  return <Given>(
    _: Given,
    ..._same: (<T>() => T extends Wanted ? 1 : 2) extends
      (<T>() => T extends Given ? 1 : 2) ? [] : [never]
  ): void => {};
}

Deno.test("queryKey() distinguishes values that look alike as JSON", () => {
  const rpc = createClient<API>({ httpEndpoint: "/" });
  const inputs = [
    [null, NaN, Infinity, -Infinity],
    [0, -0],
    [new Map([["a", 1]]), { map: [["a", 1]] }, { "~type": "map" }],
    [1n, { bigint: "1" }, { "~type": "bigint", value: "1" }],
    [new Date(0), new Date(0).toISOString()],
    [[undefined], [null]],
    [/a/, /b/, {}],
  ];
  for (const alike of inputs) {
    const keys = alike.map((input) =>
      JSON.stringify(queryKey(rpc.posts.byId.query, input as number))
    );
    assertEquals(new Set(keys).size, alike.length, keys.join());
  }
});

Deno.test("queryKey() distinguishes values with toJSON() by its result", () => {
  class Money {
    #cents: number;
    constructor(cents: number) {
      this.#cents = cents;
    }
    toJSON() {
      return { cents: this.#cents };
    }
  }
  const rpc = createClient<API>({ httpEndpoint: "/" });
  const key = (input: unknown) =>
    JSON.stringify(queryKey(rpc.posts.byId.query, input as number));
  assertEquals(key({ price: new Money(1) }), key({ price: new Money(1) }));
  assertNotEquals(key({ price: new Money(1) }), key({ price: new Money(2) }));
});

Deno.test("queryKey() accepts circular inputs", () => {
  const rpc = createClient<API>({ httpEndpoint: "/" });
  const key = (input: unknown) =>
    JSON.stringify(queryKey(rpc.posts.byId.query, input as number));
  interface Node {
    name: string;
    next?: unknown;
  }
  const toSelf: Node = { name: "a" };
  toSelf.next = toSelf;
  const again: Node = { name: "a" };
  again.next = again;
  const other: Node = { name: "b" };
  other.next = other;
  const inner: Node = { name: "a" };
  inner.next = { name: "a", next: inner };
  const throughMap = new Map<string, unknown>();
  throughMap.set("self", throughMap);
  const throughList: unknown[] = [];
  throughList.push(throughList);

  assertEquals(key(toSelf), key(again));
  const all = [
    toSelf,
    other,
    inner,
    throughMap,
    throughList,
    new Set([toSelf]),
  ];
  assertEquals(new Set(all.map(key)).size, all.length);
  // A shared object isn't a cycle.
  const shared = { id: 1 };
  assertEquals(key([shared, shared]), key([{ id: 1 }, { id: 1 }]));
});

Deno.test("queryKey() distinguishes bytes, strings and class instances", () => {
  const rpc = createClient<API>({ httpEndpoint: "/" });
  const key = (input: unknown) =>
    JSON.stringify(queryKey(rpc.posts.byId.query, input as number));
  class Point {
    readonly at: ReadonlySet<number>;
    constructor(...at: number[]) {
      this.at = new Set(at);
    }
  }
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const inputs = [
    bytes,
    bytes.subarray(1),
    new Uint8Array([1, 2, 3, 5]),
    new Int8Array([1, 2, 3, 4]),
    bytes.buffer,
    new ArrayBuffer(4),
    new DataView(bytes.buffer),
    new Float64Array([0]),
    new Float64Array([-0]),
    { 0: 1, 1: 2, 2: 3, 3: 4 },
    new URL("http://localhost/a"),
    "http://localhost/a",
    new URLSearchParams("a=1"),
    new URLSearchParams("a=2"),
    new Error("a"),
    new TypeError("a"),
    new Point(1, 2),
    new Point(1, 3),
  ];
  assertEquals(new Set(inputs.map(key)).size, inputs.length);
  assertEquals(key(new Uint8Array([1, 2, 3, 4])), key(bytes));
});
