import type { RequestContext } from "../../core/context.ts";
import type { OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aPositiveNumber,
  required,
} from "../../core/check/rules.ts";
import { clientNetwork } from "../../core/http/addresses.ts";
import {
  checkLimitOptions,
  SHARED_RATE_LIMIT_OPTIONS,
  type SharedRateLimitOptions,
} from "../../core/limits/rate_limit_options.ts";
import type { RateLimitRule } from "../../core/limits/rate_limit_store.ts";
import { runOutside } from "../../core/request_scope.ts";
import { RPCError } from "../error.ts";
import type { CallInfo, ProcedureMiddleware } from "./procedure.ts";

/** Options of {@linkcode rateLimit}. */
export interface RateLimitOptions<Context = RequestContext>
  extends SharedRateLimitOptions {
  /** Maximum calls of a key in a window. */
  readonly limit: number;
  /** Length of a window from its first call, in milliseconds. */
  readonly windowMs: number;
  /**
   * Returns the caller's key, such as a user's id. Default: the client's address
   * in `ctx.info`, which behind a proxy is the proxy's address. Callers without
   * an address share one window.
   *
   * By default, all addresses of an IPv6 network of 64 bits share one window, and
   * an IPv4-mapped IPv6 address, or one of a NAT64 (`64:ff9b::/96`), counts as its
   * IPv4 address.
   */
  readonly key?: (call: CallInfo<Context>) => string | Promise<string>;
}

const OPTIONS: OptionRules<RateLimitOptions> = {
  limit: required(aPositiveNumber),
  windowMs: required(aPositiveNumber),
  key: aFunction,
  ...SHARED_RATE_LIMIT_OPTIONS,
};

/** Many servers have no limits, so this is loaded with the first one. */
const loadCounters = () =>
  runOutside(() => import("../../core/limits/limit_counter.ts"));

/**
 * Creates a middleware that limits the calls of a key in a fixed window.
 * Further calls fail with `RATE_LIMITED`, status 429 and `Retry-After`.
 *
 * Each limit has its own count, for all procedures that use it. It counts in
 * the memory of this process, or in a `store` shared by all processes.
 *
 * @param options The limit, the window, and the key.
 * @throws {TypeError} If a number isn't positive, or a store has no `name`.
 *
 * @example
 * ```ts
 * import { createCaller, createRouter, procedure, rateLimit } from "@quartet/kit/rpc";
 *
 * const limited = procedure.use(rateLimit({ limit: 1, windowMs: 60_000 }));
 * const api = createRouter({ ping: limited.query(() => "pong") });
 *
 * const caller = createCaller(api);
 * console.assert(await caller.ping.query() === "pong");
 * const error = await caller.ping.query().catch((error) => error);
 * console.assert(error.code === "RATE_LIMITED");
 * ```
 */
export function rateLimit<Context = RequestContext>(
  options: RateLimitOptions<Context>,
): ProcedureMiddleware<Context> {
  const operation = "create rate limit";
  checkLimitOptions(options, OPTIONS, operation);
  const { limit, windowMs, name = "", key = networkOfCaller } = options;
  const rule: RateLimitRule = { name: `rpc:${name}`, max: limit, windowMs };
  const { store, fallback, maxKeys, now } = options;
  // Read here, because the caller may reuse the object. Absent ones are undefined.
  const shared = {
    store,
    name,
    fallback,
    maxKeys,
    now,
  } as SharedRateLimitOptions;
  // Begins now, so that the first call needn't wait for it.
  const loading = loadCounters().then((it) => it.createLimitCounter(shared));
  // Each call reports the failure.
  loading.catch(() => {});

  return async (call) => {
    const text = await key(call);
    const counter = await loading;
    const { wait } = await counter.take([{ rule, key: `${text}` }]);
    if (wait === 0) return await call.next();
    const seconds = Math.ceil(wait / 1_000);
    throw new RPCError("RATE_LIMITED", "Too many requests", 429, {
      headers: { "retry-after": `${seconds}` },
      details: { retryAfter: seconds },
    });
  };
}

function networkOfCaller({ ctx }: CallInfo<unknown>): string {
  return clientNetwork((Object(ctx) as RequestContext).info) ?? "";
}
