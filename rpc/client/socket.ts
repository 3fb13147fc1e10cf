/**
 * Subscriptions: one socket for all of them, opened with the first and closed
 * after the last. When it breaks it is opened again, and each subscription
 * goes on after the last tracked value that it has seen.
 *
 * @module
 */

import type { SubscriptionHandlers } from "../calls.ts";
import type { RPCFailure } from "../error.ts";
import type { ClientMessage, ServerMessage } from "../protocol.ts";
import { decode } from "./decode.ts";
import { RPCClientError } from "./error.ts";
import type { PlainOptions, SubscribeOptions } from "./types.ts";

/** What happens to a subscription, and what ends it. */
export interface Handlers
  extends SubscriptionHandlers<unknown>, SubscribeOptions {
  /** Called when the client itself has ended it. */
  readonly onStop?: () => void;
}

/** Opens a subscription and gives what ends it. */
export type SubscribeTo = (
  path: readonly string[],
  input: unknown,
  handlers: Handlers,
) => () => void;

interface Subscription {
  /** What is sent on each new socket. */
  readonly message: Omit<Subscribe, "lastEventId"> & {
    lastEventId: string | undefined;
  };
  /** Gets what the server says of it. */
  readonly receive: (received: Received) => void;
}

type Subscribe = ClientMessage & { readonly type: "subscribe" };

/** Any message of the server: each has some of these fields. */
interface Received {
  readonly type: ServerMessage["type"];
  readonly id?: string;
  readonly data?: unknown;
  readonly eventId?: string;
  readonly error?: RPCFailure;
  readonly cause?: unknown;
}

/** Undefined fields don't travel. */
type Outgoing = ClientMessage | Subscription["message"];

/** Makes what subscribes. */
export function createSubscribe(
  {
    httpEndpoint,
    wsEndpoint,
    reconnect,
    heartbeat = 30_000,
    transformer,
  }: PlainOptions,
): SubscribeTo {
  const {
    attempts = reconnect === false ? 0 : Infinity,
    delay = 500,
    maxDelay = 30_000,
  } = reconnect || {};
  const subscriptions = new Map<string, Subscription>();
  /**
   * The present one, or what stands for the next one until that is opened.
   * What an older one still does has no effect.
   */
  let socket: Partial<WebSocket> | undefined;
  /** The next attempt, or the pings: there is never need for both. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let ids = 0;

  function send(message: Outgoing): void {
    if (socket?.readyState === 1) socket.send!(JSON.stringify(message));
  }

  async function connect(): Promise<void> {
    let mine: typeof socket = socket = {};
    try {
      const url = typeof wsEndpoint === "function"
        ? await wsEndpoint()
        : wsEndpoint ??
          new URL(httpEndpoint, globalThis.location?.href).href
            .replace("http", "ws");
      if (mine !== socket) return;
      const opened = mine = socket = new WebSocket(url);
      let silent = 0;
      opened.onopen = () => {
        for (const { message } of subscriptions.values()) send(message);
        if (heartbeat) {
          timer = setInterval(
            () => silent++ ? lost(opened) : send({ type: "ping" }),
            heartbeat,
          );
        }
      };
      opened.onmessage = ({ data }) => {
        failures = silent = 0;
        if (opened !== socket) return;
        const received: Received = JSON.parse(data);
        subscriptions.get(received.id!)?.receive(received);
      };
      opened.onclose = () => lost(opened);
      // Deno takes an error that nobody prevents for an uncaught one.
      opened.onerror = (event) => event.preventDefault();
    } catch (error) {
      lost(mine, error);
    }
  }

  function disconnect(): void {
    clearTimeout(timer);
    const old = socket;
    socket = undefined;
    old?.close?.();
  }

  function lost(mine: typeof socket, cause?: unknown): void {
    if (mine !== socket) return;
    disconnect();
    if (failures < attempts) {
      // Between half of the wait and all of it: the clients of a server that
      // comes back must not come back all at once.
      socket = {};
      timer = setTimeout(
        connect,
        Math.min(maxDelay, delay * 2 ** failures++) * (1 + Math.random()) / 2,
      );
    } else {
      failures = 0;
      const code = "CONNECTION_LOST";
      const message = "The connection is lost";
      for (const { receive } of [...subscriptions.values()]) {
        receive({ type: "error", error: { code, message }, cause });
      }
    }
  }

  return (path, input, handlers) => {
    const id = `${++ids}`;
    const { signal, lastEventId, onError = console.error } = handlers;
    const message: Subscription["message"] = {
      type: "subscribe",
      id,
      path,
      input,
      lastEventId,
    };
    const end = () => {
      signal?.removeEventListener("abort", stop);
      if (subscriptions.delete(id) && !subscriptions.size) disconnect();
    };
    const stop = () => {
      if (subscriptions.has(id)) send({ type: "unsubscribe", id });
      end();
      handlers.onStop?.();
    };
    const receive = ({ type, data, eventId, error, cause }: Received) => {
      if (type === "data") {
        if (eventId) message.lastEventId = eventId;
        return handlers.onData(decode(transformer, data));
      }
      end();
      if (error) {
        onError(new RPCClientError(error, 0, path.join("."), cause));
      } else handlers.onComplete?.();
    };
    if (signal?.aborted) stop();
    else {
      signal?.addEventListener("abort", stop);
      subscriptions.set(id, { message, receive });
      if (socket) send(message);
      else connect();
    }
    return stop;
  };
}
