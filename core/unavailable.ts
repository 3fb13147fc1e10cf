import { checkValue } from "./check/options.ts";
import { aDuration } from "./check/rules.ts";
import { markClientError } from "./error_response.ts";

const aWait = aDuration("seconds", { zero: true });

/**
 * Thrown if a service that the app needs can't be reached, such as the session
 * store.
 *
 * Hosts and routers answer with 503 `UNAVAILABLE` and `Retry-After`. They don't
 * report it, because the code that throws it reports each outage once. The message
 * is for the log only.
 *
 * @example
 * ```ts
 * import { createApp, UnavailableError } from "@quartet/kit/app";
 *
 * const app = createApp({
 *   routes: [{
 *     path: "/orders",
 *     loader: () => {
 *       throw new UnavailableError("Cannot reach database", { retryAfter: 5 });
 *     },
 *   }],
 * });
 * const response = await app.fetch(new Request("http://localhost/orders"));
 * console.assert(response.status === 503);
 * console.assert(response.headers.get("retry-after") === "5");
 * ```
 */
export class UnavailableError extends Error {
  /** Always `UnavailableError`. */
  override readonly name = "UnavailableError";
  /** Always `UNAVAILABLE`. */
  readonly code = "UNAVAILABLE";
  /** Always 503. */
  readonly status = 503;
  /** Seconds until another attempt may succeed. */
  readonly retryAfter: number;
  /**
   * `toResponse()` under the name that Hono calls. Otherwise Hono would log each
   * request.
   */
  declare readonly getResponse: () => Response;

  /**
   * Creates an error.
   *
   * @param message The service and the failure, for the log, as in
   * `Cannot reach session store: Redis has not answered for 1 s`.
   * @param options `cause` is for the log. `retryAfter` is the number of seconds
   * until another attempt may succeed. Default: 2.
   * @throws {TypeError} If `retryAfter` isn't a number of seconds.
   */
  constructor(
    message: string,
    options: ErrorOptions & { readonly retryAfter?: number } = {},
  ) {
    super(message, options);
    const { retryAfter = 2 } = options;
    checkValue(retryAfter, "retryAfter", aWait, "create UnavailableError");
    this.retryAfter = retryAfter;
    markClientError(this);
  }

  /**
   * Returns the response to the failed request, without the cause. It also has the
   * shape of RPC errors, because auth answers calls before the router does.
   */
  toResponse(): Response {
    const { code, status, retryAfter } = this;
    const message = "The service is temporarily unavailable";
    const headers = {
      "cache-control": "no-store",
      "retry-after": String(Math.max(1, Math.ceil(retryAfter))),
    };
    return Response.json({ ok: false, error: { code, message } }, {
      status,
      headers,
    });
  }
}
