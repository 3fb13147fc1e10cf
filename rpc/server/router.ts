import { checkOptions } from "../../core/check/check_options.ts";
import type { OptionRules } from "../../core/check/check_options.ts";
import { listEndpoints } from "./endpoints.ts";
import type { Endpoints } from "./endpoints.ts";
import { createHTTPHandler } from "./http.ts";
import type { Procedure } from "../procedure/procedure.ts";
import { reporter } from "./report.ts";
import type { ErrorReport } from "./report.ts";
import type { Transformer } from "../transformer.ts";
import { createWebSocketHandler } from "../socket/websocket.ts";
import type { RouterWebSocketHandler } from "../socket/websocket.ts";

/**
 * Procedures and further routers by name, to any depth. Of a router only its
 * procedures count: `onError` and the limits are those of the outermost one, and
 * so is the transformer, of which an inner router must have none or the same.
 */
export interface RouterDef {
  /** A procedure, a definition, or a router. */
  readonly [key: string]: AnyProcedure | RouterDef | AnyRouter;
}

/**
 * Any procedure. Just enough to tell: what it is made of was checked when it
 * was made, and need not be compared again for each place that it stands in.
 */
export type AnyProcedure = Pick<Procedure, "kind" | "handler">;

/** Any router. */
export type AnyRouter = Pick<Router, "handler">;

/** How values travel: as plain JSON, or through a transformer. */
export type Wire = "json" | "transformed";

/** Procedures under one address. */
export interface Router<Def = RouterDef, As extends Wire = Wire> {
  /** What the router was made of. */
  readonly _def: Def;
  /**
   * Answers an HTTP request, whatever its URL's path. It never rejects.
   *
   * @param request The request.
   * @param ctx What handlers get as `ctx`.
   * @param path The procedure's dotted path, where the URL names it; the body
   * of a POST is its input then. Default: request and body tell.
   */
  readonly handler: (
    request: Request,
    // deno-lint-ignore no-explicit-any -- applications type their own context
    ctx?: any,
    path?: string,
  ) => Promise<Response>;
  /** Serves subscriptions on sockets whose `data` is a `WSConnectionData`. */
  readonly websocket: RouterWebSocketHandler;
  /** How its values travel, for the types of clients and for documents. */
  readonly "~wire"?: As;
}

/** Settings of a router. */
export interface RouterOptions {
  /**
   * Carries what JSON can't: `devalue`, `superjson`, or any pair of
   * `stringify` and `parse`. The client needs the same. Default: plain JSON.
   */
  readonly transformer?: Transformer;
  /**
   * Gets what procedures and the code of schemas throw that is neither an
   * `RPCError` nor a `Response`;
   * the caller sees `INTERNAL_ERROR` and nothing else of it. Default:
   * `console.error`.
   */
  readonly onError?: ErrorReport;
  /** How long the body of a POST may be, in bytes. Default 1 MiB. */
  readonly maxBodySize?: number;
  /** How many calls a batch may hold. Default 50. */
  readonly maxBatchSize?: number;
  /** How many subscriptions a socket may have open. Default 100. */
  readonly maxSubscriptions?: number;
  /** How long a message on a socket may be, in bytes. Default 64 KiB. */
  readonly maxMessageSize?: number;
}

const OPTIONS: OptionRules<RouterOptions> = {
  transformer: true,
  onError: true,
  maxBodySize: true,
  maxBatchSize: true,
  maxSubscriptions: true,
  maxMessageSize: true,
};

/**
 * Combines procedures and further routers into one API. The options of a router
 * within are not those of its procedures here; see {@linkcode RouterDef}.
 *
 * @param def Procedures and routers by name.
 * @param options A transformer, an error log, and limits.
 * @throws {TypeError} If a name can't be part of a path, a value is neither a
 * procedure nor a router, a router within has another transformer, or a limit
 * is no positive integer.
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
 * Combines procedures and further routers into one API, whose values travel
 * through a transformer.
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
  const { transformer, onError } = options;
  const endpoints = listEndpoints(def);
  checkTransformers(endpoints, transformer);
  const shared = { endpoints, transformer, report: reporter(onError) };
  const handler = createHTTPHandler({
    ...shared,
    maxBodySize: limit(options, "maxBodySize", 1_048_576),
    maxBatchSize: limit(options, "maxBatchSize", 50),
  });
  if (transformer !== undefined) transformers.set(handler, transformer);
  return {
    _def: def,
    "~wire": transformer === undefined ? "json" : "transformed",
    handler,
    websocket: createWebSocketHandler({
      ...shared,
      maxSubscriptions: limit(options, "maxSubscriptions", 100),
      maxMessageSize: limit(options, "maxMessageSize", 65_536),
    }),
  };
}

/** The transformers of those routers that have one, by what a copy has too. */
const transformers = new WeakMap<object, Transformer>();

/** What a router's own transformer makes, its clients here could not read. */
function checkTransformers(
  { routers }: Endpoints,
  transformer: Transformer | undefined,
): void {
  for (const [path, { handler }] of routers) {
    const inner = transformers.get(handler);
    if (inner === undefined || inner === transformer) continue;
    throw new TypeError(
      `Cannot create router: ${path} must have no transformer or that of the router around it, received another one; its _def has the procedures without one`,
    );
  }
}

type Limit = {
  [K in keyof RouterOptions]-?: RouterOptions[K] extends number | undefined ? K
    : never;
}[keyof RouterOptions];

function limit(options: RouterOptions, name: Limit, fallback: number): number {
  const value = options[name] ?? fallback;
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(
    `Cannot create router: ${name} must be a positive integer, received ${value}`,
  );
}
