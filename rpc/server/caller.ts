import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  anAbortSignal,
  aRequest,
  withMethods,
} from "../../core/check/rules.ts";
import { printableError, reportError } from "../../core/redact/printable.ts";
import { createPathProxy } from "../path_proxy.ts";
import type { Calls, SubscriptionHandlers } from "../procedure/calls.ts";
import type { ProcedureKind } from "../procedure/procedure.ts";
import { Tracked } from "../procedure/tracked.ts";
import { Call, type CallSource, type Endpoint } from "./call.ts";
import { aRouterWith, listEndpoints } from "./endpoints.ts";
import { findByName, methodOf } from "./read_message.ts";
import { checkOutput, perform, toIterator } from "./run.ts";

/** Options of {@linkcode createCaller}. */
export interface CallerOptions {
  /** The `request` of handlers. Default: reading it throws. */
  readonly request?: Request;
  /** The `signal` of handlers. Default: the request's. */
  readonly signal?: AbortSignal;
  /** The `responseHeaders` of handlers. Default: discarded headers. */
  readonly responseHeaders?: Headers;
}

const OPTIONS: OptionRules<CallerOptions> = {
  request: aRequest,
  signal: anAbortSignal,
  responseHeaders: withMethods("a Headers object", "append"),
};

/** Settings of one call on the server. */
export interface DirectCallOptions {
  /** Aborts the call. Default: the caller's signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Settings of one subscription on the server. Its signal also unsubscribes. */
export interface DirectSubscribeOptions extends DirectCallOptions {
  /** The id of the last tracked value received. */
  readonly lastEventId?: string | undefined;
}

/** A router's procedures, with the same methods as a client. */
export type Caller<R> = R extends { readonly _def: infer Def }
  ? Calls<Def, "direct", DirectCallOptions, DirectSubscribeOptions>
  : never;

/**
 * Creates a caller, which calls procedures on the server without HTTP.
 * Middlewares and validation run. Calls reject with the procedure's original
 * error.
 *
 * @param router The router.
 * @param ctx The `ctx` of handlers.
 * @param options The request, signal and response headers of handlers.
 * @throws {TypeError} If `router` isn't a router, or an option is unknown.
 *
 * @example
 * ```ts
 * import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   math: { square: procedure.query(z.number(), ({ input }) => input ** 2) },
 * });
 * const caller = createCaller(api);
 * console.assert(await caller.math.square.query(3) === 9);
 * ```
 */
export function createCaller<R extends { readonly _def: object }>(
  router: R,
  ctx?: unknown,
  options: CallerOptions = {},
): Caller<R> {
  checkValue(router, "router", aRouterWith("_def"), "create caller");
  checkOptions(options, OPTIONS, "create caller");
  const endpoints = listEndpoints(router._def);

  function find(path: readonly string[], kind: ProcedureKind): Endpoint {
    const name = path.join(".");
    const endpoint = findByName(endpoints, name);
    const actual = endpoint.procedure.kind;
    if (actual === kind) return endpoint;
    const method = methodOf(actual);
    throw new TypeError(
      `Cannot call ${name} as a ${kind}: it is a ${actual}, use ${method}`,
    );
  }

  const method = (kind: "query" | "mutation") =>
  async (
    path: readonly string[],
    input: unknown,
    callOptions?: DirectCallOptions,
  ): Promise<unknown> => {
    const source = sourceOf(options, callOptions);
    const call = new Call(find(path, kind), ctx, source);
    try {
      return await perform(call, input, (output) => output);
    } finally {
      call.settle();
    }
  };

  function subscribe(
    path: readonly string[],
    input: unknown,
    more?: DirectSubscribeOptions & Partial<SubscriptionHandlers<unknown>>,
  ): AsyncGenerator<unknown> | (() => void) {
    const source = sourceOf(options, more);
    const begin = () =>
      iterate(new Call(find(path, "subscription"), ctx, source), input);
    return more?.onData === undefined
      ? begin()
      : handOver(begin, more as SubscriptionHandlers<unknown>, source.signal);
  }

  return createPathProxy({
    __proto__: null,
    query: method("query"),
    mutate: method("mutation"),
    subscribe,
  }) as Caller<R>;
}

function sourceOf(
  { request, signal, responseHeaders }: CallerOptions,
  options: DirectSubscribeOptions = {},
): CallSource {
  return {
    get request() {
      if (request !== undefined) return request;
      throw new TypeError(
        "Cannot read request: createCaller() got none, use createCaller(router, ctx, { request })",
      );
    },
    get signal() {
      return options.signal ?? signal ?? request?.signal ??
        new AbortController().signal;
    },
    get responseHeaders() {
      return responseHeaders ?? new Headers();
    },
    lastEventId: options.lastEventId,
  };
}

/**
 * Yields the values of a subscription, which begins with the first `next()`.
 */
function iterate(call: Call, input: unknown): AsyncGenerator<unknown> {
  const iterator = values(call, input);
  for (const name of ["return", "throw"] as const) {
    const leave = iterator[name].bind(iterator);
    // A waiting generator would delay this, so abort the procedure first.
    iterator[name] = (value) => {
      call.abandon(new DOMException("Unsubscribed", "AbortError"));
      return leave(value);
    };
  }
  return iterator;
}

async function* values(call: Call, input: unknown): AsyncGenerator<unknown> {
  let stream: AsyncIterator<unknown> | undefined;
  try {
    stream = await perform(call, input, (it) => toIterator(it, call.path));
    for (;;) {
      const { done, value } = await stream.next();
      if (done || call.signal.aborted) return;
      yield await checkOutput(
        call,
        value instanceof Tracked ? value.value : value,
      );
    }
  } finally {
    call.settle();
    await stream?.return?.();
  }
}

/**
 * Passes the values of a subscription to handlers. An error of `onData` or
 * `onComplete` ends it, as in a loop, and goes to `onError`.
 *
 * @param begin Returns the values, or throws.
 * @param signal Unsubscribes.
 * @returns A function that unsubscribes. No handler is called after that.
 */
function handOver(
  begin: () => AsyncGenerator<unknown>,
  {
    onData,
    onError = (error) => console.error(printableError(error)),
    onComplete,
  }: SubscriptionHandlers<unknown>,
  signal: AbortSignal,
): () => void {
  let stream: AsyncGenerator<unknown> | undefined;
  let isOver = signal.aborted;
  const end = () => {
    isOver = true;
    signal.removeEventListener("abort", unsubscribe);
  };

  function unsubscribe(): void {
    if (isOver) return;
    end();
    // The caller has left, so errors are ignored.
    stream?.return(undefined).catch(() => {});
  }

  async function run(): Promise<void> {
    try {
      stream = begin();
      for await (const value of stream) {
        if (isOver) return;
        onData(value);
      }
      if (!isOver) onComplete?.();
    } catch (error) {
      // The caller gets the unsubscribe function before an error.
      await undefined;
      if (!isOver) reportError(onError, error as Error);
    }
    end();
  }

  if (!isOver) {
    signal.addEventListener("abort", unsubscribe);
    run();
  }
  return unsubscribe;
}
