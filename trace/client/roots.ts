/**
 * The roots of a browser's traces: what the user did. A root collects the spans
 * that start while it is active, and ends when the page is idle.
 *
 * @module
 */

import type { Layer } from "../types.ts";
import { now, randomId } from "./clock.ts";
import { CHECK_DELAY, IDLE, MAX_DURATION, MAX_ROOTS } from "./limits.ts";
import { isTracing, queueSpan, type SentTrace } from "./sender.ts";
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
  /**
   * Whether it is recorded, and anything may be its child. An interaction needs
   * a request first.
   */
  isReady?: boolean;
  isOver?: boolean;
  /** Sets the user's action, and the name of the span. */
  become(action: string, name: string): void;
  /** Records it from now on: sends its span, which is open. */
  announce(): void;
  /** Counts a span as started. */
  opened(): void;
  /** The number of its resources. */
  resources: number;
  /** Extends the root to an activity that ended at `time`. */
  touch(time: number): void;
  /** Whether it was active at `time`. */
  covers(time: number): boolean;
  /** Ends the root. */
  finish(): void;
}

/** The roots of the page, in the order of their start. */
let roots: Root[] = [];

/** Creates a trace. Its spans wait until the server has recorded it too. */
export function createTrace(id: string = randomId() + randomId()): ClientTrace {
  const trace: ClientTrace = {
    id,
    isKnown: isTracing,
    ended: (json) => queueSpan(trace, json),
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
  return new ClientSpan(trace, trace.span?.id, name, layer, options);
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
): void {
  // Comparisons with `undefined` are false too.
  if (trace && end > start) {
    openSpan(trace, name, "custom", { startTime: now(start) }).end(now(end));
  }
}

/**
 * Begins a root. It is active from now on.
 *
 * @param action The user's action.
 * @param name The name of its span.
 * @param start The start, in epoch milliseconds.
 * @param id The id of its trace. Default: a new one.
 * @param link The `traceparent` of the server's request for the page.
 */
export function beginRoot(
  action: string,
  name: string,
  start: number,
  id?: string,
  link?: string,
): Root {
  const trace = createTrace(id);
  const { ended } = trace;
  // The page around a frame links to the frame's document itself.
  const isFrame = link && frameElement;
  const parentId = isFrame ? link.slice(36, 52) : undefined;
  const span = new ClientSpan({ ...trace }, parentId, name, "request", {
    startTime: start,
    attributes: { "app.link": isFrame ? undefined : link },
  });
  const limit = start + MAX_DURATION;
  let open = 0;
  let last = start;
  const root: Root = Object.assign(trace, {
    span,
    resources: 0,
    become(action: string, name: string) {
      span.rename(name);
      span.setAttribute("app.action", action);
      span.setAttribute("url.path", location.pathname);
    },
    announce() {
      if (root.isReady) return;
      root.isReady = true;
      span.setAttribute("app.open", true);
      span.send(start);
      span.setAttribute("app.open", undefined!);
    },
    opened() {
      root.announce();
      open++;
    },
    ended(json: string, time: number) {
      ended(json, time);
      open--;
      root.touch(time);
    },
    touch(time: number) {
      last = Math.max(last, time);
      // A resource may be reported after the end.
      if (root.isOver) root.finish();
    },
    covers: (time: number) =>
      start <= time && time < limit && (open > 0 || time < last + IDLE),
    finish() {
      if (open > 0) last = now();
      open = 0;
      root.isOver = true;
      if (root.isReady) span.end(Math.min(last, limit));
    },
  });
  root.become(action, name);
  const wait = () => setTimeout(check, CHECK_DELAY);
  const check = () => root.covers(now()) ? wait() : root.finish();
  wait();
  // An interaction without a request isn't worth remembering.
  roots = [...roots.filter(({ isReady }) => isReady), root].slice(-MAX_ROOTS);
  return root;
}

/**
 * Returns the root that was active at a time.
 *
 * @param isRequest Whether an interaction may get its first child.
 * @param time Epoch milliseconds. Default: now.
 */
export function findRoot(isRequest?: boolean, time = now()): Root | undefined {
  return roots.findLast((root) =>
    (root.isReady || isRequest) && root.covers(time)
  );
}

/** Ends all roots. */
export function finishRoots(): void {
  roots.forEach((root) => root.finish());
}
