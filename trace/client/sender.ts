import type { BrowserNavigator } from "./browser.ts";
import { now } from "./clock.ts";

declare const navigator: BrowserNavigator;

/** A trace whose spans are sent. */
export interface SentTrace {
  readonly id: string;
  /** Whether the server records the trace too. Until then, its spans wait. */
  isConfirmed?: boolean;
}

/** Sends the browser's spans to the server. */
export interface Sender {
  /** The number of dropped spans. */
  dropped: number;
  /**
   * Whether the server has recorded the last trace. Then the next one doesn't
   * wait.
   */
  isTracing: boolean;
  /** Queues the record of a span, as JSON. */
  add(trace: SentTrace, json: string): void;
  /**
   * Allows sending a trace, because the server has shown that it records it. A
   * server without tracing would respond with errors, which the console would
   * show.
   */
  confirm(trace: SentTrace): void;
  /**
   * Sends all spans with a beacon, which outlives the page, and disconnects
   * until there are more. Browsers don't cache a page with an open socket.
   */
  flush(): void;
  /** Sends all spans for the last time. */
  close(): void;
}

/**
 * Maximum spans that wait for a connection. The oldest ones are dropped first.
 */
const MAX_QUEUE = 500;
/** Maximum characters of a message. `sendBeacon` takes 64 KiB. */
const MAX_MESSAGE = 48_000;
/** The delay before spans are sent together, in milliseconds. */
const BATCH_DELAY = 100;
/** Round trips that measure the clock offset. The quickest one counts. */
const PINGS = 4;
/**
 * Half the delay before the first retry, in milliseconds. It doubles each time.
 */
const MIN_WAIT = 500;
/** The delay that ends retries if no connection ever succeeded: 3 attempts. */
const MAX_FIRST_WAIT = 4_000;
/** The same after a successful connection, because a server may restart. */
const MAX_WAIT = 100_000;

/**
 * Creates a sender. It connects when there are spans to send, and then measures
 * the offset between the browser's clock and the server's.
 *
 * @param endpoint The URL of the traces, without `/ws` and `/api`.
 */
export function createSender(endpoint: string): Sender {
  let queue: (readonly [trace: SentTrace, json: string])[] = [];
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let clock: unknown;
  let pongs = 0;
  let wait = MIN_WAIT;
  /** 0 until the server is known to trace. Negative after the end. */
  let maxWait = 0;

  /** Returns the oldest span that may be sent. */
  function next(): typeof queue[number] | undefined {
    return queue.find(([{ isConfirmed }]) => isConfirmed);
  }

  function schedule(delay: number): void {
    if (next()) timer ??= setTimeout(work, delay);
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
    // As `client`, it only posts spans and receives no traces.
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
      // Other messages are errors about spans.
      if (!serverTime) return;
      const time = now();
      const roundTrip = time - sentAt;
      if (roundTrip < quickest) {
        quickest = roundTrip;
        const error = roundTrip / 2;
        clock = { offset: serverTime + error - time, error };
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
          JSON.stringify(clock ?? { sentAt: now() })
        }}`,
      );
      if (sent === false) return;
      queue = rest;
    }
  }

  const sender: Sender = {
    dropped: 0,
    isTracing: false,
    add(trace, json) {
      if (
        json.length > MAX_MESSAGE ||
        queue.push([trace, json]) > MAX_QUEUE && queue.shift()
      ) sender.dropped++;
      schedule(BATCH_DELAY);
    },
    confirm(trace) {
      trace.isConfirmed = sender.isTracing = true;
      maxWait ||= MAX_FIRST_WAIT;
      // The server responds.
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
