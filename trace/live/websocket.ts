import { runOutside } from "../../core/request_scope.ts";
import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction, aLimit } from "../../core/check/rules.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { allows, type Authorize, refuse, ruleOf } from "../http/access.ts";
import {
  aCollector,
  type Collector,
  createCollector,
} from "../record/collector.ts";
import { checkTracer } from "../record/tracer_options.ts";
import type { Tracer } from "../types.ts";
import type { LiveStream } from "./stream.ts";

/** Options of the trace socket. */
export interface TraceWebSocketOptions {
  /**
   * Decides who may connect. It is called with `write` if the URL has
   * `?role=client`, and otherwise with `read` and then `write`. Default: requests
   * from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
  /**
   * The maximum of open sockets per address. An IPv6 network of 64 bits counts as
   * one address. Default: 100 for public addresses, and `Infinity` for private
   * ones, which often belong to proxies.
   */
  readonly maxSocketsPerAddress?: number;
  /**
   * Receives the spans of browsers. Default: a collector for the same tracer.
   */
  readonly collector?: Collector;
  /** Returns the server's time in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<TraceWebSocketOptions> = {
  authorize: aFunction,
  collector: aCollector,
  now: aFunction,
  maxSocketsPerAddress: aLimit,
};

/** The live stream of a tracer. */
export interface TraceWebSocket extends AsyncDisposable {
  /**
   * Answers a request for the stream: with 101, or an error with its reason.
   * Pass it the `info` of `Deno.serve`.
   */
  upgrade(request: Request, info?: ConnectionInfo): Promise<Response>;
  /** The number of connected clients. */
  readonly size: number;
  /** Closes all connections and stops listening to the tracer. */
  close(): Promise<void>;
}

/**
 * Creates the live stream of a tracer over WebSocket. Mount it at
 * `/__app/traces/ws`, or use `tracePlugin`, which does.
 *
 * The server sends JSON: first `{ type: "initial", traces }`, then `{ type:
 * "trace:start", traceId, span }`, `{ type: "trace:end", trace }`, `{ type:
 * "trace:discard", traceId, rootSpanId }` and `{ type: "trace:update", trace }`
 * as they happen. Each `trace` is the joined trace. A trace that changes again
 * within 150 ms is sent once more after that. Running spans with changed
 * attributes are sent at most once a second. A client that reads too slowly misses events, and gets `{
 * type: "dropped", count }`. A client with `?role=client`, such as a traced
 * page, gets none of these.
 *
 * A client with write access sends `{ type: "client:spans", … }`, as described
 * at `Collector.receive`. Every client may send `{ type: "ping", sentAt }`. The
 * response `{ type: "pong", sentAt, now }` lets a browser measure the offset
 * between its clock and the server's.
 *
 * @param tracer Keeps the traces.
 * @param options Access to the stream.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createTracer, createTraceWebSocket } from "@quartet/kit/trace";
 *
 * const stream = createTraceWebSocket(createTracer());
 * const server = Deno.serve(
 *   { port: 0, hostname: "127.0.0.1", onListen: () => {} },
 *   (request, info) => stream.upgrade(request, info),
 * );
 *
 * const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}/`);
 * const first = await new Promise<MessageEvent>((resolve) => {
 *   socket.onmessage = resolve;
 * });
 * console.assert(JSON.parse(first.data).type === "initial");
 *
 * const closed = new Promise((resolve) => socket.onclose = resolve);
 * await stream.close();
 * await closed;
 * await server.shutdown();
 * ```
 */
export function createTraceWebSocket(
  tracer: Tracer,
  options: TraceWebSocketOptions = {},
): TraceWebSocket {
  checkTracer(tracer, "create trace socket", "subscribe");
  checkOptions(options, OPTIONS, "create trace socket");
  const rule = ruleOf(options.authorize);
  const { now = Date.now, maxSocketsPerAddress } = options;
  const { collector = createCollector(tracer, { now }) } = options;
  let stream: LiveStream | undefined;

  async function close(): Promise<void> {
    await stream?.close();
  }

  return {
    async upgrade(request, info) {
      const role = URL.parse(request.url)?.searchParams.get("role");
      const reads = role !== "client";
      const kind = reads ? "read" : "write";
      const refusal = await refuse(rule, request, info, kind);
      if (refusal !== undefined) return refusal;
      const writes = !reads || await allows(rule, request, info, "write");
      // Most processes never have a client, so this is loaded on demand.
      const { openStream } = await runOutside(() => import("./stream.ts"));
      stream ??= openStream(tracer, collector, now, maxSocketsPerAddress);
      return stream.upgrade(request, info, { reads, writes, missed: 0 });
    },
    get size() {
      return stream?.size ?? 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
