import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction, aPositiveInteger } from "../../core/check/rules.ts";
import type { Procedure } from "../procedure/procedure.ts";
import type { Transformer } from "../protocol.ts";
import {
  createWebSocketHandler,
  type RouterWebSocketHandler,
} from "../socket/websocket.ts";
import { aTransformer, type Endpoints, listEndpoints } from "./endpoints.ts";
import { createHTTPHandler, type HTTPHandler } from "./http.ts";
import { createReporter, type ErrorReport } from "./report.ts";

/**
 * Procedures and further routers by name, to any depth. The options of the
 * outermost router apply to all. An inner router must have the same
 * transformer, or none.
 */
export interface RouterDef {
  /** A procedure, a definition, or a router. */
  // Just enough to distinguish them. Procedures were checked when they were
  // created.
  readonly [key: string]:
    | Pick<Procedure, "kind" | "handler">
    | RouterDef
    | Pick<Router, "handler">;
}

/** A router: procedures at one endpoint. */
export interface Router<
  Def = RouterDef,
  As extends "json" | "transformed" = "json" | "transformed",
> {
  /** The definition that the router was created with. */
  readonly _def: Def;
  /**
   * Answers an HTTP request, whatever its URL's path. It never rejects.
   *
   * @param request The request.
   * @param ctx The `ctx` of handlers.
   * @param path The procedure's dotted path, if the URL names it. Then the body
   * of a POST is the input. Default: read from the query string or the body.
   */
  readonly handler: (
    request: Request,
    // deno-lint-ignore no-explicit-any -- applications type their own context
    ctx?: any,
    path?: string,
  ) => Promise<Response>;
  /** Serves subscriptions on sockets whose `data` is a `WSConnectionData`. */
  readonly websocket: RouterWebSocketHandler;
  /** The encoding of values, for the types of clients and for documents. */
  readonly "~wire"?: As;
}

/** Settings of a router. */
export interface RouterOptions {
  /**
   * Encodes values that JSON can't represent: `devalue`, `superjson`, or any
   * object with `stringify` and `parse`. The client needs the same. Default:
   * JSON.
   */
  readonly transformer?: Transformer;
  /**
   * Called with unexpected errors of procedures and schemas, so not with
   * `RPCError`, `UnavailableError` or a `Response` of 400 or more. The caller
   * only sees `INTERNAL_ERROR`. Default: `console.error`.
   */
  readonly onError?: ErrorReport;
  /** Maximum size of the body of a POST, in bytes. Default 1 MiB. */
  readonly maxBodySize?: number;
  /** Maximum calls in a batch. Default 50. */
  readonly maxBatchSize?: number;
  /** Maximum open subscriptions of a socket. Default 100. */
  readonly maxSubscriptions?: number;
  /** Maximum size of a message on a socket, in bytes. Default 64 KiB. */
  readonly maxMessageSize?: number;
}

const OPTIONS: OptionRules<RouterOptions> = {
  transformer: aTransformer,
  onError: aFunction,
  maxBodySize: aPositiveInteger,
  maxBatchSize: aPositiveInteger,
  maxSubscriptions: aPositiveInteger,
  maxMessageSize: aPositiveInteger,
};

/**
 * Combines procedures and further routers into one API. The options of an inner
 * router don't apply here; see {@linkcode RouterDef}.
 *
 * @param def Procedures and routers by name.
 * @param options A transformer, an error log, and limits.
 * @throws {TypeError} If a name can't be part of a path, a value is neither a
 * procedure nor a router, an inner router has another transformer, or a limit
 * isn't a positive integer.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   math: {
 *     double: procedure.query(z.number(), ({ input }) => input * 2),
 *   },
 * });
 * const request = new Request("http://localhost/?path=math.double&input=21");
 * const response = await api.handler(request);
 * console.assert((await response.json()).data === 42);
 * ```
 */
export function createRouter<Def extends RouterDef>(
  def: Def,
  options?: RouterOptions & { readonly transformer?: undefined },
): Router<Def, "json">;
/**
 * Combines procedures and further routers into one API, with a transformer for
 * its values.
 *
 * @param def Procedures and routers by name.
 * @param options The transformer, an error log, and limits.
 * @throws {TypeError} As without a transformer.
 *
 * @example
 * ```ts
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import * as devalue from "devalue";
 *
 * const api = createRouter({
 *   now: procedure.query(() => new Date()),
 * }, { transformer: devalue });
 * console.assert(api["~wire"] === "transformed");
 * ```
 */
export function createRouter<Def extends RouterDef>(
  def: Def,
  options: RouterOptions & { readonly transformer: Transformer },
): Router<Def, "transformed">;
export function createRouter<Def extends RouterDef>(
  def: Def,
  options: RouterOptions = {},
): Router<Def> {
  checkOptions(options, OPTIONS, "create router");
  const {
    transformer,
    onError,
    maxBodySize = 1_048_576,
    maxBatchSize = 50,
    maxSubscriptions = 100,
    maxMessageSize = 65_536,
  } = options;
  const endpoints = listEndpoints(def);
  checkTransformers(endpoints, transformer);
  const parts = { endpoints, transformer, report: createReporter(onError) };
  const handle = createHTTPHandler(parts, maxBodySize, maxBatchSize);
  const handler: Router["handler"] = (request, ctx, path) =>
    Promise.resolve(handle(request, ctx, path));
  internals.set(handler, { handle, transformer });
  return {
    _def: def,
    "~wire": transformer === undefined ? "json" : "transformed",
    handler,
    websocket: createWebSocketHandler(parts, maxSubscriptions, maxMessageSize),
  };
}

/** More about routers, by handler, which a copy of a router shares. */
const internals = new WeakMap<object, {
  readonly handle: HTTPHandler;
  readonly transformer: Transformer | undefined;
}>();

/** Returns a router's handler, which answers synchronously if it can. */
export function httpHandlerOf(
  { handler }: Pick<Router, "handler">,
): HTTPHandler {
  return internals.get(handler)?.handle ?? handler;
}

/** Clients couldn't read the text of another transformer. */
function checkTransformers(
  { routers }: Endpoints,
  transformer: Transformer | undefined,
): void {
  for (const [path, { handler }] of routers) {
    const inner = internals.get(handler)?.transformer;
    if (inner === undefined || inner === transformer) continue;
    throw new TypeError(
      `Cannot create router: ${path} must have no transformer or the outer router's, received another one; to drop it, pass its _def`,
    );
  }
}
