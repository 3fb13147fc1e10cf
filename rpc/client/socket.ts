/**
 * Subscriptions: one socket for all of them, opened with the first and closed
 * after the last. When it breaks it is opened again, and each subscription
 * goes on after the last tracked value that it has seen.
 *
 * It is one long closure to keep pages small. A minifier shortens the names of
 * variables, but not of fields and methods that classes or files would share.
 *
 * @module
 */

import type { SubscriptionHandlers } from "../procedure/calls.ts";
import type { RPCFailure } from "../error.ts";
import type { ClientMessage, ServerMessage } from "../protocol.ts";
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

/** What is sent on each new socket. */
type Subscribe = Omit<ClientMessage & { type: "subscribe" }, "lastEventId"> & {
  lastEventId: string | undefined;
};

/** Any message of the server: each has some of these fields. */
interface Received {
  readonly type?: ServerMessage["type"];
  readonly id?: string;
  readonly data?: unknown;
  readonly eventId?: string;
  readonly error?: Partial<RPCFailure> | undefined;
  readonly cause?: unknown;
}

/** Tells a subscription what the server says of it, or that a socket is open. */
type Receive = (received?: Received) => void;

/** Makes what subscribes. */
export function createSubscribe(
  {
    httpEndpoint,
    wsEndpoint = httpEndpoint,
    reconnect = {},
    heartbeat = 30_000,
    transformer,
  }: PlainOptions,
): SubscribeTo {
  const { attempts = Infinity, delay = 500, maxDelay = 30_000 } = reconnect ||
    { attempts: 0 };
  const subscriptions = new Map<string, Receive>();
  /**
   * The present one, or what stands for the next one until that is opened.
   * What an older one still does has no effect.
   */
  let socket: Partial<WebSocket> | undefined;
  /** The next attempt, or the pings: there is never need for both. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let ids = 0;

  /** Sends a message if the socket is open, and gives whether it is. */
  function send(message: ClientMessage | Subscribe): boolean {
    const isOpen = socket?.readyState === 1;
    if (isOpen) socket!.send!(JSON.stringify(message));
    return isOpen;
  }

  async function connect(): Promise<void> {
    let mine: typeof socket = socket = {};
    let silent = 0;
    let hopeless = 0;
    // No timer waits as long as 2^31 ms: it would fire at once.
    if (heartbeat && heartbeat < 2e9) {
      timer = setInterval(
        () => (silent++ || !send({ type: "ping" })) && lost(mine),
        heartbeat,
      );
    }
    try {
      const url =
        await (typeof wsEndpoint === "function" ? wsEndpoint() : wsEndpoint);
      if (mine !== socket) return;
      // What throws from here on will throw at each attempt.
      hopeless = Infinity;
      const opened = mine = socket = new WebSocket(url);
      opened.onopen = () => subscriptions.forEach((receive) => receive());
      opened.onmessage = ({ data }) => {
        if (opened !== socket) return;
        let received;
        try {
          received = JSON.parse(data);
          // Whatever has no such thing comes from no router.
          received.type.at(0).at(0);
        } catch (error) {
          return lost(opened, error);
        }
        failures = silent = 0;
        subscriptions.get(received.id)?.(received);
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
        Math.min(2e9, maxDelay, delay * 2 ** failures++) * (1 + Math.random()) /
          2,
      );
    } else {
      failures = 0;
      // Each by itself: one that fails must not keep the others from it.
      subscriptions.forEach((receive) =>
        queueMicrotask(() =>
          receive({ type: "error", error: { code: "CONNECTION_LOST" }, cause })
        )
      );
    }
  }

  return (path, input, handlers) => {
    const id = `${++ids}`;
    const { signal, lastEventId, onError = console.error } = handlers;
    let message: Subscribe | undefined;

    /** Ends the subscription, unless it has ended, and tells of it. */
    const end = (
      tell: ((error: Error) => void) | undefined,
      error?: Error,
      unsubscribe?: boolean,
    ) => {
      if (!subscriptions.delete(id)) return;
      signal?.removeEventListener("abort", stop);
      if (unsubscribe && message) send({ type: "unsubscribe", id });
      if (!subscriptions.size) disconnect();
      tell?.(error!);
    };
    const stop = () => end(handlers.onStop, undefined, true);
    const fail = (
      error: Received["error"],
      cause: unknown,
      unsubscribe?: boolean,
    ) =>
      end(
        onError,
        new RPCClientError(error, 0, path.join("."), cause),
        unsubscribe,
      );

    subscriptions.set(
      id,
      ({ type, data, eventId, error, cause } = {}) => {
        if (type === "data") {
          if (eventId) message!.lastEventId = eventId;
          try {
            if (transformer && data) data = transformer.parse(data as string);
          } catch (cause) {
            return fail(undefined, cause, true);
          }
          handlers.onData(data);
        } else if (type === "error") fail(error, cause);
        else if (type === "complete") end(handlers.onComplete);
        else if (!type) send(message!);
      },
    );
    if (signal?.aborted) stop();
    else {
      try {
        if (transformer) input = transformer.stringify(input);
        // The input as it is now: it is sent again on each new socket.
        message = JSON.parse(
          JSON.stringify({ type: "subscribe", id, path, input, lastEventId }),
        );
        signal?.addEventListener("abort", stop);
        if (socket) send(message!);
        else connect();
      } catch (error) {
        // The caller gets what unsubscribes before it gets an error.
        queueMicrotask(() => end(onError, error as Error));
      }
    }
    return stop;
  };
}
