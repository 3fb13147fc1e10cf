import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { runSpan } from "../../core/observe.ts";
import { aFunction, isOrigin, rule } from "../../core/check/rules.ts";
import { clip } from "../../core/redact/redact.ts";
import { getActiveSpan } from "../record/context.ts";
import {
  noteStatus,
  sentRequestAttributes,
} from "../http/request_attributes.ts";
import { formatTraceparent, tracestateOf } from "../trace_context.ts";
import type { Span } from "../types.ts";
import { MAX_NAME_LENGTH } from "../record/limits.ts";
import { SpanImpl } from "../record/span.ts";
import { UnsampledSpan } from "../record/unrecorded_spans.ts";

/** Options of {@linkcode tracedFetch}. */
export interface TracedFetchOptions {
  /**
   * The origins whose servers continue the trace, such as
   * `https://api.example.com`. They receive `traceparent`. `"*"` stands for all
   * origins. Default: none.
   */
  readonly trustedOrigins?: readonly string[] | "*";
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const OPTIONS: OptionRules<TracedFetchOptions> = {
  trustedOrigins: rule(
    'an array of origins or "*"',
    (value) => value === "*" || Array.isArray(value),
  ),
  fetch: aFunction,
};

const anOrigin = rule(
  "like https://api.example.com, without a path or a slash at the end",
  isOrigin,
);

const TRACE = "trace fetch";

type Input = Parameters<typeof fetch>[0];
type Init = Parameters<typeof fetch>[1];

/**
 * Creates a `fetch` whose requests are spans below the active one. The listed
 * origins receive the trace in `traceparent`, so that the spans of both servers
 * form one tree. If nothing is traced, or the protocol isn't HTTP, it only
 * calls `fetch`. In an unsampled request, it passes on that decision and makes
 * no span.
 *
 * A span is called `fetch GET api.example.com/users/7`. It ends when the
 * response's headers have arrived, before its body. A status of 400 or more, an
 * error or a timeout marks it as failed. An aborted request is an event
 * `fetch.aborted`.
 *
 * Like any header, `traceparent` follows redirects, also to other origins. Use
 * `redirect: "manual"` where that matters. A `traceparent` of the caller stays.
 * A received `tracestate` is sent with it.
 *
 * In `url.full`, user names, passwords and the values of secret-sounding query
 * parameters are redacted, also in nested URLs. The fragment is left out. The
 * path stays.
 *
 * @param options The origins that receive the trace, and the `fetch` to use.
 * @returns A function to use instead of `fetch`.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createTracer, tracedFetch } from "@quartet/kit/trace";
 *
 * const server = Deno.serve({ port: 0, onListen() {} }, (request) =>
 *   new Response(request.headers.get("traceparent")));
 * const origin = `http://127.0.0.1:${server.addr.port}`;
 *
 * const fetch = tracedFetch({ trustedOrigins: [origin] });
 * const tracer = createTracer();
 * const told = await tracer.withSpan("job", "custom", async () => {
 *   const response = await fetch(`${origin}/users/7`);
 *   return await response.text();
 * });
 * await server.shutdown();
 *
 * const [trace] = tracer.getTraces();
 * const [, span] = trace!.spans.values();
 * console.assert(told === `00-${trace!.id}-${span!.id}-01`);
 * ```
 */
export function tracedFetch(options: TracedFetchOptions = {}): typeof fetch {
  checkOptions(options, OPTIONS, TRACE);
  const { trustedOrigins = [] } = options;
  if (trustedOrigins !== "*") {
    for (const origin of trustedOrigins) {
      checkValue(origin, "trustedOrigins", anOrigin, TRACE);
    }
  }
  const isTold = (origin: string) =>
    trustedOrigins === "*" || trustedOrigins.includes(origin);
  // Read late, because tests and other libraries replace it.
  const send: typeof fetch = options.fetch ??
    ((input, init) => globalThis.fetch(input, init));

  return async (input: Input, init?: Init): Promise<Response> => {
    const parent = getActiveSpan();
    const url = parent === undefined ? undefined : httpURL(input);
    if (parent === undefined || url === undefined) {
      return await send(input, init);
    }
    const toldBy = (span: Span) =>
      isTold(url.origin)
        ? withTrace(input, init, span, tracestateOf(parent))
        : [input, init] as const;
    if (parent instanceof UnsampledSpan) return await send(...toldBy(parent));
    const method = methodOf(input, init);
    const name = `fetch ${method} ${url.host}${url.pathname}`;
    // Another `tracedFetch()` around this one, or a sign-in with OAuth.
    if (
      parent instanceof SpanImpl && /^(?:auth|request)$/.test(parent.layer) &&
      parent.name === clip(name, MAX_NAME_LENGTH)
    ) {
      return await send(...toldBy(parent));
    }
    const attributes = sentRequestAttributes(method, url);
    const span = parent.child(name, "request", attributes);
    return await runSpan(span, async () => {
      try {
        const response = await send(...toldBy(span));
        noteStatus(span, response.status, 400);
        return response;
      } catch (error) {
        const signal = init?.signal ?? requestOf(input)?.signal;
        // An abort isn't an error; a timeout is.
        if (signal?.aborted && (error as Error)?.name !== "TimeoutError") {
          span.event("fetch.aborted");
          // An ended span no longer records the error.
          span.end();
        }
        throw error;
      }
    });
  };
}

/** Returns the URL of a request. `undefined` if it isn't HTTP, or invalid. */
function httpURL(input: Input): URL | undefined {
  const url = URL.parse(
    requestOf(input)?.url ?? String(input),
    globalThis.location?.href,
  );
  return url?.protocol === "https:" || url?.protocol === "http:"
    ? url
    : undefined;
}

function requestOf(input: Input): Request | undefined {
  return input instanceof Request ? input : undefined;
}

/** Returns the method as sent: `fetch` converts common ones to upper case. */
function methodOf(input: Input, init: Init): string {
  const method = String(init?.method ?? requestOf(input)?.method ?? "GET");
  return /^(?:delete|get|head|options|post|put)$/i.test(method)
    ? method.toUpperCase()
    : method;
}

/**
 * Returns arguments for `fetch` that also send the trace. The caller's `Request`
 * and options stay as they are.
 */
function withTrace(
  input: Input,
  init: Init,
  span: Span,
  state: string | undefined,
): [input: Input, init: Init] {
  const headers = new Headers(init?.headers ?? requestOf(input)?.headers);
  // A trace that has ended in the meantime has no ids.
  if (headers.has("traceparent") || span.id === "") return [input, init];
  const isSampled = !(span instanceof UnsampledSpan);
  headers.set("traceparent", formatTraceparent(span, isSampled));
  if (state !== undefined && !headers.has("tracestate")) {
    headers.set("tracestate", state);
  }
  // In `fetch(url, request)`, the request's members can't be spread.
  return init instanceof Request
    ? [new Request(input, init), { headers }]
    : [input, { ...init, headers }];
}
