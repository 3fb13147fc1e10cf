/**
 * The live stream of a tracer: its clients, and the messages of both sides.
 *
 * @module
 */

import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import {
  createUpgrader,
  type ServerWebSocket,
} from "../../core/socket/websocket.ts";
import { routesOf } from "../http/access.ts";
import type { Collector } from "../record/collector.ts";
import { serializeTrace } from "../serialize.ts";
import type { TraceEvent, Tracer } from "../types.ts";
import { createTraceUpdates, type TraceUpdates } from "./trace_updates.ts";

/** Maximum traces that a client gets when it connects. */
const MAX_INITIAL = 1_000;
/** Maximum characters of that message. */
const MAX_INITIAL_SIZE = 16 * 1024 * 1024;
/** Maximum characters of a client's message. */
const MAX_MESSAGE = 256 * 1024;
/** Maximum bytes that wait for a slow client. After that it misses events. */
const MAX_BACKLOG = 4 * 1024 * 1024;

/** The state of a client. */
interface Client {
  /** Whether it receives traces. */
  readonly reads: boolean;
  /** Whether its spans are accepted. */
  readonly writes: boolean;
  /** The number of missed events that it hasn't been notified of. */
  missed: number;
}

/** The stream of a tracer, from its first client on. */
export type LiveStream = ReturnType<typeof openStream>;

/** Opens the stream of a tracer. */
export function openStream(
  tracer: Tracer,
  collector: Collector,
  now: () => number,
  maxSocketsPerAddress: number | undefined,
) {
  const watchers = new Set<ServerWebSocket<Client>>();
  let unsubscribe: (() => void) | undefined;

  const upgrader = createUpgrader<Client>({
    open(ws) {
      if (!ws.data.reads) return;
      ws.send(initialMessage(tracer, updates));
      watchers.add(ws);
      unsubscribe ??= tracer.subscribe(receive, [
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

  const updates = createTraceUpdates(tracer, (type, trace) => {
    broadcast({ type, trace: serializeTrace(trace) });
  });

  function broadcast(message: unknown): void {
    const text = JSON.stringify(message);
    for (const ws of watchers) send(ws, text);
  }

  function receive(event: TraceEvent): void {
    // Joining the trace of each update would slow down the app.
    if (event.type === "trace:update") updates.add(event.type, event.traceId);
    else if (event.type === "trace:end") {
      updates.add(event.type, event.trace.id);
    } else broadcast(event);
  }

  function stopListening(): void {
    updates.close();
    unsubscribe?.();
    unsubscribe = undefined;
  }

  return {
    upgrade(
      request: Request,
      info: ConnectionInfo | undefined,
      data: Client,
    ): Response {
      upgrader.upgrade(request, { data, info });
      return upgrader.response(request) ?? errorResponse(
        426,
        "UPGRADE_REQUIRED",
        "This address only takes WebSocket connections",
        { upgrade: "websocket" },
      );
    },
    get size(): number {
      return upgrader.size;
    },
    close(): Promise<void> {
      stopListening();
      return upgrader.close();
    },
  };
}

/** Returns the message with the newest traces, the oldest of them first. */
function initialMessage(tracer: Tracer, updates: TraceUpdates): string {
  const traces: string[] = [];
  let size = 0;
  for (const trace of tracer.getTraces().slice(-MAX_INITIAL).reverse()) {
    const json = JSON.stringify(serializeTrace(trace));
    if ((size += json.length) > MAX_INITIAL_SIZE) break;
    traces.push(json);
    updates.note(trace);
  }
  // A request for a missing route would be a 404 in the browser's console.
  const paths = [...routesOf(tracer).keys()];
  const routes = paths.length === 0 ? "" : `,"routes":${JSON.stringify(paths)}`;
  return `{"type":"initial","traces":[${traces.reverse()}]${routes}}`;
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
