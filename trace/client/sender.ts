/**
 * Sends the browser's spans to the server. A page has one connection, so its
 * state is the module's.
 *
 * @module
 */

import type { BrowserNavigator } from "./browser.ts";
import { now } from "./clock.ts";
import {
  BATCH_DELAY,
  MAX_FIRST_WAIT,
  MAX_MESSAGE,
  MAX_QUEUE,
  MAX_WAIT,
  MIN_WAIT,
  PINGS,
} from "./limits.ts";

declare const navigator: BrowserNavigator;

/** A trace whose spans are sent. */
export interface SentTrace {
  readonly id: string;
  /** Whether the server records the trace too. Until then, its spans wait. */
  isKnown?: boolean;
}

/** The URL of the server's traces. Without it, nothing is recorded. */
let endpoint: string | undefined;
/** The page's own `WebSocket`, which isn't traced. */
let Socket: typeof WebSocket;
let queue: (readonly [trace: SentTrace, json: string])[] = [];
/** The connection, if the clock offset is known. */
let socket: WebSocket | undefined;
/** A timer, or the connection that isn't ready. */
let step: unknown;
/** The offset between the browser's clock and the server's, as JSON. */
let clock = "";
let wait = MIN_WAIT;
/** 0 until the server is known to trace. */
let maxWait = 0;

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
 * @param url The URL of the traces, without `/ws` and `/api`.
 * @param traced The origins that get `traceparent`.
 */
export function startSender(url: string, traced: readonly string[]): void {
  endpoint = url;
  origins = traced;
  Socket = WebSocket;
}

/** Counts a span as dropped. */
export function drop(): void {
  dropped++;
}

/** Queues the record of a span, as JSON. */
export function queueSpan(trace: SentTrace, json: string): void {
  if (!endpoint) return;
  if (
    json.length > MAX_MESSAGE ||
    queue.push([trace, json]) > MAX_QUEUE && queue.shift()
  ) drop();
  schedule(BATCH_DELAY);
}

/**
 * Allows sending a trace if the server has shown that it records it. A server
 * without tracing would respond with errors, which the console would show.
 */
export function confirm(trace: SentTrace, isRecorded?: boolean): void {
  isTracing = !!isRecorded;
  if (isRecorded) {
    trace.isKnown = true;
    maxWait ||= MAX_FIRST_WAIT;
    // The server responds.
    if (maxWait === MAX_WAIT) wait = MIN_WAIT;
    schedule(BATCH_DELAY);
  }
}

/**
 * Sends all spans with a beacon, which outlives the page, and disconnects until
 * there are more. Browsers don't cache a page with an open socket.
 */
export function flush(): void {
  if (maxWait) {
    // Without beacons, the spans wait for the next socket.
    send((message) =>
      navigator.sendBeacon?.(`${endpoint}/api`, message) ?? false
    );
    socket?.close();
  }
}

/** Sends all spans for the last time. */
export function stopSender(): void {
  flush();
  endpoint = undefined;
  queue = [];
}

/** Returns the oldest span that may be sent. */
function next(): typeof queue[number] | undefined {
  return queue.find(([{ isKnown }]) => isKnown);
}

function schedule(delay: number): void {
  if (next()) step ??= setTimeout(work, delay);
}

/** Sends all spans. Connects first if necessary. */
function work(): void {
  step = undefined;
  if (!socket) {
    if (wait < maxWait && endpoint) {
      try {
        step = connect();
      } catch {
        // Firefox throws if the page's policy forbids the socket.
        schedule(wait *= 2);
      }
    }
  } else if (socket.readyState === 1) {
    send((message) => socket!.send(message));
  }
}

/** Connects, and measures the clock offset. */
function connect(): WebSocket {
  let pongs = 0;
  let least = Infinity;
  // As `client`, it only posts spans and receives no traces.
  const ws = new Socket(`${endpoint!.replace("http", "ws")}/ws?role=client`);
  const ping = () => ws.send(`{"type":"ping","sentAt":${now()}}`);
  ws.onopen = ping;
  ws.onmessage = ({ data }) => {
    const { sentAt, now: serverTime } = JSON.parse(data);
    // Other messages are errors about spans.
    if (!serverTime) return;
    const time = now();
    const error = (time - sentAt) / 2;
    if (error < least) {
      least = error;
      clock = `{"offset":${serverTime + error - time},"error":${error}}`;
    }
    if (++pongs < PINGS) ping();
    else {
      socket = ws;
      wait = MIN_WAIT;
      maxWait = MAX_WAIT;
      work();
    }
  };
  ws.onclose = () => {
    socket = step = undefined;
    schedule(wait *= 2);
  };
  return ws;
}

/** Sends one message for each trace, until one can't be sent. */
function send(transmit: (message: string) => unknown): void {
  for (let first = next(); first; first = next()) {
    const spans: string[] = [];
    const [{ id }] = first;
    let size = 0;
    const rest = queue.filter(([trace, json]) =>
      trace.id !== id || (size += json.length) > MAX_MESSAGE ||
      !spans.push(json)
    );
    const sent = transmit(
      `{"type":"client:spans","traceId":"${id}","spans":[${spans}],"clock":${
        clock || `{"sentAt":${now()}}`
      }}`,
    );
    if (sent === false) return;
    queue = rest;
  }
}
