/**
 * Sends the browser's spans to the server. A page has one sender, so its state
 * is the module's.
 *
 * @module
 */

import { now } from "./clock.ts";
import {
  BATCH_DELAY,
  MAX_DELAY,
  MAX_MESSAGE,
  MAX_QUEUE,
  PINGS,
} from "./limits.ts";

/** A trace whose spans are sent. */
export interface SentTrace {
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** Whether the server records the trace too. Until then, its spans wait. */
  isKnown: boolean;
}

type QueuedSpan = readonly [trace: SentTrace, json: string];

/** The URL of the server's traces. Without it, nothing is recorded. */
export let endpoint: string | undefined;
/** The page's own `fetch`, which isn't traced. */
let nativeFetch: typeof fetch;
let queue: QueuedSpan[] = [];
/** The timer, until its spans are sent. */
let timer: unknown;
/** The delay before spans are sent together. It doubles with each failure. */
let delay = BATCH_DELAY;
/** The round trips that only measure the clock offset so far. */
let pings = 0;
/** The offset between the browser's clock and the server's. */
let clock: { readonly offset?: number; readonly error?: number } = {};

/**
 * Whether the server has recorded the last trace. Then the next one doesn't
 * wait.
 */
export let isTracing = false;
/** The number of dropped spans. */
export let dropped = 0;

/** The origins that get `traceparent`. */
export let origins: readonly string[];

/**
 * Starts sending to a server.
 *
 * @param url The URL of the traces, without `/api`.
 * @param traced The origins that get `traceparent`.
 */
export function startSender(url: string, traced: readonly string[]): void {
  endpoint = url;
  origins = traced;
  nativeFetch = fetch;
}

/** Queues the record of a span, as JSON. */
export function queueSpan(trace: SentTrace, json: string): void {
  if (!endpoint) return;
  if (
    json.length > MAX_MESSAGE ||
    queue.push([trace, json]) > MAX_QUEUE && queue.shift()
  ) dropped++;
  schedule();
}

/**
 * Allows sending a trace if the server has shown that it records it. A server
 * without tracing would respond with errors, which the console would show.
 */
export function confirm(trace: SentTrace, isRecorded: unknown): void {
  isTracing = !!isRecorded;
  trace.isKnown ||= isTracing;
  // The server responds.
  delay = BATCH_DELAY;
  schedule();
}

/** Sends all spans at once, because the page may end. */
export function flush(): void {
  while (next()) post(MAX_MESSAGE);
  // The browser's clock may stop while the computer sleeps.
  pings = 0;
}

/** Stops sending. */
export function stopSender(): void {
  endpoint = undefined;
}

/** Returns the oldest span that may be sent. */
function next(): QueuedSpan | undefined {
  return queue.find(([{ isKnown }]) => isKnown && endpoint);
}

function schedule(): void {
  if (next()) timer ??= setTimeout(work, delay);
}

/** Sends all spans. Measures the clock offset first. */
async function work(): Promise<void> {
  while (next() && await post(pings < PINGS ? 0 : MAX_MESSAGE));
  timer = undefined;
  schedule();
}

/**
 * Sends spans of a trace, and measures the clock offset.
 *
 * @param maxSize Maximum characters of the spans.
 * @returns Whether the server has responded. If not, the spans wait again.
 */
async function post(maxSize: number): Promise<unknown> {
  const [trace] = next()!;
  const spans: QueuedSpan[] = [];
  let size = 0;
  queue = queue.filter((span) =>
    span[0] !== trace || (size += span[1].length) > maxSize ||
    !spans.push(span)
  );
  try {
    const sentAt = now();
    const response = await nativeFetch(`${endpoint}/api`, {
      method: "POST",
      // It outlives the page.
      keepalive: true,
      body: `{"type":"client:spans","traceId":"${trace.id}","spans":[${
        spans.map(([, json]) => json)
      }],"clock":${JSON.stringify({ ...clock, sentAt })}}`,
    });
    const error = (now() - sentAt) / 2;
    const { now: serverTime } = await response.json();
    // It refuses spans.
    if (!serverTime) stopSender();
    // The quickest counts. All spans of a root need the same offset.
    if (!maxSize && (!pings++ || error < clock.error!)) {
      clock = { offset: serverTime - sentAt - error, error };
    }
    delay = BATCH_DELAY;
    return true;
  } catch {
    queue = [...spans, ...queue];
    if (delay < MAX_DELAY) delay *= 2;
    schedule();
  }
}
