/**
 * One running subscription: takes values from a procedure's generator and
 * sends them, no faster than the client reads.
 *
 * @module
 */

import { runInScope } from "../../core/request_scope.ts";
import { pause, yieldToEventLoop } from "../../core/runtime/pause.ts";
import { SubscriptionScope } from "../channel/starting_position.ts";
import { type RPCError, stringifyError } from "../error.ts";
import { Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { Call, type Endpoint } from "../server/call.ts";
import type { RouterParts } from "../server/http.ts";
import { checkOutput, run, toIterator } from "../server/run.ts";
import { inSpan, spanAttributes } from "../server/tracing.ts";
import { type Socket, spanOpenerOf, unsent } from "./connection.ts";
import type { ConnectionSessions, SessionMember } from "./sessions.ts";

/** Bytes waiting to be sent at which a generator is not asked for more. */
const HIGH_WATER = 1_048_576;
/** Bytes at which it is asked again. */
const LOW_WATER = 262_144;
/**
 * How long a generator that never waits may keep the event loop, in ms. What
 * is sent meanwhile stays in memory: at 8 ms that is 7 MB more.
 */
const MAX_RUN = 2;
/** How many values are sent between two looks at the clock and the socket. */
const LOOK_EVERY = 32;
/** How many bytes of UTF-8 one UTF-16 code unit becomes at most. */
const MAX_UNIT = 3;

/** A subscription of a client. */
export interface Subscription {
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly input: unknown;
  readonly lastEventId: string | undefined;
  readonly controller: AbortController;
}

/**
 * Runs a subscription to its end. It never rejects.
 *
 * @param sessions The sessions of the connection, if they end subscriptions.
 */
export async function streamTo(
  ws: Socket,
  subscription: Subscription,
  parts: RouterParts,
  sessions: ConnectionSessions | undefined,
): Promise<void> {
  const { id, controller } = subscription;
  const { signal } = controller;
  const member: SessionMember = {
    error: undefined,
    end(error) {
      if (signal.aborted) return;
      member.error = error;
      ws.data.subscriptions.delete(id);
      try {
        ws.send(errorMessage(id, error));
      } catch {
        // A broken socket of another server must not keep the others waiting.
      }
      controller.abort(new DOMException(error.message, "AbortError"));
    },
  };
  const scope = new SubscriptionScope((eventId) => {
    if (signal.aborted) return;
    ws.send(JSON.stringify({ type: "started", id, eventId }));
  }, (_isOwn, session) => {
    // A `finally` that asks must not be cut short.
    if (session !== undefined && !signal.aborted) {
      sessions?.join(session, member);
    }
    return undefined;
  });
  const run = { ...parts, scope, member, sessions };
  await runInScope(scope, stream, ws, subscription, run);
  scope.end();
  sessions?.leave(member);
}

/** The parts of one run of a subscription. */
interface Run extends RouterParts {
  readonly scope: SubscriptionScope;
  readonly member: SessionMember;
  readonly sessions: ConnectionSessions | undefined;
}

async function stream(
  ws: Socket,
  { endpoint, id, input, lastEventId, controller: { signal } }: Subscription,
  { transformer, report, scope, member, sessions }: Run,
): Promise<void> {
  const { data } = ws;
  const call = new Call(endpoint, data.ctx, {
    get request() {
      return data.originalRequest ?? missingRequest();
    },
    // The response is over: it made the socket.
    get responseHeaders() {
      return new Headers();
    },
    signal,
    lastEventId,
  });
  const work = async () => {
    const ready = sessions?.begin();
    if (ready !== undefined) await ready;
    if (signal.aborted) return;
    sessions?.add(member);
    const stream = toIterator(await run(endpoint, call, input), endpoint.path);
    const encode = encoder(id, transformer);
    await pump(ws, endpoint, stream, signal, (value) => {
      // From now on the values carry the client's position.
      scope.start();
      return encode(value);
    });
    if (member.error !== undefined) throw member.error;
  };
  try {
    const open = spanOpenerOf(data);
    if (open === undefined) await work();
    else {
      const span = open(`rpc:${call.path}`, "rpc", spanAttributes(call));
      await inSpan(span, call, work);
    }
    if (!signal.aborted) ws.send(JSON.stringify({ type: "complete", id }));
  } catch (error) {
    const failure = report(error, call);
    if (!signal.aborted) ws.send(errorMessage(id, failure));
  }
}

/** The message that tells of an error. */
export function errorMessage(id: string | null, error: RPCError): string {
  return `{"type":"error","id":${JSON.stringify(id)},"error":${
    stringifyError(error)
  }}`;
}

function missingRequest(): never {
  throw new TypeError(
    "Cannot read request: the data of the socket has no originalRequest",
  );
}

/**
 * Sends what the iterator gives until it is done or the signal aborts. Either
 * way the generator's `finally` has run when this resolves.
 *
 * On an abort `return()` is called at once. A generator that stands at a
 * `yield` runs its `finally` there and then; one that waits for something runs
 * it as soon as that settles, which is at once too if it passes on `signal`.
 */
async function pump(
  ws: Socket,
  { path, procedure }: Endpoint,
  iterator: AsyncIterator<unknown>,
  signal: AbortSignal,
  encode: (value: unknown) => string,
): Promise<void> {
  let stopped: Promise<unknown> | undefined;
  const stop = () => {
    stopped ??= (async () => await iterator.return?.())();
    // It is awaited below; until then its failure is not an unhandled one.
    stopped.catch(() => {});
    return stopped;
  };
  let ended = false;
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    let since = performance.now();
    let waiting = unsent(ws);
    for (let sent = 1; !signal.aborted; sent++) {
      ended = true;
      const result = await iterator.next();
      if (result.done) return;
      ended = false;
      if (signal.aborted) return;
      let { value } = result;
      if (procedure.output !== undefined) {
        value = await checkValue(procedure, path, value);
        // The id may be that of another subscription by now.
        if (signal.aborted) return;
      }
      const message = encode(value);
      ws.send(message);
      // As long as it can't be too much, the socket need not be asked after
      // each message how much it is.
      waiting += message.length * MAX_UNIT;
      if (sent % LOOK_EVERY !== 0 && waiting <= HIGH_WATER) continue;
      waiting = unsent(ws);
      if (waiting > HIGH_WATER) {
        await drained(ws, signal);
        waiting = unsent(ws);
        since = performance.now();
      } else if (performance.now() - since > MAX_RUN) {
        // Without this, a generator that never waits would also keep the
        // message out that unsubscribes it.
        await yieldToEventLoop();
        since = performance.now();
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // What is thrown here, by encode or an output schema, ends the generator
    // too; what it threw itself has ended it already.
    await (ended ? stopped : stop());
  }
}

async function checkValue(
  procedure: Endpoint["procedure"],
  path: string,
  value: unknown,
): Promise<unknown> {
  if (!(value instanceof Tracked)) {
    return await checkOutput(procedure, path, value);
  }
  return new Tracked(
    value.id,
    await checkOutput(procedure, path, value.value),
  );
}

/** Returns a function that encodes the values of a subscription as messages. */
function encoder(
  id: string,
  transformer: Transformer | undefined,
): (value: unknown) => string {
  const head = `{"type":"data","id":${JSON.stringify(id)}`;
  const before = `${head},"data":`;
  const encode = (value: unknown, end: string) => {
    const text = JSON.stringify(
      transformer === undefined ? value : transformer.stringify(value),
    );
    return text === undefined ? head + end : before + text + end;
  };
  return (value) =>
    value instanceof Tracked
      ? encode(value.value, `,"eventId":${JSON.stringify(value.id)}}`)
      : encode(value, "}");
}

/** Waits until the client has read most of what was sent, or has gone. */
async function drained(ws: Socket, signal: AbortSignal): Promise<void> {
  for (let ms = 0; !signal.aborted; ms = Math.min(ms + 1, MAX_PAUSE)) {
    await (ms === 0 ? yieldToEventLoop() : pause(ms, signal));
    if (unsent(ws) <= LOW_WATER) return;
  }
}

/** Time between two looks at a socket whose client has stopped reading, in ms. */
const MAX_PAUSE = 20;
