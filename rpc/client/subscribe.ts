/**
 * Subscriptions: all of a client's share one connection, which is open while
 * there are any. After a break each resumes after the last tracked value that
 * it has seen.
 *
 * @module
 */

import type { ClientMessage } from "../protocol.ts";
import { Connection, type Received } from "./connection.ts";
import { RPCClientError } from "./error.ts";
import type { SubscriptionHandlers } from "../procedure/calls.ts";
import type { PlainOptions, SubscribeOptions } from "./types.ts";

/** Handlers and options of a subscription. */
export interface Handlers
  extends SubscriptionHandlers<unknown>, SubscribeOptions {
  /** Called when the client itself has ended it. */
  readonly onStop?: () => void;
}

/** Opens a subscription and returns a function that ends it. */
export type Subscribe = (
  path: readonly string[],
  input: unknown,
  handlers: Handlers,
) => () => void;

/** The message that opens a subscription on each new socket. */
type Request = ClientMessage & { readonly type: "subscribe" };

interface Subscription {
  request: Request | undefined;
  receive(message: Received): void;
  fail(failure: Received["error"], cause: unknown): void;
}

/** Creates the function that subscribes. */
export function createSubscribe(options: PlainOptions): Subscribe {
  const { transformer } = options;
  const subscriptions = new Map<string, Subscription>();
  const connection = new Connection(options, {
    onOpen() {
      for (const { request } of subscriptions.values()) {
        if (request) connection.send(request);
      }
    },
    onMessage: (message) => subscriptions.get(message.id!)?.receive(message),
    onGiveUp(cause) {
      for (const { fail } of subscriptions.values()) {
        // Each on its own: a handler that throws must not stop the others.
        queueMicrotask(() => fail({ code: "CONNECTION_LOST" }, cause));
      }
    },
  });
  let count = 0;

  return (path, input, handlers) => {
    const id = `${++count}`;
    const { signal, lastEventId, onError = console.error } = handlers;
    const subscription: Subscription = { request: undefined, receive, fail };

    /** Ends the subscription. Returns whether it was running. */
    function end(unsubscribe?: boolean): boolean {
      const isRunning = subscriptions.delete(id);
      if (isRunning) {
        signal?.removeEventListener("abort", stop);
        if (unsubscribe && subscription.request) {
          connection.send({ type: "unsubscribe", id });
        }
        if (!subscriptions.size) connection.close();
      }
      return isRunning;
    }

    function stop(): void {
      if (end(true)) handlers.onStop?.();
    }

    function fail(
      failure: Received["error"],
      cause?: unknown,
      unsubscribe?: boolean,
    ): void {
      if (end(unsubscribe)) {
        onError(new RPCClientError(failure, 0, path.join("."), cause));
      }
    }

    function receive({ type, data, eventId, error }: Received): void {
      if (type === "data") {
        if (eventId) {
          const request = subscription.request!;
          subscription.request = { ...request, lastEventId: eventId };
        }
        try {
          if (transformer && data) data = transformer.parse(data as string);
        } catch (cause) {
          return fail(undefined, cause, true);
        }
        handlers.onData(data);
      } else if (type === "error") fail(error);
      else if (type === "complete" && end()) handlers.onComplete?.();
    }

    subscriptions.set(id, subscription);
    if (signal?.aborted) stop();
    else {
      try {
        if (transformer) input = transformer.stringify(input);
        // A copy of the input as it is at this moment, to send it again later.
        const request: Request = subscription.request = JSON.parse(
          JSON.stringify({ type: "subscribe", id, path, input, lastEventId }),
        );
        signal?.addEventListener("abort", stop);
        if (!connection.send(request)) connection.open();
      } catch (error) {
        // The caller gets the function that unsubscribes before the error.
        queueMicrotask(() => {
          if (end()) onError(error as Error);
        });
      }
    }
    return stop;
  };
}
