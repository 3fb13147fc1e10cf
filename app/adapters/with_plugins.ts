import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aFunction, kindOf, type Rule } from "../../core/check/rules.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { checkResponse } from "../../core/http/message.ts";
import { whenDone } from "../../core/promises.ts";
import type { AppOptions } from "../app.ts";
import { aBodySize, limitBody } from "../body_limit.ts";
import { isFetcher } from "../fetcher.ts";
import { createHost } from "../host.ts";
import { type Mountable, toPlugins } from "./mount.ts";

/** Options of {@linkcode withPlugins}. */
export interface FetchHostOptions extends Pick<AppOptions, "onError"> {
  /**
   * The maximum size of a request body, in bytes, or `Infinity`. Larger bodies
   * get 413 `PAYLOAD_TOO_LARGE`. Default: 1 MiB for routes of plugins, and no
   * limit for the handler, which has its own limits.
   */
  readonly maxBodySize?: number;
}

const OPTIONS: OptionRules<FetchHostOptions> = {
  maxBodySize: aBodySize,
  onError: aFunction,
};

/** Errors don't show what else was passed. */
const A_HANDLER: Rule = {
  ...aFunction,
  describe: (value) =>
    isFetcher(value) ? "an app; pass app.fetch" : kindOf(value),
};

/** A handler with plugins around it. */
export interface FetchHost<I extends ConnectionInfo = ConnectionInfo> {
  /**
   * Answers a request. It never rejects: a thrown `Response` is the response,
   * and an `UnavailableError` becomes a 503. Any other error becomes a 500 and
   * is logged.
   *
   * @param info The connection, from `Deno.serve`. The handler gets it too.
   */
  readonly fetch: (request: Request, info?: I) => Promise<Response>;
  /** Notifies the plugins that a shutdown begins. `serve()` calls it. */
  readonly drain: () => void;
  /**
   * Refuses new requests with 503, waits for pending ones for 10 seconds at most,
   * and then closes the plugins, the last one first. Calling it again does
   * nothing.
   */
  readonly close: () => Promise<void>;
}

/**
 * Puts modules of the kit around a handler for `Deno.serve`.
 *
 * The handler gets the request's context from `currentContext()`, as in
 * `getAuth(currentContext())`.
 *
 * @param parts Plugins, middlewares and guards, the outermost first. Tracing is
 * always the outermost.
 * @param handler Answers requests that the parts don't answer.
 * @param options The body limit and the error callback.
 * @throws {TypeError} If an option is invalid, a part is not a plugin,
 * middleware or guard, or two plugins share a name.
 *
 * @example
 * ```ts
 * import { currentContext, withPlugins } from "@quartet/kit/app";
 * import { createAuthPlugin, getAuth } from "@quartet/kit/auth";
 *
 * const auth = createAuthPlugin({
 *   session: { secret: "a secret of at least thirty-two bytes" },
 * });
 * const { fetch } = withPlugins([auth], (_request) => {
 *   const isKnown = getAuth(currentContext()).isAuthenticated();
 *   return new Response(isKnown ? "Welcome back" : "Who are you?");
 * });
 *
 * const response = await fetch(new Request("http://localhost/"));
 * console.assert(await response.text() === "Who are you?");
 * ```
 */
export function withPlugins<I extends ConnectionInfo = ConnectionInfo>(
  parts: readonly Mountable[],
  handler: (request: Request, info: I) => Response | Promise<Response>,
  options: FetchHostOptions = {},
): FetchHost<I> {
  const operation = "put plugins around a handler";
  checkValue(handler, "the handler", A_HANDLER, operation);
  checkOptions(options, OPTIONS, operation);
  const run = limitBody(
    options.maxBodySize ?? Infinity,
    (run) => run,
    // Without info, as in tests, there is nothing to pass on.
    (request, context) => handler(request, context.info as I),
  );
  const { app } = createHost({
    ...options,
    plugins: toPlugins(parts),
    otherwise: (request, context) =>
      whenDone(
        run(request, context),
        checkResponse,
        request,
        "the handler must return",
      ),
  });
  return { fetch: app.fetch, drain: app.drain, close: app.close };
}
