/**
 * Subscriptions. All of a client's share one connection, which is open while
 * there are any. After a break, each resumes from its last known position.
 *
 * A subscription whose session has ended moves to a new connection, because a
 * socket keeps the cookies of its handshake. The others stay.
 *
 * @module
 */

import type { ClientMessage } from "../protocol.ts";
import { backoff, createConnection, type Received } from "./connection.ts";
import { RPCClientError } from "./error.ts";
import type { SubscriptionHandlers } from "../procedure/calls.ts";
import type { PlainOptions, SubscribeOptions } from "./types.ts";

/** Handlers and options of a subscription. */
export interface Handlers
  extends SubscriptionHandlers<unknown, RPCClientError>, SubscribeOptions {
  /** Called when the client has ended it. */
  readonly onStop?: () => void;
}

type SubscribeMessage = ClientMessage & { readonly type: "subscribe" };

/** The message that opens a subscription on each new socket. */
interface Request extends Omit<SubscribeMessage, "lastEventId"> {
  /** The last known position. */
  lastEventId?: string | undefined;
}

type Timer = ReturnType<typeof setTimeout> | undefined;

interface Subscription {
  open(): void;
  receive(message: Received): void;
  fail(failure: Received["error"], cause: unknown): void;
}

/** How long a subscription must run to count as recovered, in milliseconds. */
const RECOVERED = 10_000;
/**
 * How long a client waits for the first message after a gap, in milliseconds.
 * Servers that know the position answer at once.
 */
const BEGIN = 1_000;

/** Creates the function that subscribes. */
export function createSubscribe(options: PlainOptions, shown: string) {
  const { transformer } = options;
  let newest = createLine();
  let count = 0;

  /** Creates a connection, with the subscriptions on it by id. */
  function createLine() {
    const subscriptions = new Map<string, Subscription>();
    const connection = createConnection(options, {
      onOpen() {
        for (const { open } of subscriptions.values()) open();
      },
      onMessage: (message) => subscriptions.get(message.id!)?.receive(message),
      onGiveUp(cause) {
        for (const { fail } of subscriptions.values()) {
          // Separately, so that a handler that throws doesn't stop the others.
          queueMicrotask(() => fail({ code: "CONNECTION_LOST" }, cause));
        }
      },
    });
    return { connection, subscriptions };
  }

  /** Opens a subscription and returns a function that ends it. */
  return (path: readonly string[], input: unknown, handlers: Handlers) => {
    const id = `${++count}`;
    const name = path.join(".");
    const {
      signal,
      lastEventId,
      onError = console.error,
      onGap = () => console.warn(`Messages of ${name} are lost`),
    } = handlers;
    const subscription: Subscription = { open, receive, fail };
    let line = newest;
    let request: Request | undefined;
    /** Whether the last known position is where the subscription began. */
    let isAtStart: boolean | undefined;
    /** Whether the server has accepted the subscription before. */
    let hasBegun: boolean | undefined;
    /** Whether `onGap` must be called. */
    let hasGap: boolean | undefined;
    /** Whether `onGap` was called before the server answered. */
    let isGuess: boolean | undefined;
    /** Failures since it last ran well. */
    let failures = 0;
    let refusals = 0;
    let openedAt = 0;
    /** The timer of the next attempt. */
    let retrying: Timer;
    let fillingGap: Timer;

    /** Sends the request, now or when the socket is open. */
    function open(): void {
      if (retrying || !request) return;
      const { connection } = line;
      openedAt = Date.now();
      if (!connection.send(request)) connection.open();
      else if (hasGap) {
        // The last one is still set if the socket broke meanwhile.
        clearTimeout(fillingGap);
        fillingGap = setTimeout(() => {
          if (connection.isOpen()) {
            isGuess = true;
            fillGap();
          }
        }, BEGIN);
      }
    }

    /** Calls `onGap`. From here on, no message can be missed. */
    function fillGap(): void {
      clearTimeout(fillingGap);
      if (hasGap) {
        hasGap = false;
        onGap();
      }
    }

    /** Subscribes again, after some milliseconds. */
    function retry(wait: number, needsNewSocket?: boolean): void {
      const old = newest;
      // It misses messages until then.
      clearTimeout(fillingGap);
      retrying = setTimeout(() => {
        retrying = undefined;
        if (needsNewSocket) {
          leave();
          // Another subscription may have made a new one meanwhile.
          if (newest === old && old.subscriptions.size) newest = createLine();
          line = newest;
          line.subscriptions.set(id, subscription);
        }
        open();
      }, wait);
    }

    /** Leaves the connection. Returns whether it was on it. */
    function leave(): boolean {
      const { connection, subscriptions } = line;
      const wasThere = subscriptions.delete(id);
      if (wasThere && !subscriptions.size) connection.close();
      return wasThere;
    }

    /** Ends the subscription. Returns whether it was running. */
    function end(unsubscribe?: boolean): boolean {
      if (unsubscribe && request && !retrying && line.subscriptions.has(id)) {
        line.connection.send({ type: "unsubscribe", id });
      }
      clearTimeout(retrying);
      clearTimeout(fillingGap);
      signal?.removeEventListener("abort", stop);
      return leave();
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
        onError(
          new RPCClientError(
            { code: "BAD_RESPONSE", ...failure },
            0,
            name,
            shown,
            cause,
          ),
        );
      }
    }

    function refuse(failure: Received["error"]): void {
      if (Date.now() - openedAt > RECOVERED) failures = refusals = 0;
      const { code, details } = failure || {};
      const { reason } = Object(details) as { readonly reason?: unknown };
      if (reason === "MESSAGES_LOST") {
        request!.lastEventId = undefined;
        hasGap = true;
        retry(failures++ && backoff(options, failures));
      } else if (hasBegun && code === "UNAVAILABLE") {
        retry(backoff(options, failures++));
      } else if (
        code === "UNAUTHORIZED" && (hasBegun || reason === "SESSION_ENDED") &&
        !refusals++
      ) {
        // A sign-in ends the old session before the browser has the new cookie.
        retry(backoff(options, 1), true);
      } else fail(failure);
    }

    function receive({ type, data, eventId, error }: Received): void {
      if (retrying) return;
      if (type === "error") return refuse(error);
      hasBegun = true;
      // It begins here, so `onGap` was called too early.
      hasGap ||= isGuess && type === "started";
      isGuess = false;
      fillGap();
      if (type === "complete" && end()) handlers.onComplete?.();
      if (eventId || isAtStart) {
        request!.lastEventId = eventId;
        isAtStart = type === "started";
      }
      // `onGap` may have ended the subscription.
      if (type !== "data" || !line.subscriptions.has(id)) return;
      try {
        if (transformer && data) data = transformer.parse(data as string);
      } catch (cause) {
        return fail(undefined, cause, true);
      }
      handlers.onData(data);
    }

    line.subscriptions.set(id, subscription);
    if (signal?.aborted) stop();
    else {
      try {
        if (transformer) input = transformer.stringify(input);
        // A copy of the input, to send again later.
        request = JSON.parse(
          JSON.stringify({ type: "subscribe", id, path, input, lastEventId }),
        );
        signal?.addEventListener("abort", stop);
        open();
      } catch (error) {
        // The caller gets the function that unsubscribes before the error.
        queueMicrotask(() => fail({ code: "INVALID_INPUT" }, error));
      }
    }
    return stop;
  };
}
