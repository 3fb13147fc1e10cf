/**
 * The router over WebSockets: many subscriptions on one connection.
 *
 * @module
 */

import type { ServerWebSocket, WebSocketHandler } from "../app/websocket.ts";
import type { Endpoint } from "./call.ts";
import type { Endpoints } from "./endpoints.ts";
import { RPCError } from "./error.ts";
import {
  describe,
  findByKeys,
  parseError,
  parseJSON,
  readInput,
  readObject,
  readPath,
} from "./messages.ts";
import type { Fields } from "./messages.ts";
import type { Reporter } from "./report.ts";
import { errorMessage, streamTo } from "./subscription.ts";
import { MAX_EVENT_ID } from "./tracked.ts";
import type { Transformer } from "./transformer.ts";

/** What belongs to one connection. */
export interface WSConnectionData {
  /** What aborts each running subscription, by its id. */
  subscriptions: Map<string, AbortController>;
  /** What handlers get as `ctx`. */
  // deno-lint-ignore no-explicit-any -- applications type their own context
  ctx: any;
  /** A copy of the request that opened the connection, made before it did. */
  originalRequest?: Request;
}

/** What the WebSocket side of a router needs to know. */
export interface WebSocketOptions {
  readonly endpoints: Endpoints;
  readonly transformer: Transformer | undefined;
  readonly report: Reporter;
  readonly maxSubscriptions: number;
  readonly maxMessageSize: number;
}

/** A connection of a router. */
export type Socket = ServerWebSocket<WSConnectionData>;

const PONG = '{"type":"pong"}';

/** How long the id of a subscription may be, in UTF-16 code units. */
const MAX_ID = 128;

/**
 * Bytes that may wait for a client which goes on asking without reading the
 * answers. No stream gets that far: they stop at a quarter of it.
 */
const MAX_UNREAD = 4_194_304;

/** Makes the WebSocket handler of a router. */
export function createWebSocketHandler(
  options: WebSocketOptions,
): WebSocketHandler<WSConnectionData> {
  const { endpoints, transformer, maxSubscriptions, maxMessageSize } = options;
  /**
   * How many generators of a connection have not ended. One that was aborted
   * may still wait for something; it no longer has an id, but it has a cost.
   */
  const running = new WeakMap<WSConnectionData, number>();

  return {
    message(ws, message) {
      if (isOverwhelmed(ws)) return;
      let id: string | null = null;
      try {
        const fields = read(message);
        if (fields.type === "ping") return ws.send(PONG);
        id = readId(fields.id);
        if (fields.type === "subscribe") return subscribe(ws, id, fields);
        if (fields.type === "unsubscribe") return unsubscribe(ws, id);
        throw parseError('type must be "subscribe", "unsubscribe" or "ping"');
      } catch (error) {
        if (!(error instanceof RPCError)) throw error;
        ws.send(errorMessage(id ?? idAtStart(message), error));
      }
    },
    close({ data }) {
      abortAll(data, "The connection is closed");
    },
  };

  function read(message: string | Uint8Array): Fields {
    if (typeof message !== "string") {
      throw parseError("Messages must be text, received a binary one");
    }
    if (isLonger(message, maxMessageSize)) {
      throw new RPCError(
        "PAYLOAD_TOO_LARGE",
        `The message is longer than ${maxMessageSize} bytes`,
        413,
      );
    }
    return readObject(parseJSON(message, "The message"), "The message");
  }

  function subscribe(ws: Socket, id: string, fields: Fields): void {
    const { data } = ws;
    const { subscriptions } = data;
    if (subscriptions.has(id)) {
      throw new RPCError(
        "DUPLICATE_ID",
        "The id is that of a running subscription",
      );
    }
    const generators = running.get(data) ?? 0;
    if (
      subscriptions.size >= maxSubscriptions ||
      generators >= 2 * maxSubscriptions
    ) {
      throw new RPCError(
        "SUBSCRIPTION_ERROR",
        `A connection holds at most ${maxSubscriptions} subscriptions`,
      );
    }
    const endpoint = findByKeys(endpoints, readPath(fields.path));
    checkKind(endpoint);
    const input = readInput(transformer, fields.input);
    const lastEventId = readEventId(fields.lastEventId);

    // From here on the id is taken, before anything asynchronous happens.
    const controller = new AbortController();
    subscriptions.set(id, controller);
    running.set(data, generators + 1);
    streamTo(ws, { endpoint, id, input, lastEventId, controller }, options)
      .finally(() => {
        running.set(data, running.get(data)! - 1);
        if (subscriptions.get(id) === controller) subscriptions.delete(id);
      });
  }
}

function unsubscribe({ data: { subscriptions } }: Socket, id: string): void {
  const controller = subscriptions.get(id);
  // It may have ended while the client's message was on its way.
  if (controller === undefined) return;
  subscriptions.delete(id);
  controller.abort(new DOMException("Unsubscribed", "AbortError"));
}

/** Ends every subscription of a connection. */
export function abortAll(
  { subscriptions }: WSConnectionData,
  reason: string,
): void {
  const controllers = [...subscriptions.values()];
  subscriptions.clear();
  for (const controller of controllers) {
    controller.abort(new DOMException(reason, "AbortError"));
  }
}

/** Closes a connection whose client asks and asks but does not read. */
function isOverwhelmed(ws: Socket): boolean {
  if (ws.bufferedAmount <= MAX_UNREAD) return false;
  ws.close(1008, "Too many unread messages");
  return true;
}

function checkKind({ procedure: { kind } }: Endpoint): void {
  if (kind === "subscription") return;
  throw new RPCError(
    "METHOD_MISMATCH",
    `The procedure is a ${kind}, which is called over HTTP`,
  );
}

/**
 * The id of a message that was not parsed, because it is too long or broken,
 * if it stands where this kit's client puts it: otherwise the client could not
 * tell which of its subscriptions was refused.
 */
function idAtStart(message: string | Uint8Array): string | null {
  if (typeof message !== "string") return null;
  const start = /^\{"type":"subscribe","id":"([^"\\]{1,128})"/.exec(message);
  return start?.[1] ?? null;
}

function readId(id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= MAX_ID) return id;
  throw parseError(
    `id must be a string of 1 to ${MAX_ID} characters, received ${
      typeof id === "string" ? `one of ${id.length}` : describe(id)
    }`,
  );
}

function readEventId(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  if (typeof id === "string" && id.length <= MAX_EVENT_ID) return id;
  throw parseError(
    `lastEventId must be a string of at most ${MAX_EVENT_ID} characters`,
  );
}

const encoder = new TextEncoder();

/** Whether a text is longer than `limit` bytes; most are short at first sight. */
function isLonger(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}
