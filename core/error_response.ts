/**
 * Error responses, and errors that clients may see.
 *
 * @module
 */

import { checkValue } from "./check/options.ts";
import { aDuration } from "./check/rules.ts";

/**
 * Creates an error response in the shape that all modules use:
 * `{ "error": { "code": "NOT_FOUND", "message": "…" } }`.
 *
 * @param status The HTTP status.
 * @param code A stable name for programs, in capitals.
 * @param message One sentence for people, without internal details.
 * @param headers More response headers, such as `Allow`.
 *
 * @example
 * ```ts
 * import { errorResponse } from "@quartet/kit/app";
 *
 * const response = errorResponse(404, "NOT_FOUND", "No such country");
 * console.assert(response.status === 404);
 * ```
 */
export function errorResponse(
  status: number,
  code: string,
  message: string,
  headers?: ResponseInit["headers"],
): Response {
  const init: ResponseInit = headers ? { status, headers } : { status };
  return Response.json({ error: { code, message } }, init);
}

/** Answers 405. `allow` lists the allowed methods, as in `GET, HEAD`. */
export function methodNotAllowed(message: string, allow: string): Response {
  return errorResponse(405, "METHOD_NOT_ALLOWED", message, { allow });
}

/** An error whose code, message and status clients may see. */
interface ClientError extends Error {
  readonly code: string;
  /** Returns the response to the failed request. */
  toResponse(): Response;
}

const clientErrors = new WeakSet<object>();

/**
 * Marks an error of a module, so that other modules and Hono send its response
 * instead of reporting it.
 */
export function markClientError(error: ClientError): void {
  clientErrors.add(error);
  // Not enumerable, so that logs don't show it.
  const value = () => error.toResponse();
  Object.defineProperty(error, "getResponse", { value });
}

/** Whether an error is meant for the client. Safe for a proxy that throws. */
export function isClientError(error: unknown): error is ClientError {
  return clientErrors.has(error as object);
}

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

const reported = new WeakSet<UnavailableError>();

/**
 * Marks an error that came while the connection worked, as from a server that is
 * full. The link to the server reports such errors, at most once a minute.
 */
export function markReported(error: UnavailableError): void {
  reported.add(error);
}

/** Whether an error was marked by {@linkcode markReported}. */
export function isReported(error: unknown): boolean {
  return reported.has(error as UnavailableError);
}
