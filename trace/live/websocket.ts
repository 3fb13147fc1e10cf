import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import {
  createUpgrader,
  type ServerWebSocket,
} from "../../core/socket/websocket.ts";
import type { Authorize } from "../http/access.ts";
import {
  type AccessControl,
  createAccessControl,
} from "../http/access_control.ts";
import { aFunction } from "../../core/check/rules.ts";
import {
  aCollector,
  type Collector,
  createCollector,
} from "../record/collector.ts";
import { serializeTrace } from "../serialize.ts";
import type { TraceEvent, Tracer } from "../types.ts";

/** Settings of the trace socket. */
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
  /** Takes the spans that browsers send. Default: one of the same tracer. */
  readonly collector?: Collector;
  /** Tells the server's time in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<TraceWebSocketOptions> = {
  authorize: aFunction,
  collector: aCollector,
  now: aFunction,
  maxSocketsPerAddress: true,
};

/** The live stream of a tracer. */
export interface TraceWebSocket {
  /**
   * Answers a request for the stream: 101, or an error that says why not.
   * Hand on the `info` that `Deno.serve` gives.
   */
  upgrade(request: Request, info?: ConnectionInfo): Promise<Response>;
  /** How many clients are connected. */
  readonly size: number;
  /** Closes all connections and stops listening to the tracer. */
  close(): Promise<void>;
  /** The same, at the end of the block of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Traces that a client is told when it connects, the newest. */
const MAX_INITIAL = 1_000;
/** Characters of that message, as far as whole traces fit. */
const MAX_INITIAL_SIZE = 16 * 1024 * 1024;
/** Characters of a message that a client may send. */
const MAX_MESSAGE = 256 * 1024;
/** Bytes that may wait for a slow client before it misses events. */
const MAX_BACKLOG = 4 * 1024 * 1024;

/** What is known of a client. */
interface Client {
  /** Whether it receives traces. */
  readonly reads: boolean;
  /** Whether its spans are accepted. */
  readonly writes: boolean;
  /** Number of events that it has missed since it was last told. */
  missed: number;
}

/**
 * Makes the live stream of a tracer over WebSocket. Mount it at
 * `/__app/traces/ws`, or use `tracePlugin`, which does.
 *
 * The server sends JSON: first `{ type: "initial", traces }`, then
 * `{ type: "trace:start", traceId, span }`, `{ type: "trace:end", trace }`,
 * `{ type: "trace:discard", traceId, rootSpanId }` and
 * `{ type: "trace:update", trace }` as they happen. A client that reads too
 * slowly misses events and is told so, `{ type: "dropped", count }`. One that
 * connects with `?role=client`, as a traced page does, is told none of these.
 *
 * A client that may write sends `{ type: "client:spans", … }`, as
 * `Collector.receive` describes. Every client may send
 * `{ type: "ping", sentAt }`, which is answered at once with
 * `{ type: "pong", sentAt, now }`: how a browser measures how far its clock is
 * from the server's.
 *
 * @param tracer Keeps the traces.
 * @param options Who may connect.
 * @throws {TypeError} If an option is of the wrong kind.
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
  checkOptions(options, OPTIONS, "create trace socket");
  const access = createAccessControl(options.authorize);
  const stream = traceWebSocket(tracer, access, options);
  access.warn();
  return stream;
}

/** Creates the stream without a warning. */
export function traceWebSocket(
  tracer: Tracer,
  access: AccessControl,
  options: TraceWebSocketOptions,
): TraceWebSocket {
  const { now = Date.now, maxSocketsPerAddress } = options;
  const collector = options.collector ?? createCollector(tracer, { now });
  const watchers = new Set<ServerWebSocket<Client>>();
  let unsubscribe: (() => void) | undefined;

  const upgrader = createUpgrader<Client>({
    open(ws) {
      if (!ws.data.reads) return;
      ws.send(initialMessage(tracer));
      watchers.add(ws);
      unsubscribe ??= tracer.subscribe(broadcast, [
        "trace:start",
        "trace:end",
        "trace:discard",
        "trace:update",
      ]);
    },
    message(ws, message) {
      if (typeof message !== "string" || message.length > MAX_MESSAGE) {
        return ws.close(
          1009,
          `Messages are text of at most ${MAX_MESSAGE} characters`,
        );
      }
      const taker = ws.data.writes ? collector : undefined;
      const answer = answerTo(message, taker, now);
      if (answer !== undefined) send(ws, JSON.stringify(answer));
    },
    drain: tellMissed,
    close(ws) {
      watchers.delete(ws);
      if (watchers.size === 0) stopListening();
    },
  }, maxSocketsPerAddress === undefined ? {} : { maxSocketsPerAddress });

  function broadcast(event: TraceEvent): void {
    const message = JSON.stringify(
      "trace" in event
        ? { ...event, trace: serializeTrace(event.trace) }
        : event,
    );
    for (const ws of watchers) send(ws, message);
  }

  function stopListening(): void {
    unsubscribe?.();
    unsubscribe = undefined;
  }

  async function close(): Promise<void> {
    stopListening();
    await upgrader.close();
  }

  return {
    async upgrade(request, info) {
      const role = URL.parse(request.url)?.searchParams.get("role");
      const reads = role !== "client";
      const refusal = await access.refuse(
        request,
        info,
        reads ? "read" : "write",
      );
      if (refusal !== undefined) return refusal;
      const writes = !reads || await access.allows(request, info, "write");
      const data = { reads, writes, missed: 0 };
      upgrader.upgrade(request, { data, info });
      return upgrader.response(request) ?? errorResponse(
        426,
        "UPGRADE_REQUIRED",
        "This address only takes WebSocket connections",
        { upgrade: "websocket" },
      );
    },
    get size() {
      return upgrader.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The newest traces, in the order in which they ended. */
function initialMessage(tracer: Tracer): string {
  const traces: string[] = [];
  let size = 0;
  for (const trace of tracer.getTraces().slice(-MAX_INITIAL).reverse()) {
    const json = JSON.stringify(serializeTrace(trace));
    if ((size += json.length) > MAX_INITIAL_SIZE) break;
    traces.push(json);
  }
  return `{"type":"initial","traces":[${traces.reverse()}]}`;
}

function send(ws: ServerWebSocket<Client>, message: string): void {
  if (ws.bufferedAmount > MAX_BACKLOG) {
    ws.data.missed++;
    return;
  }
  tellMissed(ws);
  ws.send(message);
}

function tellMissed(ws: ServerWebSocket<Client>): void {
  if (ws.data.missed === 0) return;
  ws.send(JSON.stringify({ type: "dropped", count: ws.data.missed }));
  ws.data.missed = 0;
}

function answerTo(
  text: string,
  collector: Collector | undefined,
  now: () => number,
): unknown {
  let message: { type?: unknown; sentAt?: unknown };
  try {
    message = Object(JSON.parse(text));
  } catch {
    return { type: "error", error: "The message must be JSON" };
  }
  switch (message.type) {
    case "ping":
      return { type: "pong", sentAt: message.sentAt, now: now() };
    case "client:spans": {
      if (collector === undefined) {
        return { type: "error", error: "This socket may not post spans" };
      }
      const result = collector.receive(message);
      return result.error && { type: "error", ...result };
    }
    default:
      return { type: "error", error: 'type must be "client:spans" or "ping"' };
  }
}
