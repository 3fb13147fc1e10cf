import type { Layer } from "../types.ts";
import type { BrowserDocument } from "./browser.ts";
import { now } from "./clock.ts";
import { patchFetch } from "./fetch.ts";
import { watchTimeline } from "./observe.ts";
import {
  findPageTrace,
  navigationTiming,
  recordPageLoad,
} from "./page_load.ts";
import { recordResources } from "./resources.ts";
import {
  beginRoot,
  createTrace,
  findRoot,
  finishRoots,
  openSpan,
} from "./roots.ts";
import { confirm, dropped, flush, startSender, stopSender } from "./sender.ts";
import type { ClientSpan, ClientSpanOptions } from "./span.ts";
import { followUser } from "./user.ts";
import { recordVitals } from "./vitals.ts";
import { patchWebSocket } from "./websocket.ts";

declare const document: BrowserDocument;

/** Options of tracing in a browser. */
export interface ClientTracingOptions {
  /**
   * The URL of the server's traces. Spans go to `/ws` and `/api` below it.
   * Default: `/__app/traces`.
   */
  readonly endpoint?: string;
  /**
   * Other origins whose servers continue the page's traces, such as
   * `https://api.example.com`. Their CORS rules must allow the header
   * `traceparent` and expose `X-App-Trace-Id`. Default: none.
   */
  readonly trustedOrigins?: readonly string[];
}

/** Records spans in a browser and sends them to the server. */
export class ClientTracer {
  readonly #end = new AbortController();

  /**
   * Starts recording in a page. Outside a page, it records nothing. Call
   * {@linkcode initClientTracing} instead: a page needs one tracer.
   *
   * @throws {TypeError} If an option is unknown.
   */
  constructor(options: ClientTracingOptions = {}) {
    const { endpoint = "/__app/traces", trustedOrigins = [], ...unknown } =
      options;
    for (const name in unknown) {
      throw new TypeError(
        `Cannot trace page: unknown option "${name}"`,
      );
    }
    // A frame's `srcdoc` has no origin to send to.
    if (typeof document === "undefined" || location.origin === "null") return;
    const url = new URL(endpoint, location.origin).href;
    const { signal } = this.#end;
    startSender(url, [location.origin, ...trustedOrigins]);
    const timing = navigationTiming();
    const [id, link] = findPageTrace(timing);
    const page = beginRoot("load", "page:load", now(0), id, link);
    if (id) confirm(page, true);
    const [vitals, hide] = recordVitals(page, timing);
    const drain = watchTimeline(
      { ...recordPageLoad(page, timing), ...vitals, ...recordResources(url) },
    );
    followUser(signal);
    patchFetch(signal);
    patchWebSocket(signal);
    // The last event of a page, also of one that is being left.
    addEventListener("visibilitychange", () => {
      if (!document.hidden) return;
      drain();
      hide();
      finishRoots();
      flush();
    }, { signal });
  }

  /** The number of spans that were dropped because too many were waiting. */
  get dropped(): number {
    return dropped;
  }

  /**
   * Opens a span below the page load, navigation or interaction that is active.
   * Otherwise the span has a trace of its own. It is recorded when it ends, and
   * only if the server traces.
   *
   * @param name The name, such as `hydrate:Search`.
   * @param layer The part of the application. Default: `custom`.
   * @param options The start and the first attributes.
   */
  startSpan(
    name: string,
    layer?: Layer,
    options?: ClientSpanOptions,
  ): ClientSpan {
    return openSpan(findRoot() ?? createTrace(), name, layer, options);
  }

  /**
   * Runs `fn` with a new span. The span ends when `fn` returns or its promise
   * settles. Errors are recorded and thrown on.
   *
   * @returns The result of `fn`.
   */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: ClientSpan) => T,
    options?: ClientSpanOptions,
  ): T {
    const span = this.startSpan(name, layer, options);
    const end = <V>(value: V): V => {
      span.end();
      return value;
    };
    const fail = (error: unknown): never => {
      span.error(error);
      throw end(error);
    };
    try {
      const result = fn(span);
      return result instanceof Promise
        ? result.then(end, fail) as T
        : end(result);
    } catch (error) {
      return fail(error);
    }
  }

  /**
   * Restores the functions of the browser, sends the remaining spans, and
   * disconnects. Nothing is recorded after that.
   */
  close(): void {
    this.#end.abort();
    finishRoots();
    stopSender();
  }
}
