/**
 * A running subscription: sends the values of a procedure's generator, no
 * faster than the client reads.
 *
 * @module
 */

import type { SpanOpener } from "../../core/observed_span.ts";
import { currentScope, runInScope } from "../../core/request_scope.ts";
import { pause, yieldToEventLoop } from "../../core/promises.ts";
import { SubscriptionScope } from "../channel/message_ring.ts";
import { type RPCError, stringifyError } from "../error.ts";
import { Tracked } from "../procedure/tracked.ts";
import { Call, type Endpoint } from "../server/call.ts";
import type { RouterParts } from "../server/http.ts";
import { checkOutput, dataMember, run, toIterator } from "../server/run.ts";
import { inSpan, spanAttributes } from "../server/tracing.ts";
import {
  type ConnectionState,
  type EndSubscription,
  type Socket,
  Stopped,
  unsent,
} from "./connection.ts";
import { shapeOf, Traffic } from "./traffic.ts";

/** Waiting bytes at which the generator is paused. */
const HIGH_WATER = 1_048_576;
/** Waiting bytes at which it resumes. */
const LOW_WATER = 262_144;
/**
 * How long a generator that never waits may keep the event loop, in
 * milliseconds. Messages sent meanwhile stay in memory: 8 ms would take 7 MB
 * more.
 */
const MAX_RUN = 2;
/** Values sent between two checks of the clock. */
const LOOK_EVERY = 32;
/** Maximum bytes in UTF-8 of one UTF-16 code unit. */
const MAX_UNIT = 3;

/** A subscription of a client. */
export interface Subscription {
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly input: unknown;
  readonly lastEventId: string | undefined;
  /** The client's span. It isn't checked. */
  readonly traceparent: string | undefined;
  readonly controller: AbortController;
}

/** Runs a subscription to its end. It never rejects. */
export async function streamTo(
  ws: Socket,
  { endpoint, id, input, lastEventId, traceparent, controller }: Subscription,
  { transformer, report }: RouterParts,
  state: ConnectionState,
): Promise<void> {
  const { data } = ws;
  const { sessions, openSpan } = state;
  const { signal } = controller;
  const push = (message: string) => {
    state.waiting += message.length * MAX_UNIT;
    ws.send(message);
  };
  /** Returns a promise of room for a message, if the socket has none. */
  const room = () => {
    // Reading the backlog is slow, so do it only when it may be too large.
    if (state.waiting > HIGH_WATER) state.waiting = unsent(ws);
    return state.waiting > HIGH_WATER ? drained(ws, signal) : undefined;
  };
  let sessionError: RPCError | undefined;
  const end: EndSubscription = (error) => {
    if (signal.aborted) return;
    sessionError = error;
    data.subscriptions.delete(id);
    try {
      push(errorMessage(id, error));
    } catch {
      // A broken socket of another server must not keep the others waiting.
    }
    controller.abort(new Stopped("session_ended", error.message));
  };
  const scope = new SubscriptionScope((eventId) => {
    if (signal.aborted) return;
    push(JSON.stringify({ type: "started", id, eventId }));
  }, (_isOwn, session) => {
    // A `finally` that reads the session must not be cut short.
    if (session !== undefined && !signal.aborted) sessions?.join(session, end);
    return undefined;
  });
  const call = new Call(endpoint, data.ctx, {
    get request() {
      if (data.originalRequest !== undefined) return data.originalRequest;
      throw new TypeError(
        "Cannot read request: the data of the socket has no originalRequest",
      );
    },
    // Discarded, because the response was sent before.
    get responseHeaders() {
      return new Headers();
    },
    signal,
    lastEventId,
  });

  async function stream(traffic?: Traffic): Promise<void> {
    // Begins nothing for a client that doesn't read.
    const full = room();
    if (full !== undefined) await full;
    const ready = sessions?.begin();
    if (ready !== undefined) await ready;
    if (signal.aborted) return;
    sessions?.add(end);
    const values = toIterator(await run(call, input), call.path);
    const head = `{"type":"data","id":${JSON.stringify(id)}`;
    const send = (value: unknown) => {
      // From here on, the values carry the client's position.
      scope.start();
      const isTracked = value instanceof Tracked;
      const data = dataMember(isTracked ? value.value : value, transformer);
      const tail = isTracked ? `,"eventId":${JSON.stringify(value.id)}}` : "}";
      const message = head + data + tail;
      push(message);
      traffic?.add(message);
    };
    await pump(call, values, signal, send, room);
    if (sessionError !== undefined) throw sessionError;
  }

  async function streamInSpan(open: SpanOpener): Promise<void> {
    const span = open(`rpc:${call.path}`, "rpc", {
      ...spanAttributes(call),
      "app.detached": true,
      "app.rpc.messages": 0,
      "app.rpc.input": input === undefined ? undefined : shapeOf(input),
      "app.rpc.resumed": lastEventId === undefined ? undefined : true,
    }, traceparent);
    const traffic = new Traffic(span);
    const work = () => traffic.observe(signal, () => stream(traffic));
    await inSpan(span, call, work);
  }

  await scope.run(async () => {
    let last = JSON.stringify({ type: "complete", id });
    try {
      await (openSpan === undefined ? stream() : streamInSpan(openSpan));
    } catch (error) {
      last = errorMessage(id, report(error, call));
    }
    await room();
    if (!signal.aborted) push(last);
  });
  scope.end();
  call.settle();
  sessions?.leave(end);
}

