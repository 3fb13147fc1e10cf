import type { RequestContext } from "../../core/context.ts";
import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { aFunction, aPositiveNumber } from "../../core/check/rules.ts";
import { toHex } from "../../core/bytes/hex.ts";
import { networkOf } from "../../core/http/network_of.ts";
import { FixedWindowCounter } from "../../core/collections/fixed_window_counter.ts";
import { RPCError } from "../error.ts";
import type { CallInfo, ProcedureMiddleware } from "./procedure.ts";

/** How many calls, and whose. */
export interface RateLimitOptions<Context = RequestContext> {
  /** How many calls a key may make in a window. */
  readonly limit: number;
  /** How long a window lasts from its first call on, in milliseconds. */
  readonly windowMs: number;
  /**
   * Returns the caller's key, such as a user's id. Default: the client's address
   * in `ctx.info`, which behind a proxy is the proxy's address. Callers without
   * an address share one window.
   *
   * By default, all addresses of an IPv6 network of 64 bits share one window, and
   * an IPv4-mapped IPv6 address counts as its IPv4 address.
   */
  readonly key?: (call: CallInfo<Context>) => string | Promise<string>;
  /**
   * How many keys are remembered. Beyond that the oldest are forgotten, even
   * those at their limit, so whoever can make up keys can get a fresh window:
   * name callers by something that they can't choose. Default 100,000.
   */
  readonly maxKeys?: number;
  /** Where the time is read, in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RateLimitOptions> = {
  limit: aPositiveNumber,
  windowMs: aPositiveNumber,
  key: aFunction,
  maxKeys: aPositiveNumber,
  now: aFunction,
};

/**
 * Creates a middleware that limits how many calls a key may make in a window of
 * time. Further ones are refused with `RATE_LIMITED`, status 429 and
 * `Retry-After`.
 *
 * Each limit keeps a count of its own, over all procedures that it is used on,
 * in the memory of this process.
 *
 * @param options How many calls, in what time, and whose.
 * @throws {TypeError} If a number is not positive.
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
  checkOptions(options, OPTIONS, operation);
  const { limit, windowMs, key = networkOfCaller, maxKeys = 100_000 } = options;
  const { now = () => performance.now() } = options;
  checkValue(limit, "limit", aPositiveNumber, operation);
  checkValue(windowMs, "windowMs", aPositiveNumber, operation);
  const table = new FixedWindowCounter({ windowMs, maxKeys, now });

  return async (call) => {
    const name = await shorten(await key(call));
    const at = table.time();
    const window = table.open(name, at);
    if (window.count >= limit) {
      const seconds = Math.max(1, Math.ceil((window.end - at) / 1_000));
      throw new RPCError("RATE_LIMITED", "Too many requests", 429, {
        headers: { "retry-after": `${seconds}` },
        details: { retryAfter: seconds },
      });
    }
    window.count++;
    return await call.next();
  };
}

function networkOfCaller({ ctx }: CallInfo<unknown>): string {
  const { info } = Object(ctx) as RequestContext;
  const address = info?.remoteAddr;
  return address !== undefined && "hostname" in address
    ? networkOf(address.hostname)
    : "";
}

/** So many characters of a key are kept as they are: any user's id or address. */
const MAX_KEY = 64;

/**
 * Long keys, such as a caller's header, must not fill the memory. With
 * its prefix a digest is longer than any key that is kept, so nobody can choose
 * a key that is somebody else's.
 */
async function shorten(key: string): Promise<string> {
  if (!(key?.length > MAX_KEY)) return key;
  const bytes = new TextEncoder().encode(key);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `SHA-256 ${toHex(new Uint8Array(digest))}`;
}
