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
    let silent = 0;
    let hopeless = 0;
    if (heartbeat) {
      timer = setInterval(
        () =>
          socket?.readyState !== 1 || silent++
            ? lost(mine)
            : send({ type: "ping" }),
        heartbeat,
      );
    }
    try {
      const given =
        await (typeof wsEndpoint === "function" ? wsEndpoint() : wsEndpoint);
      if (mine !== socket) return;
      // What throws from here on will throw at each attempt.
      hopeless = Infinity;
      const opened = mine = socket = new WebSocket(
        given ??
          `${new URL(httpEndpoint, globalThis.location?.href)}`.replace(
            "http",
            "ws",
          ),
      );
      opened.onopen = () => {
        for (const { message } of subscriptions.values()) send(message);
      };
      opened.onmessage = ({ data }) => {
        if (opened !== socket) return;
        let received: Received;
        try {
          received = JSON.parse(data);
          // Whatever has no such thing comes from no router.
          received.type.at(0);
        } catch (error) {
          return lost(opened, error);
        }
        failures = silent = 0;
        subscriptions.get(received.id!)?.receive(received);
      };
      opened.onclose = () => lost(opened);
      // Deno takes an error that nobody prevents for an uncaught one.
      opened.onerror = (event) => event.preventDefault();
    } catch (error) {
      failures += hopeless;
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
      const message = "Connection lost";
      for (const { receive } of [...subscriptions.values()]) {
        try {
          receive({ type: "error", error: { code, message }, cause });
        } catch (error) {
          // One that fails must not keep the others from being told.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    }
  }

  return (path, input, handlers) => {
    const id = `${++ids}`;
    const { signal, lastEventId, onError = console.error } = handlers;
    const name = path.join(".");
    let message: Subscription["message"];
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
      // Another's handler may have ended it.
      if (!subscriptions.has(id)) return;
      if (type === "data") {
        if (eventId) message.lastEventId = eventId;
        let value: unknown;
        try {
          value = decode(transformer, data, 0, name);
        } catch (error) {
          send({ type: "unsubscribe", id });
          end();
          return onError(error as Error);
        }
        handlers.onData(value);
      } else if (type === "error") {
        end();
        onError(new RPCClientError(error, 0, name, cause));
      } else if (type === "complete") {
        end();
        handlers.onComplete?.();
      }
    };
    if (signal?.aborted) stop();
    else {
      try {
        if (transformer) input = transformer.stringify(input);
        // The input as it is now: it is sent again on each new socket.
        message = JSON.parse(
          JSON.stringify({ type: "subscribe", id, path, input, lastEventId }),
        );
        signal?.addEventListener("abort", stop);
        subscriptions.set(id, { message, receive });
        if (socket) send(message);
        else connect();
      } catch (error) {
        // The caller gets what unsubscribes before it gets an error.
        queueMicrotask(() => onError(error as Error));
      }
    }
    return stop;
  };
}