/** Returns the message of an error. */
export function errorMessage(id: string | null, error: RPCError): string {
  const text = stringifyError(error);
  return `{"type":"error","id":${JSON.stringify(id)},"error":${text}}`;
}

/**
 * Sends the iterator's values until it is done or the signal aborts. The
 * generator's `finally` has run when this resolves. `room` returns a promise if
 * `send` must wait.
 *
 * An abort calls `return()`. A generator at a `yield` then runs its `finally`. A
 * waiting generator does so when its wait settles, which is at once if it passes
 * `signal` on.
 */
async function pump(
  call: Call,
  iterator: AsyncIterator<unknown>,
  signal: AbortSignal,
  send: (value: unknown) => void,
  room: () => Promise<void> | undefined,
): Promise<void> {
  let stopped: Promise<unknown> | undefined;
  const scope = currentScope();
  const stop = () => {
    // A signal is aborted elsewhere, such as in a request that ends the session.
    stopped ??= runInScope(scope, async () => await iterator.return?.());
    // It is awaited below. Until then, mark its failure as handled.
    stopped.catch(() => {});
    return stopped;
  };
  /** Whether the generator is at a `yield`, or hasn't started. */
  let isSuspended = true;
  const isGenerator = Object(iterator)[Symbol.toStringTag] === "AsyncGenerator";
  // Returns nothing: on Node and Bun, a listener's rejected promise is uncaught.
  const onAbort = () => {
    // V8 runs the `finally` of a generator that waits outside of the scope, if
    // `return()` is called before the wait settles.
    if (isSuspended || !isGenerator) stop();
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    let since = performance.now();
    for (let sent = 1; !signal.aborted; sent++) {
      isSuspended = false;
      const result = await iterator.next();
      if (result.done) return;
      isSuspended = true;
      let { value } = result;
      if (call.procedure.output !== undefined && !signal.aborted) {
        value = value instanceof Tracked
          ? new Tracked(value.id, await checkOutput(call, value.value))
          : await checkOutput(call, value);
      }
      // The first values of many subscriptions may come at once. Later ones don't
      // wait for the others: a rare one would wait behind every flood.
      const full = sent === 1 ? room() : undefined;
      if (full !== undefined) await full;
      // Another subscription may use the id by now.
      if (signal.aborted) return;
      send(value);
      const next = room();
      if (next !== undefined) {
        await next;
        since = performance.now();
      } else if (
        sent % LOOK_EVERY === 0 && performance.now() - since > MAX_RUN
      ) {
        // Without this, a generator that never waits would block its own
        // unsubscribe message.
        await yieldToEventLoop();
        since = performance.now();
      }
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // An error of `send` or the output schema ends the generator too. Its own
    // error has already ended it.
    await (isSuspended ? stop() : stopped);
  }
}

/** Waits until the client has read most of the backlog, or is gone. */
async function drained(ws: Socket, signal: AbortSignal): Promise<void> {
  for (let ms = 0; !signal.aborted; ms = Math.min(ms + 1, MAX_PAUSE)) {
    await (ms === 0 ? yieldToEventLoop() : pause(ms, signal));
    if (unsent(ws) <= LOW_WATER) return;
  }
}

/** Longest time between two checks of a blocked socket, in milliseconds. */
const MAX_PAUSE = 20;
