import type { Layer } from "../types.ts";
import type { BrowserDocument } from "./browser.ts";
import { patchFetch } from "./fetch.ts";
import { watchTimeline } from "./observe.ts";
import {
  findPageTrace,
  navigationTiming,
  recordPageLoad,
} from "./page_load.ts";
import { listen, restore } from "./replace.ts";
import { recordResources } from "./resources.ts";
import { beginRoot, createTrace, findRoot, finishRoots } from "./roots.ts";
import { confirm, dropped, flush, startSender, stopSender } from "./sender.ts";
import { ClientSpan, type ClientSpanOptions } from "./span.ts";
import { followUser } from "./user.ts";
import { recordVitals } from "./vitals.ts";
import { patchWebSocket } from "./websocket.ts";
import { followXHR } from "./xhr.ts";

declare const document: BrowserDocument;

/** Options of tracing in a browser. */
export interface ClientTracingOptions {
  /**
   * The URL of the server's traces. Spans go to `/api` below it. On another
   * origin, that must allow the page by CORS. Default: `/__app/traces`.
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
    const isInPage = (globalThis as { document?: unknown }).document;
    if (!isInPage || location.origin === "null") return;
    startSender(new URL(endpoint, location.origin).href, [
      location.origin,
      ...trustedOrigins,
    ]);
    const timing = navigationTiming();
    const found = findPageTrace(timing);
    const page = beginRoot("load", "page:load", 0, found?.[0], found?.input);
    confirm(page, found);
    const [vitals, hide] = recordVitals(page, timing);
    const drain = watchTimeline(
      { ...recordPageLoad(page, timing), ...vitals, ...recordResources() },
    );
    followUser();
    patchFetch();
    followXHR();
    patchWebSocket();
    // A page that is left is hidden after the event "pagehide".
    listen(["visibilitychange", "pagehide"], () => {
      if (!document.hidden) return;
      drain();
      hide();
      finishRoots();
      flush();
    });
  }

  /** The number of spans that were dropped: too many waited, or one is long. */
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
    return new ClientSpan(findRoot() ?? createTrace(), name, layer, options);
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
   * Restores the functions of the browser, and sends the remaining spans.
   * Nothing is recorded after that.
   */
  close(): void {
    restore();
    finishRoots();
    flush();
    stopSender();
  }
}
