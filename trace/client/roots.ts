/**
 * The roots of a browser's traces: what the user did. A root collects the spans
 * that start while it is active, and ends when the page is idle.
 *
 * @module
 */

import { now, randomId } from "./clock.ts";
import { CHECK_DELAY, IDLE, MAX_DURATION, MAX_ROOTS } from "./limits.ts";
import { isTracing } from "./sender.ts";
import { ClientSpan, type ClientTrace } from "./span.ts";

declare const location: Location;
/** The element around the page, if the page around has the same origin. */
declare const frameElement: object | null;

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
  /** Counts an activity. With the first one, its span is sent, which is open. */
  opened(): void;
  /** Extends the root to activities that ended at `time`. Default count: 1. */
  ended(time: number, count?: number): void;
  /** Whether it was active at `time`. */
  covers(time: number): boolean;
  /** Ends the root. */
  finish(): void;
}

/** The roots of the page, the newest first. */
let roots: Root[] = [];

/** Creates a trace. Its spans wait until the server has recorded it too. */
export function createTrace(id: string = randomId() + randomId()): ClientTrace {
  return { id, isKnown: isTracing };
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
    new ClientSpan(trace, name, undefined, { startTime: start }).end(end);
  }
}

/**
 * Begins a root. It is active from now on.
 *
 * @param action The user's action.
 * @param name The name of its span.
 * @param start The start, in milliseconds since the page began to load.
 * @param id The id of its trace. Default: a new one.
 * @param link The `traceparent` of the server's request for the page, or the
 * same id.
 */
export function beginRoot(
  action: string,
  name: string,
  start: number,
  id?: string,
  link?: string,
): Root {
  const trace = createTrace(id);
  // The page around a frame links to the frame's document itself.
  const parentId = frameElement && link?.slice(36, 52) || undefined;
  const span = new ClientSpan(trace, name, "request", {
    startTime: start,
    attributes: { "app.link": parentId || link === id ? undefined : link },
  }, parentId);
  let open = 0;
  let last = start;
  const root: Root = Object.assign(trace, {
    span,
    become(action: string, name: string) {
      span.rename(name);
      span.setAttribute("app.action", action);
      span.setAttribute("url.path", location.pathname);
    },
    opened() {
      open++;
      if (root.isReady) return;
      root.isReady = true;
      span.send();
      check();
    },
    ended(time: number, count = 1) {
      open -= count;
      last = Math.max(last, time);
    },
    covers: (time: number) =>
      start <= time && time < start + MAX_DURATION &&
      (open && !root.isOver || time < last + IDLE),
    finish() {
      if (!root.isReady) return;
      root.isOver = true;
      span.end(Math.min(open ? now() : last, start + MAX_DURATION));
    },
  });
  root.become(action, name);
  const check = () =>
    root.covers(now()) ? setTimeout(check, CHECK_DELAY) : root.finish();
  roots = [root, ...roots].slice(0, MAX_ROOTS);
  return root;
}

/**
 * Returns the root that was active at a time.
 *
 * @param isRequest Whether an interaction may get its first child.
 * @param time Milliseconds since the page began to load. Default: now.
 */
export function findRoot(isRequest?: boolean, time = now()): Root | undefined {
  return roots.find((root) => (root.isReady || isRequest) && root.covers(time));
}

/** Ends all roots. */
export function finishRoots(): void {
  roots.forEach((root) => root.finish());
}
