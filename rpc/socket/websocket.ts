/**
 * The router over WebSockets, with many subscriptions on one connection.
 *
 * @module
 */

import type {
  ServerWebSocket,
  WebSocketHandler,
} from "../../core/socket/websocket.ts";
import { RPCError } from "../error.ts";
import { MAX_EVENT_ID } from "../procedure/tracked.ts";
import type { Endpoint } from "../server/call.ts";
import type { RouterParts } from "../server/http.ts";
import {
  describe,
  type Fields,
  findByKeys,
  methodOf,
  parseError,
  parseObject,
  readInput,
} from "../server/read_message.ts";
import {
  type ConnectionState,
  type Socket,
  stateOf,
  Stopped,
  unsent,
  type WSConnectionData,
} from "./connection.ts";
import {
  lengthOf,
  readText,
  type SocketMessage,
  textAtStart,
} from "./message_text.ts";
import { errorMessage, streamTo, type Subscription } from "./subscription.ts";

/**
 * The handler of a router's sockets. It works with any server whose sockets
 * have `send`, `close` and `bufferedAmount`. Set their `data` first.
 */
export interface RouterWebSocketHandler
  extends WebSocketHandler<WSConnectionData> {
  /** Handles a message of the client. */
  message(ws: ServerWebSocket<WSConnectionData>, message: SocketMessage): void;
}

const PONG = '{"type":"pong"}';

/** Maximum length of a subscription's id, in UTF-16 code units. */
const MAX_ID = 128;

/**
 * Maximum unread bytes of answers for a client that sends without reading.
 * Streams don't count, because they wait for the client.
 */
const MAX_UNREAD = 4_194_304;
/** Minimum bytes that Deno holds for a message to send. */
const MIN_SIZE = 128;

/**
 * A message this many times over the limit closes its socket. A smaller one
 * gets an error.
 */
const MAX_EXCESS = 16;

/** Creates the WebSocket handler of a router. */
export function createWebSocketHandler(
  parts: RouterParts,
  maxSubscriptions: number,
  maxMessageSize: number,
): RouterWebSocketHandler {
  return {
    message(ws, message) {
      const state = stateOf(ws.data);
      let id: string | null = null;
      try {
        const text = readText(message, maxMessageSize);
        const fields = parseObject(text, "The message");
        if (fields.type === "ping") return answer(ws, state, PONG);
        id = readId(fields.id);
        if (fields.type === "subscribe") {
          return subscribe(ws, state, id, fields);
        }
        if (fields.type === "unsubscribe") return unsubscribe(ws, id);
        throw parseError('type must be "subscribe", "unsubscribe" or "ping"');
      } catch (error) {
        if (!(error instanceof RPCError)) throw error;
        answer(ws, state, errorMessage(id ?? idAtStart(message), error));
        if (lengthOf(message) > MAX_EXCESS * maxMessageSize) {
          ws.close(1009, "The message is too long");
        }
      }
    },
    close({ data }, code) {
      const text = "The connection is closed";
      abortAll(data, new Stopped("socket_closed", text, code));
      stateOf(data).sessions?.close();
    },
  };

  /**
   * Sends an answer, or closes the connection of a client that doesn't read.
   */
  function answer(ws: Socket, state: ConnectionState, message: string): void {
    if (unsent(ws) === 0) state.unread = 0;
    state.unread += Math.max(message.length, MIN_SIZE);
    if (state.unread <= MAX_UNREAD) ws.send(message);
    else ws.close(1008, "Too many unread messages");
  }

  function subscribe(
    ws: Socket,
    state: ConnectionState,
    id: string,
    fields: Fields,
  ): void {
    const { data } = ws;
    const { subscriptions } = data;
    if (subscriptions.has(id)) {
      throw new RPCError(
        "DUPLICATE_ID",
        "Another running subscription has this id",
      );
    }
    if (subscriptions.size >= maxSubscriptions) {
      throw new RPCError(
        "SUBSCRIPTION_ERROR",
        `A connection holds at most ${maxSubscriptions} subscriptions`,
      );
    }
    if (state.generators >= 2 * maxSubscriptions) {
      throw new RPCError(
        "SUBSCRIPTION_ERROR",
        "Too many subscriptions of this connection are still stopping",
      );
    }
    const endpoint = findByKeys(parts.endpoints, fields.path);
    checkKind(endpoint);
    const { traceparent } = fields;
    const controller = new AbortController();
    const subscription: Subscription = {
      endpoint,
      id,
      input: readInput(parts.transformer, fields.input),
      lastEventId: readEventId(fields.lastEventId),
      traceparent: typeof traceparent === "string" ? traceparent : undefined,
      controller,
    };

    // Reserves the id before anything asynchronous happens.
    subscriptions.set(id, controller);
    state.generators++;
    state.work.begin();
    streamTo(ws, subscription, parts, state).finally(() => {
      state.generators--;
      state.work.end();
      if (subscriptions.get(id) === controller) subscriptions.delete(id);
    });
  }
}

function unsubscribe({ data: { subscriptions } }: Socket, id: string): void {
  const controller = subscriptions.get(id);
  // It may have ended while the client's message was on its way.
  if (controller === undefined) return;
  subscriptions.delete(id);
  controller.abort(new Stopped("unsubscribed", "Unsubscribed"));
}

/** Ends every subscription of a connection. */
export function abortAll(
  { subscriptions }: WSConnectionData,
  reason: Stopped,
): void {
  const controllers = [...subscriptions.values()];
  subscriptions.clear();
  for (const controller of controllers) controller.abort(reason);
}

function checkKind({ path, procedure: { kind } }: Endpoint): void {
  if (kind === "subscription") return;
  throw new RPCError(
    "METHOD_MISMATCH",
    `Cannot subscribe to ${path}: it is a ${kind}, use ${methodOf(kind)}`,
  );
}

/**
 * Returns the id of an unparsed message that is too long or malformed, if it is
 * where the kit's client puts it. So the client knows which subscription
 * failed.
 */
function idAtStart(message: SocketMessage): string | null {
  return ID_AT_START.exec(textAtStart(message, MAX_START))?.[1] ?? null;
}

const ID_AT_START = new RegExp(
  String.raw`^\{"type":"subscribe","id":"([^"\\]{1,${MAX_ID}})"`,
);

/** Bytes of the longest such id. A UTF-16 code unit has at most three. */
const MAX_START = 32 + 3 * MAX_ID;

function readId(id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= MAX_ID) return id;
  const received = typeof id === "string"
    ? `one of ${id.length}`
    : describe(id);
  throw parseError(
    `id must be a string of 1 to ${MAX_ID} characters, received ${received}`,
  );
}

function readEventId(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  if (typeof id === "string" && id.length <= MAX_EVENT_ID) return id;
  throw parseError(
    `lastEventId must be a string of at most ${MAX_EVENT_ID} characters`,
  );
}
