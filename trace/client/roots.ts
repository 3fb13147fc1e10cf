/**
 * The roots of a browser's traces: what the user did. A root collects the spans
 * that start while it is active, and ends when the page is idle.
 *
 * @module
 */

import type { Attributes, Layer } from "../types.ts";
import { now, randomId } from "./clock.ts";
import type { Sender, SentTrace } from "./sender.ts";
import { ClientSpan, type ClientSpanOptions, type SpanTrace } from "./span.ts";

declare const location: Location;
/** The element around the page, if the page around has the same origin. */
declare const frameElement: unknown;

/** A trace of the browser. */
export interface ClientTrace extends SpanTrace, SentTrace {
  /** The span on top. Without it, the trace has a single span. */
  readonly span?: ClientSpan;
}

/** A page load, a navigation or an interaction. */
export interface Root extends ClientTrace {
  readonly span: ClientSpan;
  /** Whether anything may be its child. An interaction needs a request first. */
  isReady?: boolean;
  isOver?: boolean;
  /** The number of its resources. */
  resources: number;
  /** Counts a span as ended. */
  closed(time: number): void;
  /** Extends the root to an activity that ended at `time`. */
  touch(time?: number): void;
  /** Whether it was active at `time`. */
  covers(time: number): boolean;
  /** Ends the root. */
  finish(): void;
}

/** The idle time that ends a root, in milliseconds. It isn't part of the root. */
const IDLE = 1_000;
/** Maximum duration of a root, in milliseconds. */
const MAX_DURATION = 30_000;
/** Maximum roots that late resources find. */
const MAX_ROOTS = 10;

/** Creates a trace. Its spans wait until the server has recorded it too. */
export function createTrace(
  sender: Sender | undefined,
  id: string = randomId(2),
): ClientTrace {
  const trace: ClientTrace = {
    id,
    isConfirmed: !!sender?.isTracing,
    opened() {},
    ended: (json) => sender?.add(trace, json),
  };
  return trace;
}

/** Opens a span: below the root of its trace, or as its only one. */
export function openSpan(
  trace: ClientTrace,
  name: string,
  layer?: Layer,
  options?: ClientSpanOptions,
): ClientSpan {
  return new ClientSpan(trace, trace.span?.id ?? null, name, layer, options);
}

/**
 * Records a span that has ended.
 *
 * @param start The start, in milliseconds since the page began to load.
 * @param end The end. If it isn't later, nothing is recorded.
 */
export function addSpan(
  trace: ClientTrace | undefined,
  name: string,
  start: number,
  end: number,
  layer: Layer = "request",
  attributes: Attributes = {},
): void {
  // Comparisons with `undefined` are false too.
  if (trace && end > start) {
    openSpan(trace, name, layer, { startTime: now(start), attributes })
      .end(now(end));
  }
}

/** The roots of a page. */
export interface Roots {
  /**
   * Begins a root. It is active from now on.
   *
   * @param action The user's action.
   * @param name The name of its span.
   * @param start The start, in epoch milliseconds.
   * @param link The `traceparent` of the server's request for the page.
   * @param trace Its trace. Default: a new one.
   */
  begin(
    action: string,
    name: string,
    start: number,
    link?: string,
    trace?: ClientTrace,
  ): Root;
  /**
   * Returns the root that was active at a time.
   *
   * @param time Epoch milliseconds. Default: now.
   * @param isRequest Whether an interaction may get its first child.
   */
  at(time?: number, isRequest?: boolean): Root | undefined;
  /** Ends all roots. */
  finish(): void;
}

/** Creates the roots of a page. */
export function createRoots(sender: Sender): Roots {
  const roots: Root[] = [];
  return {
    begin(action, name, start, link, trace = createTrace(sender)) {
      const { ended } = trace;
      // The page around a frame links to the frame's document itself.
      const parentId = frameElement && link ? link.slice(36, 52) : null;
      const span = new ClientSpan({ ...trace }, parentId, name, "request", {
        startTime: start,
        attributes: {
          "app.action": action,
          "url.path": location.pathname,
          "app.link": parentId ? undefined : link,
        },
      });
      const limit = start + MAX_DURATION;
      let open = 0;
      // Without children, it isn't recorded.
      let isAnnounced = false;
      let last = start;
      let timer: ReturnType<typeof setTimeout>;
      const root: Root = Object.assign(trace, {
        span,
        resources: 0,
        opened() {
          open++;
          if (!isAnnounced) span.announce();
          isAnnounced = root.isReady = true;
          root.touch();
        },
        ended(json: string, time: number) {
          ended(json, time);
          root.closed(time);
        },
        closed(time: number) {
          open--;
          root.touch(time);
        },
        touch(time = start) {
          last = Math.min(Math.max(last, time), limit);
          // A resource may be reported after the end.
          if (root.isOver) return root.finish();
          clearTimeout(timer);
          timer = setTimeout(
            root.finish,
            Math.min(limit - now(), open ? MAX_DURATION : IDLE),
          );
        },
        covers: (time: number) =>
          start <= time && (!root.isOver || time < last + IDLE),
        finish() {
          if (open) last = Math.min(now(), limit);
          root.isOver = true;
          clearTimeout(timer);
          if (isAnnounced) span.end(last);
        },
      });
      root.touch();
      // An interaction without a request isn't worth remembering.
      if (!roots.at(-1)?.isReady) roots.pop();
      if (roots.push(root) > MAX_ROOTS) roots.shift();
      return root;
    },
    at: (time = now(), isRequest) =>
      roots.findLast((root) =>
        (root.isReady || isRequest) && root.covers(time)
      ),
    finish: () => roots.forEach((root) => root.finish()),
  };
}
