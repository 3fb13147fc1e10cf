import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { withMethods } from "../../core/check/rules.ts";
import { createPathProxy } from "../path_proxy.ts";
import type { Calls, SubscriptionHandlers } from "../procedure/calls.ts";
import type { ProcedureKind } from "../procedure/procedure.ts";
import { Call, type CallSource, type Endpoint } from "./call.ts";
import { aRouterWith } from "./option_rules.ts";
import { handOver, iterate } from "./direct_subscription.ts";
import { listEndpoints } from "./endpoints.ts";
import { findByName, methodOf } from "./read_message.ts";
import { perform } from "./run.ts";

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
  request: withMethods("a Request", "clone"),
  signal: withMethods("an AbortSignal", "addEventListener"),
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
