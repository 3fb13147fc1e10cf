/**
 * Limits the body size of a route's requests.
 *
 * @module
 */

import { type Rule, rule } from "../core/check/rules.ts";
import type { Context } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import type { Handler } from "../core/middleware.ts";
import { isResponse } from "../core/http/message.ts";
import { BodyError, declaredLength, tooLarge } from "../core/http/read_body.ts";

/** The default limit of a route, in bytes. */
export const DEFAULT_MAX_BODY_SIZE = 1_048_576;

/** A limit of body sizes. */
export const aBodySize: Rule = rule(
  "a number of bytes, 0 or more, or Infinity",
  (value) =>
    value === Infinity || Number.isSafeInteger(value) && value as number >= 0,
);

/** Runs a handler after checks that come first, such as guards. */
export type Guarded = (run: Handler<Context>) => Handler<Context>;

/**
 * Limits the bodies that a handler gets.
 *
 * A body with a larger `Content-Length` is refused after the guards have passed,
 * so that unauthorized clients don't learn the limit. A body of unknown length
 * is counted while the handler or a guard reads it.
 */
export function limitBody(
  limit: number,
  guarded: Guarded,
  run: Handler<Context>,
): Handler<Context> {
  const direct = guarded(run);
  const refusing = guarded(() => refuse(tooLarge(limit)));

  async function runLimited(
    request: Request,
    context: Context,
    body: Request["body"],
    next: Handler<Context>,
  ): Promise<Response> {
    let excess: BodyError | undefined;
    const stream = body && limitStream(body, limit, (error) => excess = error);
    const limited = limitedRequest(request, stream);
    // The handler may read either of the two.
    (context as { request: Request }).request = limited;
    try {
      return await next(limited, context);
    } catch (error) {
      // The limit of an outer request.
      if (error instanceof BodyError && error.problem === "TOO_LARGE") {
        return refuse(error);
      }
      // The body's error may have been wrapped, for example by `fetch`.
      if (excess !== undefined && !isResponse(error)) return refuse(excess);
      throw error;
    }
  }

  return (request, context) => {
    // These methods have no body, and a WebSocket needs the original request.
    const { method } = request;
    if (method === "GET" || method === "HEAD" || method === "CONNECT") {
      return direct(request, context);
    }
    const length = declaredLength(request.headers);
    if (length !== undefined && length <= limit) {
      return direct(request, context);
    }
    // Nothing to count, unless an app around this one does.
    if (limit === Infinity && !limitedRequests.has(request)) {
      return direct(request, context);
    }
    const next = length === undefined ? direct : refusing;
    // `Request` refuses a body with such a method. TRACE has no content (RFC 9110,
    // section 9.3.8), and Node's adapters hide any that is sent.
    if (WITHOUT_BODY.test(method)) {
      return runLimited(request, context, null, next);
    }
    const { body } = request;
    return body === null || request.bodyUsed
      ? next(request, context)
      : runLimited(request, context, body, next);
  };
}

/** Deno passes on `get` unchanged, which isn't the method `GET`. */
const WITHOUT_BODY = /^(?:get|head|connect|trace|track)$/i;

function refuse({ message }: BodyError): Response {
  return errorResponse(413, "PAYLOAD_TOO_LARGE", message);
}

/** The requests of {@linkcode limitedRequest}. */
const limitedRequests = new WeakSet<Request>();

/**
 * Returns a copy of a request whose body errors beyond a limit, or that has no
 * body. The original body is read only when this one is read.
 *
 * It isn't a subclass, because Deno would load `Request` with this module.
 *
 * @param body The limited body, or `null` for none.
 */
function limitedRequest(original: Request, body: Request["body"]): Request {
  const { url, method, headers, redirect } = original;
  // GET stands in for methods that `Request` refuses, such as TRACE.
  // Streams need `duplex`, except on Deno.
  const content = body === null
    ? { method: "GET" }
    : { method, body, duplex: "half" };
  const request = new Request(url, { headers, redirect, ...content });
  const clone = request.clone.bind(request);
  limitedRequests.add(request);
  return Object.defineProperties(request, {
    method: { value: method, configurable: true },
    // Read lazily: Deno warns as soon as a request's signal is touched.
    signal: { get: () => original.signal, configurable: true },
    clone: {
      value: () => limitedRequest(request, clone().body),
      configurable: true,
    },
  });
}

/**
 * Returns a body whose bytes are counted while they are read. Beyond the limit,
 * it fails with a `BodyError`.
 *
 * @param onExcess Called with the error. An outer app's limit may have caused it.
 */
function limitStream(
  body: NonNullable<Request["body"]>,
  limit: number,
  onExcess: (error: BodyError) => void,
): NonNullable<Request["body"]> {
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  let size = 0;
  return new ReadableStream({
    async pull(controller) {
      reader ??= body.getReader();
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        size += value.byteLength;
        if (size <= limit) return controller.enqueue(value);
        throw tooLarge(limit);
      } catch (error) {
        if (error instanceof BodyError) onExcess(error);
        reader.cancel().catch(() => {});
        throw error;
      }
    },
    cancel: (reason) => (reader ?? body).cancel(reason),
  }, { highWaterMark: 0 });
}
