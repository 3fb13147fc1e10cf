import type { BrowserNavigator } from "./browser.ts";
import { now } from "./clock.ts";
import type { TakeSpan } from "./span.ts";

declare const navigator: BrowserNavigator;

/** Sends what the spans of the browser have recorded to the server. */
export interface Sender {
  /** How many spans were given up. */
  dropped: number;
  /** Takes the record of a span. */
  add: TakeSpan;
  /**
   * The server has shown that it traces. Nothing is sent before that: a server
   * without tracing would answer with errors, and the console would show them.
   */
  confirm(): void;
  /**
   * Sends all there is in a way that outlives the page, and disconnects until
   * there is more: a browser doesn't keep a page that has an open socket.
   */
  flush(): void;
  /** Does the same for the last time. */
  close(): void;
}

/** Spans that wait for a connection; the oldest give way. */
const MAX_QUEUE = 500;
/** Characters of a message; `sendBeacon` takes 64 KiB. */
const MAX_MESSAGE = 48_000;
/** How long spans are gathered, in milliseconds. */
const BATCH_DELAY = 100;
/** Round trips that measure the clocks; the quickest counts. */
const PINGS = 4;
/** Half the wait before the first retry, in ms; it doubles each time. */
const MIN_WAIT = 500;
/** The wait that is too long if there never was a connection: 3 attempts. */
const MAX_FIRST_WAIT = 4_000;
/** The same if there was one, as a server takes a while to restart. */
const MAX_WAIT = 100_000;

/**
 * Makes a sender. It connects when there is something to send, and measures
 * then how far the browser's clock is from the server's.
 *
 * @param endpoint The address of the traces, without `/ws` and `/api`.
 */
export function createSender(endpoint: string): Sender {
  let queue: (readonly [traceId: string, json: string])[] = [];
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let clock: unknown;
  let pongs = 0;
  let wait = MIN_WAIT;
  /** 0 until the server is known to trace, and less when all is over. */
  let maxWait = 0;

  function schedule(delay: number): void {
    if (queue[0]) timer ??= setTimeout(work, delay);
  }

  function work(): void {
    timer = undefined;
    if (!socket) {
      if (wait < maxWait) connect();
    } else if (pongs >= PINGS && socket.readyState === 1) {
      send((message) => socket!.send(message));
    }
  }

  function connect(): void {
    let quickest = Infinity;
    pongs = 0;
    // The server sends no traces to a client that only posts.
    const ws = new WebSocket(
      `${endpoint.replace("http", "ws")}/ws?role=client`,
    );
    socket = ws;
    const ping = () => ws.send(JSON.stringify({ type: "ping", sentAt: now() }));
    ws.onopen = () => {
      maxWait = MAX_WAIT;
      ping();
    };
    ws.onmessage = ({ data }) => {
      const { sentAt, now: serverTime } = JSON.parse(data);
      // It also answers spans that it can't use.
      if (!serverTime) return;
      const time = now();
      const roundTrip = time - sentAt;
      if (roundTrip < quickest) {
        quickest = roundTrip;
        clock = { offset: serverTime + roundTrip / 2 - time };
      }
      if (++pongs < PINGS) ping();
      else {
        wait = MIN_WAIT;
        work();
      }
    };
    ws.onclose = () => {
      socket = undefined;
      schedule(wait *= 2);
    };
  }

  /** Sends a message a trace, until one does not get away. */
  function send(transmit: (message: string) => unknown): void {
    while (queue[0]) {
      const spans: string[] = [];
      const [traceId] = queue[0];
      let size = 0;
      const rest = queue.filter(([id, json]) =>
        id !== traceId || (size += json.length) > MAX_MESSAGE ||
        !spans.push(json)
      );
      const sent = transmit(
        `{"type":"client:spans","traceId":"${traceId}","spans":[${spans}],"clock":${
          JSON.stringify(clock ?? { sentAt: now() })
        }}`,
      );
      if (sent === false) return;
      queue = rest;
    }
  }

  const sender: Sender = {
    dropped: 0,
    add(traceId, json) {
      if (
        json.length > MAX_MESSAGE ||
        queue.push([traceId, json]) > MAX_QUEUE && queue.shift()
      ) sender.dropped++;
      schedule(BATCH_DELAY);
    },
    confirm() {
      maxWait ||= MAX_FIRST_WAIT;
      // It is there again, or still.
      if (maxWait === MAX_WAIT) wait = MIN_WAIT;
      schedule(BATCH_DELAY);
    },
    flush() {
      if (maxWait > 0) {
        send((message) => navigator.sendBeacon(`${endpoint}/api`, message));
        socket?.close();
      }
    },
    close() {
      sender.flush();
      maxWait = -1;
    },
  };
  return sender;
}
